import assert from "node:assert/strict";
import { test } from "node:test";
import { RunItems } from "../../../src/nightrook/web/page/data/run_items.js";

/** A timeline on a server: items that are added and changed, each change with a number. */
class Timeline {
  items = [];
  changes = [];
  epoch = "one";
  requests = 0;
  isBroken = false;

  add() {
    const item = { id: this.items.length, kind: "tool" };
    this.items.push(item);
    this.#change(item);
  }

  change(id) {
    this.#change(this.items[id]);
  }

  #change(item) {
    this.changes.push(item.id);
    this.items[item.id] = { ...item, revision: this.changes.length };
  }

  fetch = async ({ first, after, limit }) => {
    this.requests += 1;
    await null;
    if (this.isBroken) throw new Error("network");
    const base = { epoch: this.epoch, total: this.items.length, complete: true };
    if (first !== undefined) return { ...base, items: this.items.slice(first, first + limit), revision: this.changes.length };
    const items = [];
    let revision = after;
    for (; revision < this.changes.length && items.length < limit; revision += 1) {
      const item = this.items[this.changes[revision]];
      if (item.revision === revision + 1) items.push(item);
    }
    return { ...base, items, revision: Math.min(revision, this.changes.length), more: revision < this.changes.length };
  };

  get head() {
    return { epoch: this.epoch, revision: this.changes.length, total: this.items.length, complete: true };
  }
}

function grown(count) {
  const timeline = new Timeline();
  for (let number = 0; number < count; number += 1) timeline.add();
  return timeline;
}

async function all(items) {
  for (let first = 0; first < items.total; first += 200) {
    items.want(first, first);
    await items.settled();
  }
  return [...items];
}

test("every item is there once, in order, however often is asked", async () => {
  const timeline = grown(950);
  const items = new RunItems(timeline.fetch);
  items.want(0, 0);
  items.open(timeline.head);
  for (let round = 0; round < 30; round += 1) {
    timeline.add();
    timeline.change((round * 31) % timeline.items.length);
    items.sync(timeline.changes.length);
    if (round % 3) items.sync(timeline.changes.length);
    await items.settled();
  }
  assert.deepEqual(await all(items), timeline.items);
});

test("items that come before the first of their page are not lost", async () => {
  const timeline = grown(150);
  const items = new RunItems(timeline.fetch);
  items.open(timeline.head);
  for (let number = 0; number < 100; number += 1) timeline.add();
  timeline.change(200); // so it comes after those that follow it
  items.sync(timeline.changes.length);
  assert.deepEqual(await all(items), timeline.items);
});

test("a change of the first item of a page that is not here does not stand for the page", async () => {
  const timeline = grown(950);
  const items = new RunItems(timeline.fetch);
  items.open(timeline.head);
  timeline.change(400);
  items.sync(timeline.changes.length);
  await items.settled();
  assert.deepEqual(await all(items), timeline.items);
});

test("what was skipped is fetched, although its page has newer items", async () => {
  const timeline = grown(150);
  const items = new RunItems(timeline.fetch);
  items.open(timeline.head);
  for (let number = 0; number < 5200; number += 1) timeline.add();
  items.sync(timeline.changes.length);
  for (let number = 0; number < 20; number += 1) timeline.add();
  await items.settled();
  items.sync(timeline.changes.length);
  await items.settled();
  for (const first of [5200, 5300]) items.want(first, first);
  await items.settled();
  for (let id = 5200; id < timeline.items.length; id += 1) assert.deepEqual(items.get(id), timeline.items[id]);
});

test("what changes while a page is on its way is not lost", async () => {
  const timeline = grown(100);
  const items = new RunItems(timeline.fetch);
  items.want(0, 0);
  await items.settled();
  const { head } = timeline;
  timeline.change(5);
  timeline.add();
  items.open(timeline.head);
  assert.ok(head.revision < timeline.head.revision);
  await items.settled();
  assert.deepEqual([...items], timeline.items);
});

