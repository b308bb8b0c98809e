// Questions: what agents ask, each with all that decides, in the order in which they came.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { QuestionCard } from "../parts/question_card.js";
import { count } from "../text/format.js";

export class QuestionsView {
  #app;
  #cards = new Map();
  #target;
  #current = -1;

  constructor(app, route) {
    this.#app = app;
    this.#target = route.parts.length === 3 ? route.parts.slice(1) : null;
  }

  get title() {
    return "Questions";
  }

  moved(route) {
    this.#target = route.parts.length === 3 ? route.parts.slice(1) : null;
    return true;
  }

  render() {
    const { questions, runs, hello } = this.#app;
    const cards = questions.listed.map((question) => this.#card(question));
    const waiting = questions.open.length;
    const decided = cards.length - waiting;
    return html`<div class="page questions">
      <header class="view-head"><h1>Questions</h1><p>${waiting ? `${count(waiting, "question")} waiting` : "Nothing waits for you"}</p>
        ${decided > 1 ? html`<button class="quiet" @click=${() => questions.dismissAll()}>Dismiss answered</button>` : nothing}</header>
      ${cards.length ? repeat(cards, (card) => card.question.place, (card) => card.render({ run: runs.get(card.question.run), isReadOnly: hello?.read_only })) : empty()}
    </div>`;
  }

  rendered() {
    const listed = new Set(this.#app.questions.listed.map((question) => question.place));
    for (const [place, card] of this.#cards) {
      if (listed.has(place)) card.rendered(document.getElementById(`question-${place}`));
      else {
        card.close();
        this.#cards.delete(place);
      }
    }
    this.#showTarget();
  }

  key(event) {
    const step = { j: 1, k: -1 }[event.key];
    if (!step) return false;
    const cards = [...document.querySelectorAll(".question")];
    this.#current = Math.max(0, Math.min(cards.length - 1, this.#current + step));
    cards[this.#current]?.focus();
    return true;
  }

  close() {
    for (const card of this.#cards.values()) card.close();
  }

  #card(question) {
    const card = this.#cards.get(question.place) ?? new QuestionCard(question, this.#app.questions, () => this.#app.update());
    card.question = question;
    this.#cards.set(question.place, card);
    return card;
  }

  #showTarget() {
    const question = this.#target && this.#app.questions.get(...this.#target);
    const element = question && document.getElementById(`question-${question.place}`);
    if (!element) return;
    this.#target = null;
    element.scrollIntoView({ block: "start" });
    element.focus({ preventScroll: true });
  }
}

function empty() {
  return html`<div class="empty"><span class="big i-check" aria-hidden="true"></span>
    <p>When an agent asks for permission or has a question, it appears here, and in the title of this tab.</p></div>`;
}
