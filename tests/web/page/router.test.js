import assert from "node:assert/strict";
import { test } from "node:test";
import { link, parseRoute } from "../../../src/nightrook/web/page/router.js";
import { fromHash } from "../../../src/nightrook/web/page/data/token.js";

test("a route is its parts and its query", () => {
  const route = parseRoute("#/runs/calm%20otter/items/12?filter=errors");
  assert.deepEqual(route.parts, ["runs", "calm otter", "items", "12"]);
  assert.equal(route.query.get("filter"), "errors");
  assert.deepEqual(parseRoute("").parts, []);
  assert.deepEqual(parseRoute("#/%zz").parts, ["%zz"]);
});

test("a name stays one part, whatever is in it", () => {
  assert.deepEqual(parseRoute(link("runs", "../a/b?c#d")).parts, ["runs", "../a/b?c#d"]);
});

test("the token is read from the address, with the route behind it", () => {
  assert.deepEqual(fromHash("#token=abc"), { token: "abc", route: "/" });
  assert.deepEqual(fromHash("#token=abc&to=/runs/x"), { token: "abc", route: "/runs/x" });
  assert.equal(fromHash("#/runs/x"), null);
});
