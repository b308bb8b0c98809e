import assert from "node:assert/strict";
import { test } from "node:test";
import { Bell } from "../../../src/nightrook/web/page/data/bell.js";
import { Channels, Locks, Server, settle, Timers } from "./browser_fakes.js";

function browser() {
  const server = new Server();
  const locks = new Locks();
  const channels = new Channels();
  const timer = new Timers();
  const tab = () => {
    const bell = new Bell((signal) => server.connect(signal), { locks, channel: channels.channel(), timer });
    const heard = [];
    bell.onevent = (type, data) => heard.push([type, data]);
    bell.start();
    return { bell, heard };
  };
  return { server, timer, tab };
}

test("ten tabs share one connection, and each hears every event once", async () => {
  const { server, tab } = browser();
  const tabs = Array.from({ length: 10 }, tab);
  await settle();
  server.say("run", { name: "a", revision: 1 });
  server.say("run", { name: "a", revision: 2 });
  await settle();
  assert.equal(server.open, 1);
  for (const { heard } of tabs) {
    assert.deepEqual(heard.filter(([type]) => type === "run").map(([, { revision }]) => revision), [1, 2]);
  }
});

test("another tab takes over when the one that holds the bell closes", async () => {
  const { server, tab } = browser();
  const [first, second, third] = [tab(), tab(), tab()];
  await settle();
  first.bell.close();
  await settle();
  assert.equal(server.open, 1);
  assert.equal(server.connections, 2);
  assert.equal(second.bell.isHolder, true);
  server.say("run", { name: "b" });
  await settle();
  for (const { heard } of [second, third]) assert.deepEqual(heard.at(-1), ["run", { name: "b" }]);
  assert.ok(third.heard.filter(([type]) => type === "state").length >= 2); // all that is true, again
});

test("it connects again when the server ends, and waits longer each time it is down", async () => {
  const { server, timer, tab } = browser();
  const { bell, heard } = tab();
  await settle();
  server.isDown = true;
  server.end();
  await settle();
  assert.equal(bell.isConnected, false);
  timer.ring(200);
  await settle();
  assert.equal(server.connections, 1);
  timer.ring(200);
  await settle();
  server.isDown = false;
  timer.ring(200);
  await settle();
  assert.equal(server.connections, 1); // the second wait is longer
  timer.ring(400);
  await settle();
  assert.equal(server.connections, 2);
  assert.equal(bell.isConnected, true);
  assert.equal(heard.filter(([type]) => type === "state").length, 2);
});

test("a silent connection is given up", async () => {
  const { server, timer, tab } = browser();
  const { bell } = tab();
  await settle();
  timer.ring(40_000);
  await settle();
  timer.ring(200);
  await settle();
  assert.equal(server.connections, 2);
  assert.equal(bell.isConnected, true);
});

test("a tab whose token is refused leaves the bell to another", async () => {
  const { server, tab } = browser();
  server.isRefusing = true;
  const first = tab();
  await settle();
  assert.equal(first.bell.isHolder, false);
  server.isRefusing = false;
  const second = tab();
  await settle();
  assert.equal(second.bell.isHolder, true);
});

test("a tab that comes later learns whether there is a connection", async () => {
  const { server, tab } = browser();
  tab();
  await settle();
  const late = tab();
  await settle();
  assert.equal(late.bell.isConnected, true);
  assert.equal(server.connections, 1);
});
