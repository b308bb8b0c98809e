import assert from "node:assert/strict";
import { test } from "node:test";
import { EventStream } from "../../../src/nightrook/web/page/data/event_stream.js";

const BYTES = new TextEncoder().encode(':\n\nevent: run\nid: 7\ndata: {"name":\ndata: "größe"}\n\n: still here\n\nevent: list\ndata: {}\n\nevent: cut\ndata: 1');
const EVENTS = [{ type: "run", id: "7", data: '{"name":\n"größe"}' }, { type: "list", id: null, data: "{}" }];

test("events are the same wherever the bytes are cut", () => {
  for (let cut = 0; cut <= BYTES.length; cut += 1) {
    const stream = new EventStream();
    assert.deepEqual([...stream.feed(BYTES.slice(0, cut)), ...stream.feed(BYTES.slice(cut))], EVENTS);
  }
});

test("one byte at a time gives the same events", () => {
  const stream = new EventStream();
  assert.deepEqual([...BYTES].flatMap((byte) => stream.feed(Uint8Array.of(byte))), EVENTS);
});
