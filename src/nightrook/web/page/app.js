// Starts the page: the token, the data that all views share, the bell, the routes, the keyboard.

import { render } from "./vendor/lit-html/lit-html.js";
import { Api } from "./data/api.js";
import { Bell } from "./data/bell.js";
import { Questions } from "./data/questions.js";
import { Runs } from "./data/runs.js";
import { fromHash, shareToken, takeToken } from "./data/token.js";
import { keyPressed } from "./keyboard.js";
import { go, parseRoute } from "./router.js";
import { refused, shell } from "./shell.js";
import { showWaiting } from "./tab_icon.js";
import { viewOf } from "./views.js";

class App {
  #frame = 0;
  #opening = 0;
  #root = document.getElementById("app");
  #announcements = document.getElementById("announcements");
  view = null;
  definition = null;
  hello = null;
  isConnected = true;
  isRefused = false;
  showsKeys = false;

  constructor(token) {
    this.api = new Api(token);
    this.api.onrefused = () => this.#refuse();
    this.runs = new Runs(this.api);
    this.questions = new Questions(this.api);
    this.bell = new Bell((signal) => this.api.stream("/api/bell", signal));
  }

  start() {
    this.runs.onchange = () => this.update();
    this.questions.onchange = () => this.#questionsChanged();
    this.questions.onopen = (question) => this.announce(`${question.run} asks: ${question.name ?? "a question"}`);
    this.bell.onevent = (type, data) => this.#rang(type, data);
    this.bell.onconnection = (up) => this.#connection(up);
    // An address with a token, pasted into this tab, is opened as a new page.
    addEventListener("hashchange", () => (fromHash(location.hash) ? location.reload() : this.route()));
    addEventListener("online", () => this.bell.retry());
    document.addEventListener("visibilitychange", () => document.hidden || (this.bell.retry(), this.update()));
    document.addEventListener("keydown", (event) => keyPressed(this, event));
    this.bell.start();
    this.route();
    this.runs.refresh();
    this.questions.refresh();
    this.api.get("/api/hello").then((hello) => (this.hello = hello), () => {});
    setInterval(() => this.#tick(), 1000);
  }

  /** Draw everything again in the next frame. */
  update() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  /** Have a screen reader say something. */
  announce(text) {
    this.#announcements.textContent = text;
  }

  go(address, options) {
    go(address, options);
  }

  /** Open the view of the address. */
  async route() {
    const route = parseRoute(location.hash);
    const definition = viewOf(route);
    const opening = (this.#opening += 1);
    this.showsKeys = false;
    if (this.view && definition === this.definition && this.view.moved?.(route)) return this.update();
    const View = await definition.load();
    if (opening !== this.#opening) return;
    this.view?.close?.();
    this.definition = definition;
    this.view = new View(this, route);
    this.#draw();
    if (!this.view.opened?.()) this.#root.querySelector("#main")?.focus({ preventScroll: true });
  }

  #draw() {
    render(this.isRefused ? refused() : shell(this), this.#root);
    this.view?.rendered?.();
    showWaiting(this.view?.title, this.questions.open.length);
  }

  /** What runs shows for how long; a page on which nothing runs rests. */
  #tick() {
    if (!document.hidden && (this.questions.open.length || this.runs.rows.some((row) => row.alive))) this.update();
  }

  #questionsChanged() {
    showWaiting(this.view?.title, this.questions.open.length); // also while the tab is hidden
    this.update();
  }

  #connection(up) {
    this.isConnected = up;
    this.update();
  }

  #refuse() {
    this.isRefused = true;
    this.bell.close();
    this.#draw();
  }

  #rang(type, data) {
    if (type === "state") this.#resync(data);
    else if (type === "run") this.#beat(data);
    else if (type === "gone") this.runs.gone(data.name);
    else if (type === "questions") this.questions.heard(data.questions);
    else if (type === "list") this.runs.refresh();
    this.view?.heard?.(type, data);
  }

  #resync({ runs, questions }) {
    this.runs.refresh();
    this.questions.heard(questions);
    for (const beat of runs) this.#beat(beat);
  }

  #beat(beat) {
    this.runs.beat(beat);
    this.view?.beat?.(beat);
  }
}

const token = await takeToken();
if (token === null) render(refused(), document.getElementById("app"));
else {
  shareToken(token);
  new App(token).start();
}
