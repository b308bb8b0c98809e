// What stands in a row of the timeline, by the kind of its item.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { count, duration, money, percent, relative, tokens, words } from "../text/format.js";
import { markdown } from "./markdown_view.js";
import { toolBody } from "./tool_body.js";

const PATHS = new Set(["read", "edit", "list", "delete", "move"]);
const NAMES = { message: "Message", text: "Text", thinking: "Thinking", session: "Session", turn: "Turn" };
const LONGEST_SHOWN = 6000; // characters of a text that is not unfolded

/** A row in words, for screen readers. */
export function describe(item) {
  return [NAMES[item.kind] ?? words(item.kind), item.name, item.title].filter(Boolean).join(": ").slice(0, 200);
}

export function rowOf(item, around) {
  return (ROWS[item.kind] ?? plain)(item, around);
}

function head(item, around, icon, content, aside = nothing) {
  return html`<button class="head i-${icon}" data-time=${around.offset} aria-expanded=${around.isUnfolded ? "true" : "false"}>
    ${content}<span class="aside">${aside}</span></button>`;
}

function line(around, icon, content, aside = nothing) {
  return html`<div class="head still i-${icon}" data-time=${around.offset}>${content}<span class="aside">${aside}</span></div>`;
}

// Calls

function tool(item, around) {
  return html`${head(item, around, around.isOpen ? "spin" : item.tool ?? "other", call(item, around), facts(item, around))}
    ${failure(item, around)}
    ${around.isUnfolded ? toolBody(item, around) : nothing}`;
}

function subagent(item, around) {
  const content = html`<b>${item.subagent ?? item.name ?? "Subagent"}</b><span class="title">${item.title ?? ""}</span>`;
  return html`<button class="head i-${around.isOpen ? "spin" : "subagent"}" data-time=${around.offset} aria-expanded=${around.isFolded ? "false" : "true"}>
    ${content}<span class="aside">${around.isFolded ? "folded " : ""}${took(item, around)}</span></button>
    <button class="details quiet" aria-expanded=${around.isUnfolded ? "true" : "false"}>Task and result</button>
    ${failure(item, around)}
    ${around.isUnfolded ? toolBody(item, around) : nothing}`;
}

function call(item, { cwd }) {
  const title = PATHS.has(item.tool) ? relative(item.title ?? "", cwd) : item.title ?? "";
  return html`<b>${item.name ?? "a tool"}</b><span class="title mono">${title}</span>`;
}

function facts(item, around) {
  const parts = [changed(around.files), exited(item), took(item, around)];
  return parts.filter((part) => part !== nothing);
}

function changed(files) {
  const counts = [...(files?.values() ?? [])];
  if (!counts.length || counts.some((file) => file.added === undefined || file.removed === undefined)) return nothing;
  const sum = (name) => counts.reduce((total, file) => total + file[name], 0);
  return html`<span class="added">+${sum("added")}</span> <span class="removed">−${sum("removed")}</span> `;
}

function exited(item) {
  if (item.exit_code) return html`<span class="exit">exit ${item.exit_code}</span> `;
  return ["denied", "timed_out", "cancelled", "orphaned"].includes(item.status)
    ? html`<span class="exit">${item.status === "orphaned" ? "cut off" : words(item.status)}</span> `
    : nothing;
}

function took(item, around) {
  if (around.isOpen) return item.begin === undefined ? "" : duration(Math.max(0, Math.floor(Date.now() / 1000 - item.begin)));
  const seconds = (item.end ?? NaN) - (item.begin ?? NaN);
  return seconds >= 0.1 ? duration(seconds) : "";
}

/** Why a call failed, or what would allow it. */
function failure(item, { denial, isUnfolded }) {
  if (denial?.detail && item.status === "denied") return html`<p class="why">allow it: <code>${denial.detail}</code></p>`;
  if (!item.detail || isUnfolded || !["error", "timed_out"].includes(item.status)) return nothing;
  return html`<p class="why mono">${item.detail}</p>`;
}

// What is said

function text(item, around) {
  const whole = around.body?.text?.text ?? item.title ?? "";
  const isLong = whole.length > LONGEST_SHOWN && !around.isUnfolded;
  return html`<div class="said" data-time=${around.offset}>${markdown(isLong ? whole.slice(0, LONGEST_SHOWN) : whole)}
    ${isLong ? html`<button class="unfold quiet">Show all of it</button>` : nothing}</div>`;
}

function message(item, around) {
  return html`<div class="said prompt" data-time=${around.offset}>${around.body?.text?.text ?? item.title ?? ""}</div>`;
}

function thinking(item, around) {
  const isShort = !item.size || item.size <= (item.title ?? "").length;
  const content = html`<span class="title">${item.title || "Thinking, not shown by the agent"}</span>`;
  if (isShort) return line(around, "think", content);
  return html`${head(item, around, "think", content)}
    ${around.isUnfolded ? html`<div class="thought">${around.body ? markdown(around.body.text?.text ?? "") : "…"}</div>` : nothing}`;
}

