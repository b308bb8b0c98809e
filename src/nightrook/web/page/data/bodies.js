// Whole texts, inputs and outputs of items, fetched when they are shown and kept for a while.

import { runPath } from "./api.js";

const MOST = 200;

export class Bodies {
  #api;
  #run;
  #kept = new Map(); // by item, in the order of their last use
  #loading = new Set();
  onchange = () => {};

  constructor(api, run) {
    this.#api = api;
    this.#run = run;
  }

  /** What is known of an item's body; undefined until it has come. */
  get(item) {
    const kept = this.#kept.get(item.id);
    return kept?.body;
  }

  /** See that an item's body comes; that of a call is fetched again once it has ended. */
  want(item) {
    const kept = this.#kept.get(item.id);
    if ((kept && kept.status === item.status) || this.#loading.has(item.id)) return;
    this.#loading.add(item.id);
    this.#load(item);
  }

  /** Fetch the next characters of a part that was cut; once, however often that is asked for. */
  async more(item, part) {
    const { body } = this.#kept.get(item.id) ?? {};
    const name = `${item.id} ${part}`;
    if (!body?.[part] || this.#loading.has(name)) return;
    this.#loading.add(name);
    const offset = [...body[part].text].length;
    try {
      const next = await this.#api.get(`${this.#path(item)}?part=${part}&offset=${offset}`);
      body[part] = { ...body[part], text: body[part].text + next.text, truncated: next.truncated, problem: null };
    } catch (error) {
      body[part] = { ...body[part], problem: error.message };
    }
    this.#loading.delete(name);
    this.onchange();
  }

  async #load(item) {
    let body;
    try {
      body = await this.#api.get(this.#path(item));
    } catch (error) {
      body = { problem: error.message };
    }
    this.#loading.delete(item.id);
    this.#kept.delete(item.id);
    this.#kept.set(item.id, { body, status: item.status });
    if (this.#kept.size > MOST) this.#kept.delete(this.#kept.keys().next().value);
    this.onchange();
  }

  #path(item) {
    return runPath(this.#run, "items", String(item.id), "body");
  }
}
