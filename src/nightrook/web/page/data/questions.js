// The questions that wait for a person, in the order in which they came, and the decisions on them.

import { runPath } from "./api.js";
import { Reload } from "./reload.js";

const key = (question) => `${question.run}/${question.id}`;

export class Questions {
  #api;
  #open = new Map();
  #decided = new Map(); // those that were open here, and how they ended
  #reload = new Reload(() => this.#load());
  isLoaded = false;
  onchange = () => {};
  onopen = () => {}; // (question): a new one

  constructor(api) {
    this.#api = api;
  }

  get open() {
    return [...this.#open.values()];
  }

  /** Open and decided ones, each at its place: none moves while a person reaches for a button. */
  get listed() {
    return [...this.#decided.values(), ...this.#open.values()].sort((a, b) => a.place - b.place);
  }

  get(run, id) {
    return this.#open.get(`${run}/${id}`) ?? this.#decided.get(`${run}/${id}`);
  }

  /** Note which ones are open, as the bell says. */
  heard(questions) {
    const open = new Set(questions.map(key));
    const isKnown = open.size === this.#open.size && [...open].every((one) => this.#open.has(one));
    if (this.#reload.isRunning || !isKnown) this.refresh(); // what is on its way may be older than this
  }

  refresh() {
    return this.#reload.start();
  }

  /** Decide; returns a sentence if the server refused. */
  async decide(question, decision) {
    try {
      const { decided } = await this.#api.post(runPath(question.run, "questions", question.id), decision);
      this.#close(key(question), { ...decision, ...decided, mine: true });
      return null;
    } catch (error) {
      if (error.status === 409 || error.status === 404 || error.status === 410) {
        this.#close(key(question), { ...error.body?.decided, sentence: error.message });
      }
      return error.message;
    }
  }

  /** Take a decided one off the list. */
  dismiss(question) {
    this.#decided.delete(key(question));
    this.onchange();
  }

  dismissAll() {
    this.#decided.clear();
    this.onchange();
  }

  async #load() {
    let questions;
    try {
      ({ questions } = await this.#api.get("/api/questions"));
    } catch {
      return; // the next bell asks again
    }
    const open = new Set(questions.map(key));
    for (const known of [...this.#open.keys()]) if (!open.has(known)) this.#close(known, { isGone: true });
    for (const question of questions) this.#add(question);
    this.isLoaded = true;
    this.onchange();
  }

  /** Add one; one that had only disappeared comes back to its place. */
  #add(question) {
    const before = this.#decided.get(key(question));
    // guards: question-returns
    if (this.#open.has(key(question)) || (before && !before.decided.isGone)) return;
    const added = { ...question, place: before?.place ?? (this.#last += 1) };
    this.#decided.delete(key(question));
    this.#open.set(key(question), added);
    this.onopen(added);
  }

  #last = 0;

  /** Close one; who decided it is noted, too, if it had disappeared before that was known. */
  #close(name, decided) {
    const question = this.#open.get(name) ?? this.#gone(name);
    if (!question) return;
    this.#open.delete(name);
    this.#decided.set(name, { ...question, decided });
    this.onchange();
  }

  #gone(name) {
    const question = this.#decided.get(name);
    return question?.decided.isGone ? question : undefined;
  }
}
