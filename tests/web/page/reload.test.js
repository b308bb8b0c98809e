import assert from "node:assert/strict";
import { test } from "node:test";
import { Reload } from "../../../src/nightrook/web/page/data/reload.js";
import { settle } from "./browser_fakes.js";

test("what is asked for while it loads is loaded once more, with what is true then", async () => {
  let truth = "runs";
  const seen = [];
  const answers = [];
  const reload = new Reload(async () => {
    const answer = truth; // as the server knew it when it was asked
    await new Promise((resolve) => answers.push(resolve));
    seen.push(answer);
  });
  reload.start();
  truth = "ended";
  for (let time = 0; time < 5; time += 1) reload.start();
  answers.shift()();
  await settle();
  answers.shift()();
  await settle();
  assert.deepEqual(seen, ["runs", "ended"]);
  assert.equal(reload.isRunning, false);
});

test("what was loaded is loaded again only if that is asked for", async () => {
  let calls = 0;
  const reload = new Reload(async () => (calls += 1));
  await reload.start();
  await reload.start();
  await settle();
  assert.equal(calls, 2);
});
