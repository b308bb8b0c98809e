// Loops and batches: each with its runs, and why it continued or ended.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { link } from "../router.js";
import { count, duration, firstLine, lastPart, moment, money, total, words } from "../text/format.js";
import { command } from "../parts/copy.js";
import { tone } from "../parts/status.js";

export class LoopsView {
  title = "Loops and batches";
  #app;
  #loops = null;
  #batches = null;
  #problem = null;

  constructor(app) {
    this.#app = app;
    this.#load();
  }

  render() {
    const isEmpty = this.#loops?.length === 0 && this.#batches?.length === 0;
    return html`<div class="page loops">
      <header class="view-head"><h1>Loops and batches</h1><p>${this.#loops ? `${count(this.#loops.length, "loop")} · ${this.#batches.length} batch${this.#batches.length === 1 ? "" : "es"}` : "Reading…"}</p></header>
      ${this.#problem ? html`<p class="problem" role="alert">${this.#problem}</p>` : nothing}
      ${isEmpty ? empty() : nothing}
      ${this.#loops?.length ? html`<section aria-labelledby="loops"><h2 id="loops">Loops</h2>${repeat(this.#loops, (one) => one.loop, loop)}</section>` : nothing}
      ${this.#batches?.length ? html`<section aria-labelledby="batches"><h2 id="batches">Batches</h2>${repeat(this.#batches, (one) => one.batch, batch)}</section>` : nothing}
    </div>`;
  }

  heard(type) {
    if (type === "list" || type === "state") this.#load();
  }

  key(event) {
    const step = { j: 1, k: -1 }[event.key];
    if (!step) return false;
    const all = [...document.querySelectorAll(".group summary")];
    const at = all.indexOf(document.activeElement);
    all[Math.max(0, Math.min(all.length - 1, at + step))]?.focus();
    return true;
  }

  async #load() {
    try {
      const [loops, batches] = await Promise.all([this.#app.api.get("/api/loops"), this.#app.api.get("/api/batches")]);
      this.#loops = loops.loops;
      this.#batches = batches.batches;
      this.#problem = null;
    } catch (error) {
      this.#problem = error.message;
    }
    this.#app.update();
  }
}

function loop(one) {
  const { state } = one;
  if (!state) return html`<p class="problem">${one.loop}: ${one.error ?? "it has not started"}</p>`;
  const attempts = state.attempts ?? [];
  const end = state.end ?? (one.running === false ? "interrupted" : "running");
  const cost = total(attempts.map(({ report }) => ({ usd: report.spent_usd, source: report.cost_source })));
  return group({
    status: end,
    title: firstLine(one.prompt) || one.loop,
    facts: [one.loop, state.agent, lastPart(one.cwd), count(attempts.length, "iteration"), moment(state.started_at)],
    cost: money(cost),
    reason: state.wait && end === "running" ? `waits: ${state.wait.reason}` : state.reason,
    rows: attempts.map(attempt),
  });
}

function attempt({ iteration, report, checks, change, why }) {
  const failed = (checks ?? []).find((check) => !check.ok);
  const outcome = report.status === "success" && failed ? "not done" : report.status;
  const files = change?.files ? `${count(change.files, "file")}${change.added == null ? "" : ` +${change.added} −${change.removed}`}` : "";
  return row({ number: iteration, status: outcome, title: why || report.sentence, where: files, time: report.ended_at - report.started_at, cost: { usd: report.spent_usd, source: report.cost_source }, run: report.run });
}

function batch(one) {
  if (one.problem) return html`<p class="problem">${one.batch}: ${one.problem}</p>`;
  return group({
    status: one.status,
    title: firstLine(one.tasks[0]?.prompt) + (one.tasks.length > 1 ? ` and ${one.tasks.length - 1} more` : "") || one.batch,
    facts: [one.batch, `${one.done} of ${count(one.tasks.length, "task")}`, one.failed ? `${one.failed} failed` : "", moment(one.created_at)],
    cost: money({ usd: one.spent_usd, source: one.cost_source, at_least: one.unknown_costs > 0 }),
    rows: one.tasks.map((task) => row({ number: task.id, status: task.status, title: firstLine(task.prompt), where: task.sentence, time: task.duration_s, cost: { usd: task.spent_usd, source: task.cost_source }, run: task.run })),
  });
}

function group({ status, title, facts, cost, reason, rows }) {
  return html`<details class="card group" ?open=${status === "running"}>
    <summary><span class="status ${tone(status)}">${words(status)}</span><span class="title">${title}</span>
      <span class="where">${facts.filter(Boolean).join(" · ")}</span><span class="cost">${cost}</span></summary>
    ${reason ? html`<p class="why">${reason}</p>` : nothing}
    <div class="rows">${rows}</div>
  </details>`;
}

function row({ number, status, title, where, time, cost, run }) {
  const content = html`<span class="number">${number}</span><span class="status ${tone(status)}">${words(status)}</span><span class="title">${title}</span>
    <span class="where">${where ?? ""}</span><span class="time">${time == null ? "" : duration(time)}</span><span class="cost">${status === "waiting" ? "" : money(cost)}</span>`;
  return run ? html`<a class="step-row" href=${link("runs", run)}>${content}</a>` : html`<div class="step-row">${content}</div>`;
}

function empty() {
  return html`<div class="empty"><p>A loop runs an agent again until the work is done; a batch runs many tasks side by side.</p>
    ${command('rook loop "Make the tests pass" --check "make test"')}
    ${command("rook batch tasks.jsonl")}</div>`;
}
