// The items of one run's timeline, by position: what is in sight is fetched, what changes is merged.
//
// Every item is there once, whatever was asked how often: for each number the highest revision wins. Only
// the pages that were looked at lately are kept.

const PAGE = 200; // items; the server answers aligned pages of this size from memory
const MOST_PAGES = 24;
const MOST_CHANGES = 1000; // in one answer
const TOO_FAR = 5000; // changes behind: then the pages are fetched again instead

export class RunItems {
  #fetch;
  #pages = new Map(); // by number, in the order of their last use
  #loading = new Map();
  #syncing = null;
  #generation = 0; // of the pages: what was asked for before they were forgotten is not kept
  #goal = 0;
  #oldest = Infinity; // the revision of the oldest page that came
  #known = 0; // items from here on were not there yet: all of them will come as changes
  epoch = null;
  revision = 0;
  total = 0;
  isComplete = false;
  snapshot = null;
  drafts = [];
  onchange = () => {}; // (items that changed)
  onerror = () => {};
  onreset = () => {}; // everything is counted from the start again

  /** `fetch(query)` returns the answer of the run's `items`. */
  constructor(fetch) {
    this.#fetch = fetch;
  }

  /** Start at the position of a run's head. */
  open({ epoch, revision, total, complete, snapshot }) {
    const known = Math.min(revision, this.#oldest); // pages may have come before the head
    Object.assign(this, { epoch, revision: known, total, isComplete: complete, snapshot });
    this.#known = total;
    this.#goal = Math.max(this.#goal, revision);
    if (known < revision) this.sync(revision);
  }

  /** An item; undefined if it is not here yet. */
  get(id) {
    return this.#pages.get(Math.floor(id / PAGE))?.get(id);
  }

  /** All items that are here, in order. */
  *[Symbol.iterator]() {
    for (const number of [...this.#pages.keys()].sort((a, b) => a - b)) {
      yield* [...this.#pages.get(number).values()].sort((a, b) => a.id - b.id);
    }
  }

  /** See that the items of a range come. */
  want(first, last) {
    for (let number = Math.floor(first / PAGE); number <= Math.floor(last / PAGE); number += 1) {
      const page = this.#pages.get(number);
      if (page) this.#use(number, page);
      if (!page?.isWhole && !this.#loading.has(number)) this.#loading.set(number, this.#load(number));
    }
  }

  /** Resolves when nothing is on its way. */
  async settled() {
    while (this.#loading.size || this.#syncing) {
      await Promise.all([...this.#loading.values(), this.#syncing]);
    }
  }

  /** Fetch what changed, up to a revision at least. */
  sync(revision) {
    this.#goal = Math.max(this.#goal, revision);
    this.#syncing ??= this.#catchUp().finally(() => (this.#syncing = null));
    return this.#syncing;
  }

  async #load(number) {
    const generation = this.#generation;
    try {
      const answer = await this.#fetch({ first: number * PAGE, limit: PAGE });
      if (generation !== this.#generation || !this.#isSameCount(answer)) return;
      const page = this.#pages.get(number) ?? new Map();
      page.isWhole = answer.revision >= this.revision; // a server that starts is still reading
      this.#oldest = Math.min(this.#oldest, answer.revision);
      this.#use(number, page);
      this.total = Math.max(this.total, answer.total);
      this.onchange(this.#merge(answer.items));
    } catch (error) {
      if (error.name !== "AbortError") this.onerror(error);
    } finally {
      this.#loading.delete(number);
    }
  }

  async #catchUp() {
    let more = true;
    try {
      while (more || this.revision < this.#goal) {
        if (this.#goal - this.revision > TOO_FAR && this.epoch !== null) this.#skip();
        const before = this.revision;
        const answer = await this.#fetch({ after: before, limit: MOST_CHANGES });
        if (!this.#isSameCount(answer)) return;
        const known = this.#known;
        this.revision = answer.revision;
        this.total = Math.max(this.total, answer.total);
        this.#known = this.total;
        this.isComplete = answer.complete;
        this.snapshot = answer.snapshot ?? this.snapshot;
        this.drafts = answer.drafts ?? [];
        ({ more } = answer);
        this.onchange(this.#merge(answer.items, known));
        if (answer.revision <= before && !more) return; // there is nothing beyond
      }
    } catch (error) {
      if (error.name !== "AbortError") this.onerror(error);
    }
  }

  /** Forget all pages and continue at the newest revision: fewer bytes than all that changed. */
  #skip() {
    this.revision = this.#goal;
    this.#known = Infinity;
    this.#forget();
  }

  #forget() {
    this.#pages.clear();
    this.#generation += 1;
  }

  #isSameCount(answer) {
    if (this.epoch === null || answer.epoch === this.epoch) {
      this.epoch = answer.epoch;
      return true;
    }
    this.epoch = answer.epoch;
    this.#forget();
    this.revision = 0;
    this.#goal = 0;
    this.#known = 0;
    this.total = 0;
    this.onreset();
    return false;
  }

  /** Keep the items whose page is here, or begins at `known` or later; returns those that changed. */
  #merge(items, known = Infinity) {
    const changed = [];
    for (const item of items) {
      const number = Math.floor(item.id / PAGE);
      let page = this.#pages.get(number);
      if (!page && number * PAGE >= known) {
        page = new Map();
        page.isWhole = true; // the others come as changes, too, in any order
        this.#use(number, page);
      }
      if (!page) continue;
      const before = page.get(item.id);
      if (before && before.revision >= item.revision) continue; // guards: newer-item
      page.set(item.id, item);
      changed.push(item);
    }
    return changed;
  }

  #use(number, page) {
    this.#pages.delete(number);
    this.#pages.set(number, page);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= MOST_PAGES) break;
      this.#pages.delete(oldest);
    }
  }
}
