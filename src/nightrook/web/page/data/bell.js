// One event stream for all tabs of a browser: a browser allows six connections to a host.
//
// The tabs agree by a lock on one that holds the stream; it passes each event on to the others. When it
// closes, the lock falls to another tab, which connects. Each connection starts with all that is true
// now, so nothing is lost in between.

import { EventStream } from "./event_stream.js";

const LOCK = "nightrook-bell";
const CHANNEL = "nightrook-bell";
const SILENCE = 40_000; // milliseconds without a byte: the connection is dead
const FIRST_WAIT = 200;
const LONGEST_WAIT = 3_000;

export class Bell {
  #connect;
  #locks;
  #channel;
  #timer;
  #end = new AbortController();
  #retry = () => {};
  isHolder = false;
  isConnected = false;
  onevent = () => {}; // (type, data), in every tab
  onconnection = () => {}; // whether the stream is connected, in every tab

  /** `connect(signal)` opens the stream and returns its reader. */
  constructor(connect, { locks = navigator.locks, channel = new BroadcastChannel(CHANNEL), timer = globalThis } = {}) {
    this.#connect = connect;
    this.#locks = locks;
    this.#channel = channel;
    this.#timer = timer;
    channel.onmessage = ({ data }) => this.#deliver(data);
  }

  /** Take part until `close`; resolves then. */
  async start() {
    const { signal } = this.#end;
    this.#channel.postMessage({ type: "connection?" });
    try {
      await this.#locks.request(LOCK, { signal }, () => this.#hold());
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  close() {
    this.#end.abort();
    this.#retry();
    this.#channel.close();
  }

  /** Connect at once if it waits for the next try. */
  retry() {
    this.#retry();
  }

  async #hold() {
    this.isHolder = true;
    let wait = FIRST_WAIT;
    while (!this.#end.signal.aborted) {
      const refused = await this.#listen(() => (wait = FIRST_WAIT));
      this.#tell({ type: "connection", data: { up: false } });
      if (refused || this.#end.signal.aborted) break; // another tab may have the right token
      await this.#wait(wait);
      wait = Math.min(2 * wait, LONGEST_WAIT);
    }
    this.isHolder = false;
  }

  /** Pass on what one connection says until it ends; returns whether the token was refused. */
  async #listen(onconnected) {
    const connection = new AbortController();
    const end = () => connection.abort();
    this.#end.signal.addEventListener("abort", end);
    let watch = this.#timer.setTimeout(end, SILENCE);
    try {
      const reader = await this.#connect(connection.signal);
      const events = new EventStream();
      onconnected();
      this.#tell({ type: "connection", data: { up: true } });
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return false;
        this.#timer.clearTimeout(watch);
        watch = this.#timer.setTimeout(end, SILENCE);
        for (const event of events.feed(value)) this.#tell({ type: event.type, data: JSON.parse(event.data) });
      }
    } catch (error) {
      return error.status === 401;
    } finally {
      this.#timer.clearTimeout(watch);
      this.#end.signal.removeEventListener("abort", end);
    }
  }

  #wait(milliseconds) {
    return new Promise((resolve) => {
      this.#retry = resolve;
      this.#timer.setTimeout(resolve, milliseconds);
    });
  }

  #tell(message) {
    if (!this.#end.signal.aborted) this.#channel.postMessage(message);
    this.#deliver(message);
  }

  #deliver({ type, data }) {
    if (type === "connection?") {
      if (this.isHolder) this.#channel.postMessage({ type: "connection", data: { up: this.isConnected } });
    } else if (type === "connection") {
      this.isConnected = data.up;
      this.onconnection(data.up);
    } else this.onevent(type, data);
  }
}
