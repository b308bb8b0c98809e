// Web Locks, a BroadcastChannel and an event stream, as far as the page needs them, without a browser.

export class Locks {
  #queues = new Map();

  async request(name, { signal }, held) {
    const queue = this.#queues.get(name) ?? [];
    this.#queues.set(name, queue);
    const turn = Promise.withResolvers?.() ?? deferred();
    queue.push(turn);
    if (queue.length === 1) turn.resolve();
    signal.addEventListener("abort", () => turn.reject(new DOMException("aborted", "AbortError")));
    try {
      await turn.promise;
      return await held();
    } finally {
      const wasFirst = queue[0] === turn;
      queue.splice(queue.indexOf(turn), 1);
      if (wasFirst) queue[0]?.resolve();
    }
  }
}

export function deferred() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

/** Channels of one browser: what one posts, all others get. */
export class Channels {
  #open = new Set();

  channel() {
    const open = this.#open;
    const channel = {
      onmessage: null,
      postMessage: (data) => [...open].filter((other) => other !== channel).forEach((other) => queueMicrotask(() => open.has(other) && other.onmessage?.({ data }))),
      close: () => open.delete(channel),
    };
    open.add(channel);
    return channel;
  }
}

/** A server with an event stream: counts its connections, and can say and end. */
export class Server {
  #readers = new Set();
  connections = 0;
  isDown = false;
  isRefusing = false;

  get open() {
    return this.#readers.size;
  }

  async connect(signal) {
    if (this.isRefusing) throw Object.assign(new Error("refused"), { status: 401 });
    if (this.isDown) throw Object.assign(new Error("down"), { status: 0 });
    this.connections += 1;
    const queue = [];
    let waiting = null;
    const reader = {
      put: (value) => (waiting ? (waiting.resolve(value), (waiting = null)) : queue.push(value)),
      read: () => (queue.length ? Promise.resolve(queue.shift()) : (waiting = deferred()).promise),
    };
    this.#readers.add(reader);
    signal.addEventListener("abort", () => (this.#readers.delete(reader), waiting?.reject(new DOMException("aborted", "AbortError"))));
    reader.put(event("state", { runs: [], questions: [] }));
    return reader;
  }

  say(type, data) {
    for (const reader of this.#readers) reader.put(event(type, data));
  }

  end() {
    for (const reader of this.#readers) reader.put({ done: true });
    this.#readers.clear();
  }
}

function event(type, data) {
  return { done: false, value: new TextEncoder().encode(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`) };
}

/** Let everything happen that waits for nothing. */
export async function settle() {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Timers that a test moves by hand. */
export class Timers {
  #set = new Map();
  #last = 0;

  setTimeout = (call, after) => {
    this.#last += 1;
    this.#set.set(this.#last, { call, after });
    return this.#last;
  };

  clearTimeout = (id) => this.#set.delete(id);

  /** Let all timers of at most so many milliseconds ring. */
  ring(most) {
    for (const [id, { call, after }] of [...this.#set]) {
      if (after > most) continue;
      this.#set.delete(id);
      call();
    }
  }
}
