// Now: what runs, what asks, what failed since you looked, and every run before.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { lastLooked, looked } from "../data/seen.js";
import { link } from "../router.js";
import { clock, count, day, duration, firstLine, lastPart, moment, money, total, words } from "../text/format.js";
import { activity } from "../parts/activity.js";
import { command } from "../parts/copy.js";
import { asking } from "../parts/asking.js";
import { isFailure, status } from "../parts/status.js";

const DAY = 86_400;

export class NowView {
  title = "Now";
  #app;
  #filter = "";
  #looked = lastLooked() || Date.now() / 1000 - DAY;

  constructor(app) {
    this.#app = app;
  }

  render() {
    const { runs, questions } = this.#app;
    const rows = runs.rows;
    const alive = rows.filter((row) => row.alive);
    const failed = rows.filter((row) => this.#isNews(row));
    if (runs.isLoaded && !rows.length) return empty();
    return html`<div class="page now">
      <header class="view-head"><h1>Now</h1><p>${this.#summary(alive, rows)}</p></header>
      ${runs.problem ? html`<p class="problem" role="alert">${runs.problem}</p>` : nothing}
      ${questions.open.length ? waiting(questions.open) : nothing}
      ${alive.length ? running(alive) : nothing}
      ${failed.length ? this.#failures(failed) : nothing}
      ${this.#earlier(rows.filter((row) => !row.alive))}
    </div>`;
  }

  key(event) {
    if (event.key === "/") return this.#focusFilter();
    if (event.key === "Escape" && this.#filter) return this.#setFilter("");
    const step = { j: 1, k: -1, g: -Infinity, G: Infinity }[event.key];
    return step !== undefined && move(step);
  }

  #summary(alive, rows) {
    const today = rows.filter((row) => row.started_at > Date.now() / 1000 - DAY);
    const running = alive.length ? `${count(alive.length, "run")} at work` : "Nothing runs";
    const spent = today.length ? ` · ${money(total(today.map((row) => row.cost)))}` : "";
    return `${running} · ${count(today.length, "run")} in 24 hours${spent}`;
  }

  #isNews(row) {
    return !row.alive && isFailure(row.status) && (row.ended_at ?? row.started_at ?? 0) > this.#looked;
  }

  #failures(rows) {
    return html`<section aria-labelledby="failed">
      <div class="section-head"><h2 id="failed">Failed since you looked</h2>
        <button class="quiet" @click=${() => this.#seen()}>Mark as seen</button></div>
      <div class="rows">${repeat(rows, (row) => row.name, runRow)}</div>
    </section>`;
  }

  #earlier(rows) {
    const shown = rows.filter((row) => matches(row, this.#filter));
    return html`<section aria-labelledby="earlier">
      <div class="section-head"><h2 id="earlier">All runs</h2>
        <label class="filter i-search"><span class="unseen">Filter runs</span>
          <input type="search" placeholder="Filter" .value=${this.#filter} @input=${(event) => this.#setFilter(event.target.value)}></label></div>
      ${shown.length ? byDay(shown) : html`<p class="none">${this.#app.runs.isLoaded ? "No run matches." : "Reading the list of runs…"}</p>`}
      ${this.#app.runs.next === null ? nothing : html`<button class="more" @click=${() => this.#app.runs.older()}>Show older runs</button>`}
    </section>`;
  }

  #seen() {
    looked();
    this.#looked = lastLooked();
    this.#app.update();
  }

  #setFilter(text) {
    this.#filter = text;
    this.#app.update();
    return true;
  }

  #focusFilter() {
    document.querySelector(".filter input")?.focus();
    return true;
  }
}

function matches(row, filter) {
  const text = [row.name, row.title, row.agent, row.status, row.model, row.cwd, row.loop].join(" ").toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => text.includes(words(word)) || text.includes(word));
}

function move(step) {
  const rows = [...document.querySelectorAll("#main a.run-row, #main a.run-card, #main a.ask-row")];
  const at = rows.indexOf(document.activeElement);
  const next = Math.max(0, Math.min(rows.length - 1, at < 0 ? (step > 0 ? Math.min(0, step) : 0) : at + step));
  rows[Number.isFinite(step) ? next : step > 0 ? rows.length - 1 : 0]?.focus();
  return rows.length > 0;
}

function waiting(questions) {
  return html`<section aria-labelledby="waiting"><h2 id="waiting">Waiting for you</h2>
    <div class="rows">${repeat(questions, (one) => `${one.run}/${one.id}`, askRow)}</div></section>`;
}

function askRow(question) {
  return html`<a class="ask-row" href=${link("questions", question.run, question.id)}>
    <span class="status asks">asks you</span>
    <span class="what"><b>${asking(question)}</b> <code>${firstLine(question.title ?? question.questions?.[0]?.text ?? question.detail?.[0])}</code></span>
    <span class="where">${question.run}</span>
    <span class="when">${moment(question.asked_at)}</span>
    <span class="go">Answer</span>
  </a>`;
}

function running(rows) {
  return html`<section aria-labelledby="running"><h2 id="running">Running</h2>
    <div class="cards">${repeat(rows, (row) => row.name, runCard)}</div></section>`;
}

function runCard(row) {
  return html`<a class="card run-card" href=${link("runs", row.name)}>
    <span class="card-top">${status(row)}<span class="when">${clock(Date.now() / 1000 - (row.started_at ?? Date.now() / 1000))}</span></span>
    <b class="title">${row.title}</b>
    ${activity(row)}
    <span class="facts"><span>${row.agent}</span><span>${row.model ?? ""}</span><span>${lastPart(row.cwd)}</span><span class="cost">${money(row.cost)}</span></span>
  </a>`;
}

function byDay(rows) {
  const days = new Map();
  for (const row of rows) {
    const name = day(row.started_at ?? 0);
    days.set(name, [...(days.get(name) ?? []), row]);
  }
  return [...days].map(([name, group]) => html`<h3 class="day">${name}</h3>
    <div class="rows">${repeat(group, (row) => row.name, runRow)}</div>`);
}

function runRow(row) {
  return html`<a class="run-row" href=${link("runs", row.name)}>
    ${status(row)}
    <span class="title">${row.title}</span>
    <span class="where">${row.agent} · ${lastPart(row.cwd)}</span>
    <span class="when">${moment(row.started_at)}</span>
    <span class="time">${row.duration_s == null ? "" : duration(row.duration_s)}</span>
    <span class="cost">${money(row.cost)}</span>
  </a>`;
}

function empty() {
  return html`<div class="page empty">
    <span class="rook" aria-hidden="true"></span>
    <h1>No runs yet</h1>
    <p>Start an agent in a terminal: it appears here while it works.</p>
    ${command('rook run "Fix the failing tests"')}
    ${command("rook demo", "or without a key")}
  </div>`;
}
