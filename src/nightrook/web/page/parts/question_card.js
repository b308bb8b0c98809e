// One question of an agent. It can be decided once all that decides has been in sight.
//
// The agent's words stand behind a bar, in their own place; nothing of them is a label of ours.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { link } from "../router.js";
import { clock, moment } from "../text/format.js";
import { visible, visibleParts } from "../text/visible.js";
import { asking } from "./asking.js";
import { SeenParts } from "./seen_parts.js";
import { runs } from "./tool_body.js";

const FEWEST_MILLISECONDS = 400; // in sight before a button works: a card must not appear under a click

export class QuestionCard {
  #questions;
  #onchange;
  #seen;
  #since = null;
  isBusy = false;
  problem = null;
  isGivingReason = false;
  reason = "";
  answers = new Map(); // by the text of each question: the labels that are chosen
  others = new Map(); // and the words that were typed

  constructor(question, questions, onchange) {
    this.question = question;
    this.#questions = questions;
    this.#onchange = onchange;
    this.#seen = new SeenParts(() => this.#onchange());
  }

  /** Whether it may be decided: everything was in sight, long enough. */
  get isSeen() {
    return this.#seen.isComplete && this.#since !== null && performance.now() - this.#since >= FEWEST_MILLISECONDS;
  }

  /** Watch what is in sight; after each drawing. */
  rendered(element) {
    if (!element) return;
    const covered = element.querySelector("footer")?.offsetHeight ?? 0;
    this.#seen.watch(document.getElementById("main"), element.querySelectorAll("[data-part]"), covered);
    if (this.#since === null && this.#seen.isComplete) {
      this.#since = performance.now();
      setTimeout(this.#onchange, FEWEST_MILLISECONDS + 20);
    }
  }

  close() {
    this.#seen.close();
  }

  render({ run, isReadOnly }) {
    const { question } = this;
    return html`<article class="question ${question.decided ? "over" : ""}" id=${`question-${question.place}`} tabindex="-1" aria-label=${`${question.run} ${asking(question)}`}>
      <header>
        <h2><b>${run?.agent ?? "The agent"}</b> ${asking(question)}</h2>
        <p class="run-facts"><a href=${link("runs", question.run)}>${run?.title ?? question.run}</a> · ${moment(question.asked_at)}${deadline(question)}</p>
      </header>
      ${this.#remarks(run)}
      ${this.#subject()}
      ${question.always && !question.decided ? scope(question) : nothing}
      ${question.decided ? outcome(question, () => this.#questions.dismiss(question)) : isReadOnly ? html`<p class="none">This page is read-only: answer on the terminal.</p>` : this.#buttons()}
    </article>`;
  }

  #remarks(run) {
    const { question } = this;
    const rows = [];
    if (question.name && question.about !== "questions") rows.push(["Tool", question.name]);
    if (question.kind === "execute") rows.push(["In", question.cwd ?? run?.cwd ?? ""]);
    for (const note of question.notes ?? []) rows.push(["Note", note]);
    if (question.purpose) rows.push(["Because", question.purpose]);
    if (question.reason) rows.push(["Needs approval", question.reason]);
    if (!rows.length) return nothing;
    return html`<dl class="remarks">${rows.map(([label, text], at) => html`<dt>${label}</dt><dd>${words(text, `remark-${at}`)}</dd>`)}</dl>`;
  }

