import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "../../../src/nightrook/web/page/text/format.js";

test("a sum does not take what is unknown for nothing", () => {
  const known = { usd: 0.5, kind: "native" };
  const unknown = { usd: null, kind: "unknown" };
  assert.deepEqual(format.total([known, known]), { usd: 1, source: "native", at_least: false });
  assert.deepEqual(format.total([known, unknown]), { usd: 0.5, source: "native", at_least: true });
  assert.deepEqual(format.total([known, { usd: 1, source: "estimated" }]), { usd: 1.5, source: "estimated", at_least: false });
  assert.equal(format.money(format.total([unknown])), "$?");
});

test("money says who says so", () => {
  assert.equal(format.money({ usd: 0.015, source: "native" }), "$0.0150");
  assert.equal(format.money({ usd: 0.015, kind: "estimated" }), "~$0.0150");
  assert.equal(format.money({ usd: 12.5, kind: "native", at_least: true }), "at least $12.50");
  assert.equal(format.money({ usd: null, kind: "unknown" }), "$?");
  assert.equal(format.money(undefined), "$?");
});

test("times are those of the terminal", () => {
  assert.deepEqual([4.23, 42, 102, 7500, null].map(format.duration), ["4.2s", "42s", "1m 42s", "2h 05m", "?"]);
  assert.deepEqual([0, 59.9, 60].map(format.clock), ["0s", "59s", "1m 00s"]);
});

test("tokens and sizes are short", () => {
  assert.deepEqual([999, 1500, 999_950, 2e9, null].map(format.tokens), ["999", "1.5k", "1.0M", "2.0B", "?"]);
  assert.deepEqual([512, 1200, 34_500_000].map(format.size), ["512 B", "1.2 kB", "34.5 MB"]);
});

test("moments are named by their distance", () => {
  const now = new Date(2026, 10, 18, 12, 0).getTime() / 1000;
  assert.equal(format.moment(now - 20, now), "just now");
  assert.equal(format.moment(now - 130, now), "2 min ago");
  assert.equal(format.moment(now - 3 * 3600, now), "today 09:00");
  assert.equal(format.moment(now - 20 * 3600, now), "yesterday 16:00");
  assert.equal(format.day(now - 86_400, now), "Yesterday");
});

test("paths are those of the working folder", () => {
  assert.equal(format.relative("/home/me/a/b.go", "/home/me"), "a/b.go");
  assert.equal(format.relative("/home/meow/b.go", "/home/me"), "/home/meow/b.go");
  assert.equal(format.lastPart("/home/me/shop/"), "shop");
});
