// What a run does now, with a sign of life.

import { html } from "../vendor/lit-html/lit-html.js";
import { clock } from "../text/format.js";
import { tone } from "./status.js";

const WORDS = {
  starting: "Starting",
  waiting: "Waiting for the model",
  thinking: "Thinking",
  writing: "Writing",
  idle: "Idle",
  retrying: "Trying again",
  asking: "Waiting for you",
  tool: "Using a tool",
  task: "In a subagent",
  ended: "Ending",
};

/** One line: what it does, and for how long. */
export function activity({ activity: name, doing, since, status, questions }) {
  const what = (["tool", "task"].includes(name) && doing) || WORDS[name] || WORDS.starting;
  const seconds = since ? clock(Date.now() / 1000 - since) : "";
  return html`<span class="doing ${tone(status, questions)}"><span class="spinner" aria-hidden="true"></span><span class="doing-what">${what}</span><span class="when">${seconds}</span></span>`;
}
