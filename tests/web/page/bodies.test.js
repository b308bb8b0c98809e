import assert from "node:assert/strict";
import { test } from "node:test";
import { Bodies } from "../../../src/nightrook/web/page/data/bodies.js";
import { settle } from "./browser_fakes.js";

const ITEM = { id: 3, status: "ok" };

async function cut() {
  const api = { asked: [], get: async (path) => (api.asked.push(path), path.includes("?") ? api.next() : { output: { text: "ab", size: 4, truncated: true } }) };
  api.next = () => ({ text: "cd", size: 4, offset: 2, truncated: false });
  const bodies = new Bodies(api, "calm-otter");
  bodies.want(ITEM);
  await settle();
  return { api, bodies };
}

test("two clicks fetch the rest of a text once", async () => {
  const { api, bodies } = await cut();
  await Promise.all([bodies.more(ITEM, "output"), bodies.more(ITEM, "output")]);
  assert.equal(bodies.get(ITEM).output.text, "abcd");
  assert.deepEqual(api.asked, ["/api/runs/calm-otter/items/3/body", "/api/runs/calm-otter/items/3/body?part=output&offset=2"]);
});

test("a rest that does not come is said, and can be asked for again", async () => {
  const { api, bodies } = await cut();
  const { next } = api;
  api.next = () => Promise.reject(new Error("rook web does not answer"));
  await bodies.more(ITEM, "output");
  assert.deepEqual(bodies.get(ITEM).output, { text: "ab", size: 4, truncated: true, problem: "rook web does not answer" });
  api.next = next;
  await bodies.more(ITEM, "output");
  assert.deepEqual(bodies.get(ITEM).output, { text: "abcd", size: 4, truncated: false, problem: null });
});
