import assert from "node:assert/strict";
import { test } from "node:test";
import { Outline } from "../../../src/nightrook/web/page/data/outline.js";

const item = (id, kind, more = {}) => ({ id, kind, ...more });

function nested() {
  const outline = new Outline();
  [item(0, "text"), item(1, "subagent"), item(2, "tool", { parent: 1 }), item(3, "subagent", { parent: 1 }), item(4, "tool", { parent: 3, status: "error" }), item(5, "text")].forEach((one) => outline.add(one));
  return outline;
}

test("rows are nested as deep as their subagents", () => {
  const outline = nested();
  assert.deepEqual([0, 1, 2, 3, 4, 5].map((id) => outline.level(id)), [0, 0, 1, 1, 2, 0]);
});

test("what is inside of a folded subagent is hidden, however deep", () => {
  const outline = nested();
  assert.deepEqual([0, 1, 2, 3, 4, 5].filter((id) => outline.isInside(id, new Set([1]))), [2, 3, 4]);
  assert.deepEqual([0, 1, 2, 3, 4, 5].filter((id) => outline.isInside(id, new Set([3]))), [4]);
});

test("the server's outline and the items themselves say the same", () => {
  const outline = new Outline();
  outline.take({ first: 0, kinds: "xaoaox", states: "....!.", parents: [-1, -1, 1, 1, 3, -1] });
  const other = nested();
  for (let id = 0; id < 6; id += 1) {
    assert.equal(outline.kind(id), other.kind(id));
    assert.equal(outline.parent(id), other.parent(id));
    assert.equal(outline.isBad(id), other.isBad(id));
  }
});

test("a parent that is not before its child is ignored: nothing goes in circles", () => {
  const outline = new Outline();
  outline.take({ first: 0, kinds: "aa", states: "..", parents: [1, 0] });
  assert.equal(outline.level(0), 0);
  assert.equal(outline.isInside(0, new Set([1])), false);
});

test("an outline grows with its run", () => {
  const outline = new Outline();
  for (let id = 0; id < 5000; id += 1) outline.add(item(id, "tool", id ? { parent: id - 1 } : {}));
  assert.equal(outline.count, 5000);
  assert.equal(outline.parent(4999), 4998);
});

test("errors, denials and lines that cannot be read are faults, as for the server", () => {
  const outline = new Outline();
  const items = [item(0, "error"), item(1, "denial"), item(2, "unreadable"), item(3, "turn", { status: "failed" }), item(4, "notice", { status: "error" }), item(5, "tool")];
  items.forEach((one) => outline.add(one));
  assert.deepEqual(items.map(({ id }) => outline.isBad(id)), [true, true, true, true, false, false]);
});
