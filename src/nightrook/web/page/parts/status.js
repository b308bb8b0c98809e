// How a run stands, in one word and one colour.

import { html } from "../vendor/lit-html/lit-html.js";
import { words } from "../text/format.js";

const GOOD = new Set(["success", "ok", "done", "completed"]);
const STOPPED = new Set(["denied", "limited", "over_budget", "timed_out", "interrupted", "unverified", "cancelled"]);
const QUIET = new Set(["waiting", "not done", "pending"]);

/** The tone of a status: it decides the colour. */
export function tone(status, questions = 0) {
  if (questions > 0) return "asks";
  if (status === "running") return "runs";
  if (GOOD.has(status)) return "good";
  if (QUIET.has(status)) return "idle";
  return STOPPED.has(status) ? "stopped" : "bad";
}

export function isFailure(status) {
  return ["bad", "stopped"].includes(tone(status));
}

export function status(row) {
  const asks = row.alive !== false && row.questions > 0;
  return html`<span class="status ${tone(row.status, asks ? row.questions : 0)}">${asks ? "asks you" : words(row.status)}</span>`;
}
