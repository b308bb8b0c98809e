// Draws only the rows of a long list that are in sight. Rows may have any height, and change it.

import { html, render } from "../vendor/lit-html/lit-html.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { Heights } from "./heights.js";

const OVERSCAN = 120; // pixels above and below what is in sight
const AT_END = 24; // pixels from the end that still count as the end

/**
 * A list inside a scrolling element.
 *
 * `source` has `isHidden(index)`, `draw(index)` (what is inside a row), `label(index)` (attributes of a
 * row: class, level) and `want(first, last)`, which is called with the range that is in sight.
 */
export class VirtualList {
  #scroller;
  #element;
  #source;
  #heights;
  #frame = 0;
  #range = [0, -1];
  #observed = new Set();
  #resizes;
  #onScroll = () => this.#scrolled();
  following = false; // whether the end stays in sight as the list grows
  current = -1; // the row that the keyboard is at: it stays drawn, so that it keeps the focus
  onfollow = () => {};
  onfirst = () => {}; // the first rows are drawn, with what stands in them

  constructor(scroller, element, source, estimate = 40) {
    this.#scroller = scroller;
    this.#element = element;
    this.#source = source;
    this.#heights = new Heights(estimate);
    this.#resizes = new ResizeObserver(() => this.refresh());
    this.#resizes.observe(scroller);
    scroller.addEventListener("scroll", this.#onScroll, { passive: true });
  }

  get count() {
    return this.#heights.count;
  }

  get range() {
    return this.#range;
  }

  get isAtEnd() {
    const { scrollTop, clientHeight, scrollHeight } = this.#scroller;
    return scrollTop + clientHeight >= scrollHeight - AT_END;
  }

  close() {
    cancelAnimationFrame(this.#frame);
    this.#resizes.disconnect();
    this.#scroller.removeEventListener("scroll", this.#onScroll);
  }

  resize(count) {
    if (count === this.count) return;
    this.#heights.resize(count);
    this.refresh();
  }

  /** Draw again in the next frame. */
  refresh() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  /** Keep the end in sight from now on, or no longer. */
  follow(following) {
    if (following !== this.following) {
      this.following = following;
      this.onfollow(following);
    }
    if (following) this.refresh();
  }

  /** Bring a row into sight; `align` is "near" (as little as needed), "start" or "center". */
  show(index, align = "near") {
    const top = this.#offset() + this.#heights.top(index);
    const height = this.#heights.get(index);
    const { scrollTop, clientHeight } = this.#scroller;
    const margin = 72; // what is above may be covered by the bar of the view
    if (align === "center") this.#scroller.scrollTop = top - (clientHeight - height) / 2;
    else if (align === "start" || top < scrollTop + margin) this.#scroller.scrollTop = top - margin;
    else if (top + height > scrollTop + clientHeight) this.#scroller.scrollTop = top + height - clientHeight + 16;
    this.refresh();
  }

  /** The element of a row, if it is drawn. */
  row(index) {
    return this.#element.querySelector(`[data-index="${index}"]`);
  }

  #scrolled() {
    const atEnd = this.isAtEnd;
    if (atEnd !== this.following && (atEnd || this.#frame === 0)) this.follow(atEnd);
    this.refresh();
  }

  #offset() {
    return this.#element.getBoundingClientRect().top - this.#scroller.getBoundingClientRect().top + this.#scroller.scrollTop;
  }

  #draw() {
    if (this.following) this.#scroller.scrollTop = this.#scroller.scrollHeight;
    for (let pass = 0; pass < 4; pass += 1) {
      this.#place(this.#visible());
      if (!this.#measure()) break; // new heights may bring other rows into sight
    }
    if (this.#element.querySelector(".row:not(.loading)")) {
      this.onfirst();
      this.onfirst = () => {};
    }
  }

  /** The range of rows in sight and close to it. */
  #visible() {
    const top = this.#scroller.scrollTop - this.#offset();
    const first = this.#heights.at(Math.max(0, top - OVERSCAN));
    const last = this.#heights.at(Math.max(0, top + this.#scroller.clientHeight + OVERSCAN));
    this.#range = this.count ? [first, last] : [0, -1];
    this.#source.want(...this.#range);
    return this.#drawn();
  }

  #drawn() {
    const [first, last] = this.#range;
    const indexes = [];
    for (let index = first; index <= last; index += 1) {
      if (this.#source.isHidden(index)) this.#heights.set(index, 0);
      else indexes.push(index);
    }
    const { current } = this;
    if (current >= 0 && current < this.count && (current < first || current > last)) indexes.push(current);
    return indexes;
  }

  #place(indexes) {
    render(repeat(indexes, (index) => index, (index) => this.#row(index)), this.#element);
    this.#element.style.height = `${this.#heights.total}px`;
    for (const row of this.#element.children) {
      row.style.transform = `translateY(${this.#heights.top(Number(row.dataset.index))}px)`;
    }
    this.#observe();
  }

  #row(index) {
    const { kind, level, label } = this.#source.label(index);
    return html`<article
      class=${`row ${kind}`}
      data-index=${index}
      data-level=${level}
      tabindex="-1"
      aria-posinset=${index + 1}
      aria-setsize=${this.count}
      aria-label=${label}
    >${this.#source.draw(index)}</article>`;
  }

  #observe() {
    const rows = new Set(this.#element.children);
    for (const row of this.#observed) if (!rows.has(row)) this.#resizes.unobserve(row);
    for (const row of rows) if (!this.#observed.has(row)) this.#resizes.observe(row);
    this.#observed = rows;
  }

  /** Note the heights of the drawn rows; what is in sight stays where it is. Returns if any changed. */
  #measure() {
    const view = this.#scroller.scrollTop - this.#offset();
    const anchor = this.#heights.at(Math.max(0, view));
    const before = this.#heights.top(anchor);
    let changed = false;
    for (const row of [...this.#element.children]) {
      const height = row.getBoundingClientRect().height;
      if (Math.abs(this.#heights.set(Number(row.dataset.index), height)) >= 0.5) changed = true;
    }
    if (!changed) return false;
    this.#element.style.height = `${this.#heights.total}px`;
    const moved = this.#heights.top(anchor) - before;
    if (this.following) this.#scroller.scrollTop = this.#scroller.scrollHeight;
    else if (view > 0 && Math.abs(moved) >= 0.5) this.#scroller.scrollTop += moved;
    return true;
  }
}
