// The list of runs, the newest first, kept up to date by the bell.

import { runPath } from "./api.js";
import { Reload } from "./reload.js";

const PAGE = 200;

export class Runs {
  #api;
  #rows = new Map();
  #reload = new Reload(() => this.#load());
  #finding = new Set(); // runs that are not in the list yet
  next = null; // where older ones continue
  isLoaded = false;
  problem = null;
  onchange = () => {};

  constructor(api) {
    this.#api = api;
  }

  get rows() {
    return [...this.#rows.values()].sort((a, b) => (b.started_at ?? 0) - (a.started_at ?? 0));
  }

  get(name) {
    return this.#rows.get(name);
  }

  /** Ask for the newest ones again. */
  refresh() {
    return this.#reload.start();
  }

  /** Ask for older ones. */
  async older() {
    if (this.next === null) return;
    await this.#page(`&before=${encodeURIComponent(this.next)}`);
  }

  /** Note what the bell says of a run. */
  beat(beat) {
    const row = this.#rows.get(beat.name);
    if (!row) return void this.#find(beat.name);
    const ended = row.alive && !beat.alive;
    this.#rows.set(beat.name, { ...row, ...beat });
    if (ended) this.refresh();
    this.onchange();
  }

  gone(name) {
    this.#rows.delete(name);
    this.onchange();
  }

  async #load() {
    const before = new Set(this.#rows.keys());
    await this.#page("", ({ runs, next }) => {
      const oldest = Math.min(...runs.map((row) => row.started_at ?? Infinity));
      for (const row of runs) before.delete(row.name);
      for (const name of before) {
        if (next === null || (this.#rows.get(name).started_at ?? 0) > oldest) this.#rows.delete(name);
      }
    });
  }

  /** Add a run that is alive; it may be older than all that are listed. */
  async #find(name) {
    if (this.#finding.has(name)) return;
    this.#finding.add(name);
    await this.refresh();
    try {
      if (!this.#rows.has(name)) this.#rows.set(name, await this.#api.get(runPath(name)));
    } catch {
      // it is gone: the bell says so
    }
    this.#finding.delete(name);
    this.onchange();
  }

  async #page(query, ontaken = () => {}) {
    try {
      const answer = await this.#api.get(`/api/runs?limit=${PAGE}${query}`);
      if (query || !this.isLoaded) this.next = answer.next;
      for (const row of answer.runs) this.#rows.set(row.name, row);
      ontaken(answer);
      this.isLoaded = true;
      this.problem = null;
    } catch (error) {
      this.problem = error.message;
    }
    this.onchange();
  }
}