test("only the pages in sight are fetched, and few are kept", async () => {
  const timeline = grown(50_000);
  const items = new RunItems(timeline.fetch);
  items.open(timeline.head);
  items.want(25_000, 25_030);
  await items.settled();
  assert.equal(timeline.requests, 1);
  assert.equal(items.get(25_010).id, 25_010);
  await all(items);
  assert.ok([...items].length <= 24 * 200);
});

test("after a break it continues at its position: nothing again, nothing missing", async () => {
  const timeline = grown(10);
  const items = new RunItems(timeline.fetch);
  const seen = [];
  items.onchange = (changed) => seen.push(...changed.map((item) => `${item.id}@${item.revision}`));
  items.want(0, 0);
  await items.settled();
  items.open(timeline.head);
  timeline.isBroken = true;
  timeline.add();
  let failures = 0;
  items.onerror = () => (failures += 1);
  await items.sync(timeline.changes.length);
  timeline.change(3);
  timeline.isBroken = false;
  await items.sync(timeline.changes.length);
  assert.equal(failures, 1);
  assert.deepEqual([...items], timeline.items);
  assert.equal(new Set(seen).size, seen.length);
});

test("another epoch starts from nothing", async () => {
  const timeline = grown(10);
  const items = new RunItems(timeline.fetch);
  items.want(0, 0);
  await items.settled();
  items.open(timeline.head);
  const other = grown(3);
  Object.assign(timeline, { items: other.items, changes: other.changes, epoch: "two" });
  let resets = 0;
  items.onreset = () => (resets += 1);
  await items.sync(99);
  assert.equal(resets, 1);
  assert.equal(items.total, 0);
  items.open(timeline.head);
  items.want(0, 0);
  await items.settled();
  assert.deepEqual([...items], timeline.items);
});

test("a server that starts again and is still reading loses nothing", async () => {
  const timeline = grown(300);
  const items = new RunItems(timeline.fetch);
  items.want(0, 299);
  await items.settled();
  items.open(timeline.head);
  const whole = { items: timeline.items, changes: timeline.changes };
  Object.assign(timeline, { items: whole.items.slice(0, 120), changes: whole.changes.slice(0, 120) });
  await items.sync(120);
  assert.equal(items.total, 300);
  Object.assign(timeline, whole);
  timeline.add();
  await items.sync(timeline.changes.length);
  assert.deepEqual(await all(items), timeline.items);
});

test("far behind, it fetches what is in sight instead of all that changed", async () => {
  const timeline = grown(100);
  const items = new RunItems(timeline.fetch);
  items.want(0, 0);
  await items.settled();
  items.open(timeline.head);
  for (let number = 0; number < 20_000; number += 1) timeline.add();
  timeline.requests = 0;
  await items.sync(timeline.changes.length);
  assert.ok(timeline.requests <= 2);
  assert.equal(items.total, 20_100);
  items.want(0, 0);
  items.want(20_050, 20_099);
  await items.settled();
  assert.deepEqual(items.get(7), timeline.items[7]);
  assert.deepEqual(items.get(20_099), timeline.items[20_099]);
});

test("an answer that comes late does not bring back what has changed since", async () => {
  const timeline = grown(10);
  let release;
  const late = new Promise((resolve) => (release = resolve));
  const items = new RunItems(async (query) => {
    const answer = await timeline.fetch(query);
    if (query.after !== undefined) await late;
    return answer;
  });
  items.open(timeline.head);
  timeline.change(3);
  items.sync(timeline.changes.length); // its answer is made now, and comes late
  await new Promise((resolve) => setImmediate(resolve));
  timeline.change(3);
  items.want(0, 0);
  await new Promise((resolve) => setImmediate(resolve));
  release();
  await items.settled();
  assert.equal(items.get(3).revision, 12);
});