// Everything else is one line

function plain(item, around) {
  const content = html`<b>${words(item.name ?? item.kind)}</b><span class="title">${item.title ?? item.detail ?? ""}</span>`;
  return line(around, item.kind, content, item.status ? words(item.status) : nothing);
}

function session(item, around) {
  return line(around, "session", html`<span class="title">${[item.title, item.name, item.detail].filter(Boolean).join(" · ")}</span>`);
}

function turn(item, around) {
  if (item.status === "error") return line(around, "error", html`<b>Turn failed</b><span class="title">${item.detail ?? ""}</span>`, turnFacts(item));
  const origin = item.name && item.name !== "prompt" ? ` by ${words(item.name)}` : "";
  return line(around, "turn", html`<span class="title">Turn${origin}</span>`, turnFacts(item));
}

function turnFacts(item) {
  const cost = item.cost_usd === undefined ? "" : money({ usd: item.cost_usd, source: "native" });
  return [item.number ? count(item.number, "step") : "", cost].filter(Boolean).join(" · ");
}

function file(item, around) {
  const lines = item.added === undefined ? nothing : html`<span class="added">+${item.added}</span> <span class="removed">−${item.removed ?? "?"}</span>`;
  return line(around, "edit", html`<b>${words(item.name ?? "changed")}</b><span class="title mono">${relative(item.title ?? "", around.cwd)}</span>`, lines);
}

function retry(item, around) {
  const attempt = item.number === undefined ? "" : `attempt ${item.number}${item.of === undefined ? "" : ` of ${item.of}`}`;
  return line(around, around.isOpen ? "spin" : "retry", html`<b>Retry</b><span class="title">${item.title}</span>`, attempt);
}

function limit(item, around) {
  const used = item.used === undefined ? "" : `${percent(item.used)} used`;
  return line(around, "limit", html`<b>Limit</b><span class="title">${words(item.name ?? "")} ${words(item.status ?? "")}</span>`, used);
}

function denial(item, around) {
  return html`${line(around, "denial", html`<b>Denied</b><span class="title mono">${[item.name, item.title].filter(Boolean).join(": ")}</span>`)}
    ${item.detail ? html`<p class="why">allow it: <code>${item.detail}</code></p>` : nothing}`;
}

function question(item, around) {
  const { decision } = around;
  const what = html`<b>${around.isOpen ? "Asks you" : "Asked"}</b><span class="title mono">${[item.name, item.title].filter(Boolean).join(": ")}</span>`;
  const answer = decision ? decided(decision) : item.status === "denied" ? "no" : item.status === "ok" ? "yes" : "";
  if (around.isOpen) return line(around, "question", what, html`<a class="answer" href="#/questions">Answer</a>`);
  return line(around, "question", what, answer);
}

function decided({ decision, rule }) {
  const by = { person: "you", rule: "an earlier answer", timeout: "no answer in time", nobody: "no person to ask", program: "a program" }[decision?.by] ?? "";
  const word = decision?.allow ? (rule ? "yes, always" : "yes") : decision?.reason ? `no: ${decision.reason}` : "no";
  return by ? `${word} · ${by}` : word;
}

function compaction(item, around) {
  return line(around, "compaction", html`<b>Context compacted</b><span class="title">${tokens(item.number)} to ${tokens(item.of)} tokens</span>`);
}

function model(item, around) {
  return line(around, "model", html`<b>Model</b><span class="title">${item.name ?? "?"} to ${item.title ?? "?"} ${item.detail ?? ""}</span>`);
}

function unreadable(item, around) {
  return line(around, "unknown", html`<b>${item.name === "oversized" ? "Too long to show" : "Not a message"}</b><span class="title mono">${item.title ?? ""}</span>`);
}

function unknown(item, around) {
  return line(around, "unknown", html`<b>Unknown message</b><span class="title mono">${item.title ?? ""}</span>`);
}

function notice(item, around) {
  const name = { warning: "Warning", error: "Error" }[item.name] ?? "Notice";
  return line(around, "notice", html`<b>${name}</b><span class="title">${item.title ?? ""}</span>`);
}

function error(item, around) {
  return line(around, "error", html`<b>Error</b><span class="title">${item.title ?? words(item.name)}</span>`);
}

function mode(item, around) {
  return line(around, "mode", html`<b>Mode</b><span class="title">${words(item.title)}</span>`);
}

function task(item, around) {
  const summary = item.detail ? ` · ${item.detail}` : "";
  return line(around, around.isOpen ? "spin" : "task", html`<b>Background</b><span class="title">${item.title ?? words(item.name)}${summary}</span>`, took(item, around));
}

const ROWS = { tool, subagent, text, message, thinking, session, turn, file, retry, limit, denial, question, compaction, model, unknown, unreadable, notice, error, mode, task };
