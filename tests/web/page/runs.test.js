import assert from "node:assert/strict";
import { test } from "node:test";
import { Runs } from "../../../src/nightrook/web/page/data/runs.js";
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

test("a list that outgrows a page keeps the older runs", async () => {
  const { api, runs } = listed(row("a", 1), row("b", 2));
  await runs.refresh();
  api.get = async () => ({ runs: [row("c", 3), row("b", 2)], next: "2~b" });
  await runs.refresh();
  assert.deepEqual(runs.rows.map(({ name }) => name), ["c", "b", "a"]);
});

test("a damaged run at the end of a page removes no older ones", async () => {
  const { api, runs } = listed(row("c", 3), row("a", 1));
  await runs.refresh();
  api.get = async () => ({ runs: [row("c", 3), row("b", null, { status: "damaged" })], next: "2~b" });
  await runs.refresh();
  assert.deepEqual(runs.rows.map(({ name }) => name), ["c", "a", "b"]);
});

test("a run at work that is older than all that are listed is found once", async () => {
  const { api, runs } = listed(row("b", 2));
  const asked = [];
  api.get = async (path) => {
    asked.push(path);
    return path.startsWith("/api/runs?") ? { runs: [row("b", 2)], next: "2~b" } : row("a", 1, { alive: true });
  };
  await runs.refresh();
  for (let time = 0; time < 5; time += 1) {
    runs.beat({ name: "a", alive: true, status: "running" });
    await settle();
  }
  assert.deepEqual(runs.rows.map(({ name }) => name), ["b", "a"]);
  assert.deepEqual(asked, ["/api/runs?limit=200", "/api/runs?limit=200", "/api/runs/a"]);
});
