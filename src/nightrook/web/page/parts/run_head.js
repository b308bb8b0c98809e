// The head of a run: what was asked, how it stands, how it ended, and what to do next.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { link } from "../router.js";
import { capital, clock, duration, lastPart, moment, money, words } from "../text/format.js";
import { command } from "./copy.js";
import { markdown } from "./markdown_view.js";
import { status, tone } from "./status.js";

/** What stays in sight: what was asked, how it stands, how long it takes and what it costs. */
export function runBar(view) {
  const { head } = view;
  return html`<header class="run-bar">
      <a class="back i-back" href="#/" aria-label="All runs"></a>
      <h1>${head.title}</h1>
      ${status(head)}
      <span class="run-figures"><span>${elapsed(head)}</span><span class="cost">${money(view.snapshot?.cost ?? head.cost)}</span></span>
      ${head.alive && !view.isReadOnly ? stop(view) : nothing}
    </header>`;
}

/** How it was started, how it ended, and its answer. */
export function runIntro(view) {
  const { head } = view;
  return html`<div class="run-intro">
      <p class="run-facts">${facts(head)}</p>
      ${view.problem ? html`<p class="problem" role="alert">${view.problem}</p>` : nothing}
      ${prompt(head)}
      ${head.questions > 0 && head.alive ? html`<a class="ask-banner" href=${link("questions")}>It waits for your answer <span class="go">Answer</span></a>` : nothing}
      ${head.verdict ? verdict(head) : nothing}
      ${head.answer ? answer(head.answer) : nothing}
    </div>`;
}

function elapsed(head) {
  if (!head.alive) return head.duration_s === null ? "" : duration(head.duration_s);
  return head.started_at === null ? "" : clock(Date.now() / 1000 - head.started_at);
}

function facts(head) {
  const { agent, model, cwd, started_at: started, name } = head;
  return [agent, model, lastPart(cwd), moment(started), name].filter(Boolean).map((fact, at) => html`${at ? " · " : ""}<span>${fact}</span>`);
}

function prompt({ prompt: text, title, command: line }) {
  if (text && text.trim() !== title) return html`<details class="asked"><summary>The whole prompt</summary><pre tabindex="0">${text}</pre></details>`;
  return text || !line ? nothing : html`<details class="asked"><summary>The command</summary><pre tabindex="0">${line}</pre></details>`;
}

function verdict({ verdict: made }) {
  const { status: end, sentence, warnings, next } = made;
  return html`<section class="verdict ${tone(end)}" aria-label="Verdict">
    <h2>${capital(words(end))}</h2>
    ${sentence && sentence !== end ? html`<p>${sentence}</p>` : nothing}
    ${(warnings ?? []).map((warning) => html`<p class="warning i-error">${warning}</p>`)}
    ${(next ?? []).length ? html`<div class="next">${next.map((step) => (step.command ? command(step.command, step.text) : html`<p>${step.text}</p>`))}</div>` : nothing}
  </section>`;
}

function answer(text) {
  return html`<section class="answer" aria-label="Answer"><h2>Answer</h2>${markdown(text)}</section>`;
}

function stop(view) {
  if (view.stopped) return html`<span class="when" role="status">${view.stopped}</span>`;
  if (!view.isConfirming) return html`<button class="stop i-stop" @click=${() => confirm(view, true)}>Stop</button>`;
  return html`<span class="confirm" role="group" aria-label="Stop the run?">
    <button class="danger" @click=${() => view.stop()}>Stop the run</button>
    <button class="quiet" @click=${() => confirm(view, false)}>Keep it running</button></span>`;
}

function confirm(view, asks) {
  view.isConfirming = asks;
  view.update();
}
