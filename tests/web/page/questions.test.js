import assert from "node:assert/strict";
import { test } from "node:test";
import { Questions } from "../../../src/nightrook/web/page/data/questions.js";
import { settle } from "./browser_fakes.js";

class Api {
  questions = [];
  answers = [];
  refusal = null;

  async get() {
    return { questions: this.questions };
  }

  async post(path, decision) {
    if (this.refusal) throw this.refusal;
    this.answers.push([path, decision]);
    return { decided: { allow: decision.allow, by: "person", through: "web" } };
  }
}

const question = (id, run = "calm-otter") => ({ run, id, about: "tool", name: "Bash" });

async function opened(...ids) {
  const api = new Api();
  api.questions = ids.map((id) => question(id));
  const questions = new Questions(api);
  await questions.refresh();
  return { api, questions };
}

test("a question keeps its place until it is dismissed", async () => {
  const { api, questions } = await opened("a", "b");
  await questions.decide(questions.open[0], { allow: true });
  api.questions = [question("b"), question("c")];
  questions.heard(api.questions);
  await settle();
  assert.deepEqual(questions.listed.map(({ id }) => id), ["a", "b", "c"]);
  assert.deepEqual(questions.open.map(({ id }) => id), ["b", "c"]);
  questions.dismiss(questions.listed[0]);
  assert.deepEqual(questions.listed.map(({ id }) => id), ["b", "c"]);
});

test("an answer goes to its question, whatever is in its name", async () => {
  const { api, questions } = await opened("q/../1");
  assert.equal(await questions.decide(questions.open[0], { allow: false, reason: "no" }), null);
  assert.deepEqual(api.answers, [["/api/runs/calm-otter/questions/q%2F..%2F1", { allow: false, reason: "no" }]]);
});

test("a question that is gone says who answered", async () => {
  const { api, questions } = await opened("a");
  api.refusal = Object.assign(new Error("it was allowed on a terminal"), { status: 409, body: { decided: { allow: true, by: "person", through: "terminal" } } });
  assert.equal(await questions.decide(questions.open[0], { allow: false }), "it was allowed on a terminal");
  assert.deepEqual(questions.listed[0].decided, { allow: true, by: "person", through: "terminal", sentence: "it was allowed on a terminal" });
  assert.equal(questions.open.length, 0);
});

test("a question stays open when the server cannot be reached", async () => {
  const { api, questions } = await opened("a");
  api.refusal = Object.assign(new Error("rook web does not answer"), { status: 0 });
  await questions.decide(questions.open[0], { allow: true });
  assert.equal(questions.open.length, 1);
});

test("one that was decided is not opened again by an answer that was on its way", async () => {
  const { api, questions } = await opened("a");
  const late = questions.refresh();
  await questions.decide(questions.open[0], { allow: true });
  await late;
  assert.equal(questions.open.length, 0);
  assert.equal(api.answers.length, 1);
});

test("one that had only disappeared can be decided when it is listed again", async () => {
  const { api, questions } = await opened("a", "b");
  const [{ place }] = questions.open;
  const listed = api.questions;
  api.questions = [];
  await questions.refresh();
  assert.equal(questions.open.length, 0);
  api.questions = listed;
  await questions.refresh();
  assert.deepEqual(questions.open.map(({ id, decided }) => [id, decided]), [["a", undefined], ["b", undefined]]);
  assert.equal(questions.get("calm-otter", "a").place, place);
});

test("what is heard while a list is on its way asks for another list", async () => {
  const { api, questions } = await opened();
  const lists = [[question("a")], []];
  api.get = async () => ({ questions: lists.shift() });
  questions.refresh();
  questions.heard([]); // it was answered after the list on its way was made
  await settle();
  assert.equal(lists.length, 0);
  assert.equal(questions.open.length, 0);
});

test("one that disappears before the answer to a decision has come says who decided", async () => {
  const { api, questions } = await opened("a");
  const { post } = Api.prototype;
  api.post = async (...call) => {
    api.questions = [];
    await questions.refresh(); // the bell was quicker
    return post.apply(api, call);
  };
  await questions.decide(questions.open[0], { allow: true });
  assert.deepEqual(questions.listed.map(({ decided }) => decided), [{ allow: true, by: "person", through: "web", mine: true }]);
});
