// The rows of a run's timeline: which are shown, how deep they are nested, what is unfolded.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { clock } from "../text/format.js";
import { describe, rowOf } from "./rows.js";

const IN_THEIR_CALL = new Set(["file", "denial"]); // the row of the call shows them
const SETTLED = 80; // milliseconds at one place before whole texts are fetched

export class Timeline {
  #items;
  #bodies;
  #folded = new Set(); // subagents whose rows are hidden
  #unfolded = new Set(); // rows that show all
  #changes = new Map(); // of files, by the call that made them
  #denials = new Map(); // what would have allowed a call
  #settled = 0;
  #started = null;
  #cwd = null;
  #isAlive = false;
  #decisions = new Map();
  current = -1;
  onchange = () => {};

  constructor(items, outline, bodies) {
    this.#items = items;
    this.outline = outline;
    this.#bodies = bodies;
  }

  /** Note what the head of the run says. */
  open({ started_at: started, cwd, alive, decisions, snapshot }) {
    this.#started = started;
    this.#cwd = snapshot?.cwd ?? cwd;
    this.#isAlive = alive;
    this.#decisions = new Map((decisions ?? []).map((one) => [one.id, one]));
    this.onchange();
  }

  /** Note the shape of all items; what came meanwhile is newer. */
  take(outline) {
    this.outline.take(outline);
    for (const item of this.#items) this.outline.add(item);
  }

  clear() {
    this.outline.clear();
    this.#changes.clear();
    this.#denials.clear();
    this.#folded.clear();
    this.#unfolded.clear();
    this.current = -1;
  }

  changed(items) {
    for (const item of items) {
      this.outline.add(item);
      if (item.kind === "denial" && item.parent !== undefined) this.#denials.set(item.parent, item);
      if (item.kind === "file" && item.parent !== undefined) this.#fileChanged(item);
    }
  }

  #fileChanged(item) {
    const files = this.#changes.get(item.parent) ?? new Map();
    this.#changes.set(item.parent, files.set(item.id, item));
  }

  // What the list asks for

  want(first, last) {
    this.#items.want(first, last);
    clearTimeout(this.#settled);
    this.#settled = setTimeout(() => this.#wantBodies(first, last), SETTLED);
  }

  isHidden(index) {
    const { outline } = this;
    const kind = outline.kind(index);
    if (kind === undefined) return false;
    if (IN_THEIR_CALL.has(kind) && outline.parent(index) >= 0) return true;
    if (kind === "task" && outline.kind(outline.parent(index)) === "subagent") return true;
    return this.#folded.size > 0 && outline.isInside(index, this.#folded);
  }

  label(index) {
    const item = this.#items.get(index);
    const isCurrent = index === this.current ? " current" : "";
    const level = Math.min(this.outline.level(index), 4);
    if (!item) return { kind: `loading${isCurrent}`, level, label: nothing };
    const bad = this.outline.isBad(index) ? " bad" : "";
    const open = this.#isOpen(item) ? " running" : "";
    const unfolded = this.#unfolded.has(index) ? " unfolded" : "";
    return { kind: `k-${item.kind}${bad}${open}${unfolded}${isCurrent}`, level, label: describe(item) };
  }

  draw(index) {
    const item = this.#items.get(index);
    return item ? rowOf(item, this.#around(item)) : html`<span class="head">…</span>`;
  }

  /** What the row of an item shows beside the item. */
  #around(item) {
    const isUnfolded = this.#unfolded.has(item.id);
    if (isUnfolded) this.#bodies.want(item);
    return {
      cwd: this.#cwd,
      offset: item.begin === undefined || this.#started === null ? "" : clock(item.begin - this.#started),
      isOpen: this.#isOpen(item),
      isUnfolded,
      isFolded: this.#folded.has(item.id),
      body: this.#bodies.get(item),
      files: this.#changes.get(item.id),
      denial: this.#denials.get(item.id),
      decision: this.#decisions.get(item.key),
      more: (part) => this.#bodies.more(item, part),
    };
  }

  #isOpen(item) {
    return this.#isAlive && item.status === undefined && ["tool", "subagent", "task", "question", "retry"].includes(item.kind) && item.end === undefined;
  }

  #wantBodies(first, last) {
    for (let index = first; index <= last; index += 1) {
      const item = this.#items.get(index);
      if (item && ["text", "message"].includes(item.kind) && item.size > (item.title ?? "").length) this.#bodies.want(item);
    }
  }

  // What a person does

  /** Unfold or fold a row; a subagent folds the rows in it. */
  toggle(index) {
    const set = this.outline.kind(index) === "subagent" ? this.#folded : this.#unfolded;
    if (!set.delete(index)) set.add(index);
    this.onchange();
    return true;
  }

  /** Show the input and output of a subagent, or no longer. */
  unfold(index) {
    if (!this.#unfolded.delete(index)) this.#unfolded.add(index);
    this.onchange();
  }

  foldAll() {
    if (this.#folded.size) this.#folded.clear();
    else for (let index = 0; index < this.outline.count; index += 1) if (this.outline.kind(index) === "subagent") this.#folded.add(index);
    this.onchange();
    return true;
  }

  /** The next row that is shown, in a direction; null if there is none. */
  next(from, step) {
    for (let index = from + step; index >= 0 && index < this.#items.total; index += step) {
      if (!this.isHidden(index)) return index;
    }
    return null;
  }

  /** The next row that went wrong; from the start again after the last. */
  nextBad(from) {
    const { count } = this.outline;
    for (let step = 1; step <= count; step += 1) {
      const index = (from + step + count) % count;
      if (this.outline.isBad(index) && !this.isHidden(index)) return index;
    }
    return null;
  }
}
