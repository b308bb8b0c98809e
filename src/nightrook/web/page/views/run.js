// Run: one run's head, verdict and timeline, live.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { runPath } from "../data/api.js";
import { Bodies } from "../data/bodies.js";
import { Outline } from "../data/outline.js";
import { Reload } from "../data/reload.js";
import { RunItems } from "../data/run_items.js";
import { VirtualList } from "../list/virtual_list.js";
import { activity } from "../parts/activity.js";
import { runBar, runIntro } from "../parts/run_head.js";
import { runDetails, runSide } from "../parts/run_side.js";
import { Timeline } from "../parts/timeline.js";
import { go } from "../router.js";

const WIDE = matchMedia("(min-width: 1121px)"); // room for figures beside the timeline
const HEAD_PAUSE = 250; // milliseconds between two drawings of the head

export class RunView {
  #app;
  #list = null;
  #timer = 0;
  #reload = new Reload(() => this.#load());
  #outline = new Reload(() => this.#loadOutline());
  #isOutlined = false; // whether the shape of all of it is known
  #target = null; // the item that the address names
  head = null;
  problem = null;
  isConfirming = false;
  stopped = null;

  constructor(app, route) {
    this.#app = app;
    this.name = route.parts[1] ?? "";
    this.#target = route.parts[2] === "items" ? Number(route.parts[3]) : null;
    this.items = new RunItems((query) => app.api.get(`${runPath(this.name, "items")}?${new URLSearchParams(query)}`));
    this.bodies = new Bodies(app.api, this.name);
    this.timeline = new Timeline(this.items, new Outline(), this.bodies);
    this.items.onchange = (items) => this.#changed(items);
    this.items.onerror = (error) => this.#failed(error);
    this.items.onreset = () => this.#reset();
    this.bodies.onchange = () => this.#list?.refresh();
    this.timeline.onchange = () => this.#list?.refresh();
    if (this.#target === null) this.items.want(0, 0); // together with the head
    WIDE.addEventListener("change", this.#resized);
    this.load();
  }

  #resized = () => this.#app.update();

  get title() {
    return this.head?.title ?? this.name;
  }

  /** What is true of the run now. */
  get snapshot() {
    return this.items.snapshot ?? this.head?.snapshot;
  }

  get list() {
    return this.#list;
  }

  get isReadOnly() {
    return this.#app.hello?.read_only ?? false;
  }

  moved(route) {
    if (route.parts[1] !== this.name) return false;
    if (route.parts[2] === "items" && this.#list) this.#select(Number(route.parts[3]), "center");
    return true;
  }

  render() {
    if (this.problem && !this.head) return missing(this.problem);
    return html`<div class="run">
      ${this.head ? runBar(this) : html`<header class="run-bar"><h1>${this.name}</h1></header>`}
      <div class="run-body">
        <div class="run-main">
        ${this.head ? runIntro(this) : nothing}
        ${this.head && !WIDE.matches ? runDetails(this) : nothing}
        <div class="timeline" role="feed" aria-label="Timeline" aria-busy=${this.head?.complete === false ? "true" : "false"}
          @click=${(event) => this.#clicked(event)} @keydown=${(event) => this.#rowKey(event)}></div>
        ${this.head?.alive ? html`<p class="now-line">${activity(this.head)}</p>` : nothing}
        </div>
        ${this.head && WIDE.matches ? runSide(this) : nothing}
      </div>
      ${this.head?.alive && this.#list && !this.#list.following ? html`<button class="to-end i-down" @click=${() => this.#toEnd()}>Latest</button>` : nothing}
    </div>`;
  }

  rendered() {
    const element = document.querySelector(".timeline");
    if (this.#list || !element || !this.head) return;
    this.#list = new VirtualList(document.getElementById("main"), element, this.timeline);
    this.#list.onfollow = () => this.#app.update();
    this.#list.onfirst = () => performance.mark("first-rows");
    this.#list.resize(this.items.total);
    document.getElementById("main").scrollTop = 0;
    if (this.#target !== null) this.#select(this.#target, "center");
    else if (this.head.alive) this.#list.follow(true);
  }

  close() {
    clearTimeout(this.#timer);
    WIDE.removeEventListener("change", this.#resized);
    this.#list?.close();
  }

  beat(beat) {
    if (beat.name !== this.name) return;
    if (!this.head) return void this.load(); // what is on its way may be older than this
    if (beat.epoch !== this.items.epoch || beat.revision > this.items.revision || !beat.alive) this.items.sync(beat.revision);
    if (this.head.alive !== beat.alive || this.head.status !== beat.status) this.load();
    Object.assign(this.head, { activity: beat.activity, since: beat.since, doing: beat.doing, cost: beat.cost, questions: beat.questions });
  }

  heard(type, data) {
    if (type === "gone" && data.name === this.name) this.#failed(new Error(`The run ${this.name} was removed: what you see is all that is left of it. Go back to all runs.`));
    else if (type === "state" && !this.head) this.load();
    else if (type === "state") {
      this.items.sync(this.items.revision + 1);
      if (this.problem || (this.head.alive && !data.runs.some((run) => run.name === this.name))) this.load();
    }
  }

  key(event) {
    const moves = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
    if (event.key in moves && (event.key.length === 1 || this.timeline.current >= 0)) return this.#step(moves[event.key]);
    if (event.key === "g") return this.#select(this.timeline.next(-1, 1), "start");
    if (event.key === "G") return this.#toEnd();
    if (event.key === "e") return this.#select(this.timeline.nextBad(this.timeline.current), "center");
    if (event.key === "z") return this.timeline.foldAll();
    if (event.key === "Enter" && this.timeline.current >= 0 && !event.target.closest?.("a, button")) return this.timeline.toggle(this.timeline.current);
    if (event.key === "Escape" && this.timeline.current >= 0) return this.#deselect();
    return false;
  }

  async stop() {
    this.isConfirming = false;
    try {
      await this.#app.api.post(runPath(this.name, "stop"), {});
      this.stopped = "It is asked to end…";
    } catch (error) {
      this.stopped = error.message;
    }
    this.#app.update();
  }

  update() {
    this.#app.update();
  }

  load() {
    return this.#reload.start();
  }

  async #load() {
    try {
      const head = await this.#app.api.get(runPath(this.name));
      const isFirst = this.head === null;
      const wasAlive = this.head?.alive;
      if (isFirst) this.items.open(head);
      else this.items.sync(head.revision);
      this.head = head;
      this.timeline.open(head);
      this.problem = head.problem;
      if (isFirst) this.#outline.start();
      else if (wasAlive && !head.alive) this.#app.announce(`The run has ended: ${head.verdict?.status ?? head.status}`);
    } catch (error) {
      this.#failed(error);
    }
    this.#app.update();
  }

  async #loadOutline() {
    const outline = await this.#app.api.get(`${runPath(this.name, "outline")}?first=0`).catch(() => null);
    if (!outline) return;
    this.timeline.take(outline);
    this.#isOutlined ||= outline.complete;
    this.#list?.refresh();
    this.#completeOutline();
  }

  /** Ask for the shape once more if the server was still reading the log. */
  #completeOutline() {
    if (this.head && this.items.isComplete && !this.#isOutlined) this.#outline.start();
  }

  #changed(items) {
    this.problem = this.head?.problem ?? null; // the server answers
    this.timeline.changed(items);
    this.#list?.resize(this.items.total);
    this.#list?.refresh();
    if (!this.#outline.isRunning) this.#completeOutline();
    this.#timer ||= setTimeout(() => {
      this.#timer = 0;
      this.#app.update();
    }, HEAD_PAUSE);
  }

  #failed(error) {
    this.problem = error.message;
    this.#app.update();
  }

  #reset() {
    this.timeline.clear();
    this.#isOutlined = false;
    this.head = null;
    this.load();
  }

  #clicked(event) {
    const row = event.target.closest("article");
    const button = event.target.closest("button.head, .unfold, .details");
    if (!row || !button) return;
    const index = Number(row.dataset.index);
    if (button.matches(".details")) this.timeline.unfold(index);
    else this.timeline.toggle(index);
  }

  #rowKey(event) {
    if (event.key === "Enter" && event.target.matches("article")) event.preventDefault();
  }

  #step(step) {
    const from = this.timeline.current >= 0 ? this.timeline.current : this.#list.range[0] - 1;
    return this.#select(this.timeline.next(from, step));
  }

  #select(index, align = "near") {
    if (index === null || index < 0 || index >= this.items.total || !this.#list) return false;
    this.#list.follow(false);
    this.timeline.current = this.#list.current = index;
    this.#list.show(index, align);
    requestAnimationFrame(() => requestAnimationFrame(() => {
      this.#list.show(index, align);
      this.#list.row(index)?.focus({ preventScroll: true });
    }));
    return true;
  }

  #deselect() {
    this.timeline.current = this.#list.current = -1;
    document.getElementById("main").focus({ preventScroll: true });
    this.#list.refresh();
    return true;
  }

  #toEnd() {
    this.#list?.follow(true);
    if (!this.head?.alive) this.#select(this.timeline.next(this.items.total, -1), "near");
    return true;
  }
}

function missing(problem) {
  return html`<div class="page empty"><h1>This run cannot be shown</h1><p role="alert">${problem}</p>
    <button @click=${() => go("#/")}>All runs</button></div>`;
}
