// The shape of a timeline: the kind, state and parent of every item, without the items.

const KINDS = {
  s: "session", t: "turn", m: "message", x: "text", h: "thinking", o: "tool", a: "subagent", f: "file",
  k: "task", r: "retry", l: "limit", d: "denial", q: "question", e: "error", n: "notice", c: "compaction",
  M: "model", p: "mode", u: "unknown", U: "unreadable",
};
const LETTERS = Object.fromEntries(Object.entries(KINDS).map(([letter, kind]) => [kind, letter]));
const FAULTS = new Set(["denial", "error", "unreadable"]); // kinds; the same rules as in folds/outline.py
const SPANS = new Set(["turn", "tool", "subagent", "task", "question", "retry"]);
const GOOD = new Set(["ok", "completed", "allowed", "info", "success"]);
const UNKNOWN = 0;

export class Outline {
  #kinds = new Uint8Array(256); // the letter of each kind
  #states = new Uint8Array(256);
  #parents = new Int32Array(256).fill(-1);
  count = 0;

  /** Note what the server says of the items from `first` on. */
  take({ first, kinds, states, parents }) {
    for (let at = 0; at < kinds.length; at += 1) {
      this.#set(first + at, kinds.charCodeAt(at), states.charCodeAt(at), parents[at]);
    }
  }

  /** Note what an item says. */
  add(item) {
    this.#set(item.id, LETTERS[item.kind].charCodeAt(0), stateOf(item).charCodeAt(0), item.parent ?? -1);
  }

  clear() {
    this.#kinds.fill(UNKNOWN);
    this.count = 0;
  }

  kind(id) {
    const letter = this.#kinds[id];
    return letter ? KINDS[String.fromCharCode(letter)] : undefined;
  }

  isBad(id) {
    return this.#states[id] === 33; // "!"
  }

  parent(id) {
    return this.#kinds[id] ? this.#parents[id] : -1;
  }

  /** How deep an item is nested in subagents. */
  level(id) {
    let level = 0;
    for (let parent = this.parent(id); parent >= 0 && level < 16; parent = this.parent(parent)) {
      if (this.kind(parent) === "subagent") level += 1;
    }
    return level;
  }

  /** Whether one of the items that it is nested in is in a set. */
  isInside(id, folded) {
    let parent = this.parent(id);
    for (let step = 0; parent >= 0 && step < 16; step += 1) {
      if (folded.has(parent)) return true;
      parent = this.parent(parent);
    }
    return false;
  }

  #set(id, kind, state, parent) {
    if (id >= this.#kinds.length) this.#grow(Math.max(id + 1, 2 * this.#kinds.length));
    this.#kinds[id] = kind;
    this.#states[id] = state;
    this.#parents[id] = parent < id ? parent : -1;
    this.count = Math.max(this.count, id + 1);
  }

  #grow(capacity) {
    const grown = (old, array) => (array.set(old), array);
    this.#kinds = grown(this.#kinds, new Uint8Array(capacity));
    this.#states = grown(this.#states, new Uint8Array(capacity));
    this.#parents = grown(this.#parents, new Int32Array(capacity).fill(-1));
  }
}

/** Whether an item is open (`-`), ended well (`.`), or did not (`!`). */
function stateOf({ kind, status }) {
  if (FAULTS.has(kind)) return "!";
  if (!SPANS.has(kind)) return ".";
  if (status === undefined) return "-";
  return GOOD.has(status) ? "." : "!";
}
