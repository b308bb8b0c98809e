import assert from "node:assert/strict";
import { test } from "node:test";
import { Runs } from "../../../src/rookery/web/page/data/runs.js";
import { settle } from "./browser_fakes.js";

const row = (name, started, more = {}) => ({ name, started_at: started, alive: false, status: "success", ...more });

function listed(...rows) {
  const api = { rows, calls: 0, get: async () => ((api.calls += 1), { runs: api.rows, next: null }) };
  return { api, runs: new Runs(api) };
}

test("the newest run comes first, and one that was removed goes", async () => {
  const { api, runs } = listed(row("a", 1), row("b", 2));
  await runs.refresh();
  assert.deepEqual(runs.rows.map(({ name }) => name), ["b", "a"]);
  api.rows = [row("c", 3), row("b", 2)];
  await runs.refresh();
  assert.deepEqual(runs.rows.map(({ name }) => name), ["c", "b"]);
});

test("a beat changes its row; the end of a run asks for the list again", async () => {
  const { api, runs } = listed(row("a", 1, { alive: true, status: "running" }));
  await runs.refresh();
  runs.beat({ name: "a", alive: true, status: "running", cost: { usd: 2 } });
  assert.equal(runs.get("a").cost.usd, 2);
  assert.equal(api.calls, 1);
  runs.beat({ name: "a", alive: false, status: "failed" });
  await settle();
  assert.equal(api.calls, 2);
});

test("many changes at once ask for the list twice at most", async () => {
  const { api, runs } = listed(row("a", 1));
  for (let time = 0; time < 20; time += 1) runs.refresh();
  await settle();
  assert.equal(api.calls, 2);
});

test("a problem is kept until the list comes", async () => {
  const { api, runs } = listed(row("a", 1));
  const { get } = api;
  api.get = async () => Promise.reject(new Error("rook web does not answer"));
  await runs.refresh();
  assert.equal(runs.problem, "rook web does not answer");
  api.get = get;
  await runs.refresh();
  assert.equal(runs.problem, null);
});
