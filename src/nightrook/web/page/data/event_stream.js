// Cuts the bytes of an event stream (text/event-stream) into events, however they are split.

export class EventStream {
  #decoder = new TextDecoder();
  #rest = "";

  /** The events that are complete now: `{type, id, data}`. */
  feed(bytes) {
    const blocks = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split(/\r?\n\r?\n/);
    this.#rest = blocks.pop();
    return blocks.map(parsed).filter((event) => event !== null);
  }
}

function parsed(block) {
  const event = { type: "message", id: null, data: [] };
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^(event|id|data):? ?(.*)$/.exec(line) ?? [];
    if (name === "event") event.type = value;
    else if (name === "id") event.id = value;
    else if (name === "data") event.data.push(value);
  }
  return event.data.length ? { ...event, data: event.data.join("\n") } : null;
}