  #subject() {
    const { question } = this;
    const title = question.title ? barred(question.title, "title") : [];
    const detail = question.detail?.length ? barred(question.detail.join("\n"), question.kind === "edit" ? "diff" : "plan") : [];
    const asks = question.questions ?? [];
    if (!title.length && !detail.length && !asks.length) return html`<p class="none" data-part="none">The agent does not say what exactly.</p>`;
    return html`${title}${detail}${asks.map((one, at) => this.#choices(one, at))}`;
  }

  #choices(ask, at) {
    const chosen = this.answers.get(ask.text) ?? new Set();
    const kind = ask.several ? "checkbox" : "radio";
    return html`<fieldset class="choices" ?disabled=${Boolean(this.question.decided)}>
      <legend class="agent">${words(ask.text, `ask-${at}`)}</legend>
      ${ask.options.map((option, number) => html`<label><input type=${kind} name=${`${this.question.place}-${at}`} .checked=${chosen.has(option.label)}
        @change=${(event) => this.#choose(ask, option.label, event.target.checked)}><span class="agent"><b>${words(option.label, `label-${at}-${number}`)}</b>${option.description ? html`<span class="why">${words(option.description, `about-${at}-${number}`)}</span>` : nothing}</span></label>`)}
      <label class="other"><span>${ask.options.length ? "Or in your own words" : "Your answer"}</span>
        <input type="text" .value=${this.others.get(ask.text) ?? ""} @input=${(event) => this.#type(ask, event.target.value)}></label>
    </fieldset>`;
  }

  #choose(ask, label, isChosen) {
    const chosen = ask.several ? new Set(this.answers.get(ask.text)) : new Set();
    if (isChosen) chosen.add(label);
    else chosen.delete(label);
    this.answers.set(ask.text, chosen);
    this.#onchange();
  }

  #type(ask, text) {
    this.others.set(ask.text, text);
    this.#onchange();
  }

  #answer(ask) {
    const typed = (this.others.get(ask.text) ?? "").trim();
    return typed || [...(this.answers.get(ask.text) ?? [])].join(", ");
  }

  #buttons() {
    const { question } = this;
    const waits = !this.isSeen || this.isBusy; // guards: allowed-when-seen
    const asks = question.questions ?? [];
    const isAnswered = asks.every((ask) => this.#answer(ask));
    return html`<footer>
      ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
      ${this.isGivingReason ? this.#reasonForm() : nothing}
      ${!this.#seen.isComplete ? html`<p class="hint i-down">Scroll to the end to decide</p>` : nothing}
      <div class="buttons">
        ${question.about === "questions"
          ? html`<button class="primary" ?disabled=${waits || !isAnswered} @click=${() => this.decide({ allow: true, answers: this.#answers() })}>Answer</button>`
          : html`<button class="primary" ?disabled=${waits} @click=${() => this.decide({ allow: true })}>${question.about === "plan" ? "Yes, continue" : "Allow once"}</button>`}
        ${question.always ? html`<button ?disabled=${waits} @click=${() => this.decide({ allow: true, always: true })}>Always in this run</button>` : nothing}
        <button ?disabled=${this.isBusy} @click=${() => this.decide({ allow: false })}>${question.about === "questions" ? "No answer" : "No"}</button>
        ${question.about === "questions" || this.isGivingReason ? nothing : html`<button ?disabled=${this.isBusy} @click=${() => this.#giveReason()}>No, and say why</button>`}
      </div>
    </footer>`;
  }

  #reasonForm() {
    return html`<form class="reason" @submit=${(event) => (event.preventDefault(), this.decide({ allow: false, reason: this.reason.trim() || null }))}>
      <label>Why not? The agent reads it.<textarea rows="2" .value=${this.reason} @input=${(event) => (this.reason = event.target.value)}></textarea></label>
      <button class="danger" ?disabled=${this.isBusy}>No, for this reason</button>
    </form>`;
  }

  #giveReason() {
    this.isGivingReason = true;
    this.#onchange();
    requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector(`#question-${this.question.place} textarea`)?.focus()));
  }

  #answers() {
    return Object.fromEntries((this.question.questions ?? []).map((ask) => [ask.text, this.#answer(ask)]));
  }

  async decide(decision) {
    if (this.isBusy || (decision.allow && !this.isSeen)) return;
    this.isBusy = true;
    this.#onchange();
    this.problem = await this.#questions.decide(this.question, decision);
    this.isBusy = false;
    this.#onchange();
  }
}

/** What "always" allows: this very call, or more. */
function scope({ always, scope: said, name, title }) {
  const isExact = always === `${name}(${title})` && !said;
  return html`<dl class="remarks"><dt>Always allows</dt><dd>${isExact ? "exactly this call" : words(said ?? always, "scope")}</dd></dl>`;
}

/** Words of the agent beside a label of ours, in parts that can be seen whole. */
function words(text, name) {
  return visibleParts(text).map((lines, at) => html`<span class="words" data-part=${`${name}-${at}`}>${lines.map(shown)}</span>`);
}

/** Lines of the agent behind a bar, in parts that can be seen whole. */
function barred(text, kind) {
  return visibleParts(text).map((lines, at) => html`<pre class="subject agent ${kind} ${at ? "rest" : ""}" data-part=${`${kind}-${at}`}>${kind === "diff" ? coloured(lines) : lines.map(shown)}</pre>`);
}

function coloured(lines) {
  return runs(lines.map((line) => line.text)).map(([kind, some]) => html`<span class=${kind}>${some.join("\n")}\n</span>`);
}

function shown(line, at) {
  const end = at ? "\n" : "";
  return line.ours ? html`${end}<i>${line.text}</i>` : `${end}${line.text}`;
}

function deadline({ until, decided }) {
  if (!until || decided) return nothing;
  return html` · <span class="until">${clock(Math.max(0, until - Date.now() / 1000))} left, then no</span>`;
}

const BY = { timeout: "no answer in time", rule: "an earlier answer", nobody: "no person to ask", program: "a program" };
const THROUGH = { web: "on this page", terminal: "on a terminal" };

function outcome({ decided }, ondismiss) {
  const word = decided.allow === undefined ? "Answered elsewhere" : decided.allow ? (decided.always ? "Allowed, always in this run" : decided.answers ? "Answered" : "Allowed") : "Denied";
  const who = decided.mine ? "by you" : decided.sentence ?? [BY[decided.by] ?? "", THROUGH[decided.through] ?? ""].filter(Boolean).join(" ");
  return html`<footer class="outcome ${decided.allow ? "good" : "stopped"}" role="status"><b>${word}</b> ${who}
    <button class="quiet" @click=${ondismiss}>Dismiss</button></footer>`;
}
