import assert from "node:assert/strict";
import { test } from "node:test";
import { Heights } from "../../../src/nightrook/web/page/list/heights.js";

function filled(count, height) {
  const heights = new Heights(40);
  heights.resize(count);
  for (let index = 0; index < count; index += 1) heights.set(index, height(index));
  return heights;
}

test("a row begins where all rows before it end", () => {
  const heights = filled(1000, (index) => index % 7);
  let sum = 0;
  for (let index = 0; index < 1000; index += 1) {
    assert.equal(heights.top(index), sum);
    sum += index % 7;
  }
  assert.equal(heights.total, sum);
});

test("an offset belongs to the row that covers it, and hidden rows cover nothing", () => {
  const heights = filled(500, (index) => (index % 3 === 0 ? 0 : 10 + index));
  for (let index = 0; index < 500; index += 1) {
    if (index % 3 === 0) continue;
    assert.equal(heights.at(heights.top(index)), index);
    assert.equal(heights.at(heights.top(index) + heights.get(index) - 1), index);
  }
});

test("offsets outside of the list belong to its first and last row", () => {
  const heights = filled(10, () => 20);
  assert.equal(heights.at(-5), 0);
  assert.equal(heights.at(10_000), 9);
});

test("new rows have the estimated height, and those that go no longer count", () => {
  const heights = new Heights(40);
  heights.resize(3);
  heights.resize(100);
  assert.equal(heights.total, 4000);
  heights.set(99, 400);
  heights.resize(50);
  assert.equal(heights.total, 2000);
  heights.resize(100);
  assert.equal(heights.total, 4000);
});
