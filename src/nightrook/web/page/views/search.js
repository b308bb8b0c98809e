// Search: words in the stored sessions of all agents; one card for each session, best first.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { repeat } from "../vendor/lit-html/directives/repeat.js";
import { command } from "../parts/copy.js";
import { go } from "../router.js";
import { count, lastPart, moment, percent, words } from "../text/format.js";

const PAUSE = 250; // milliseconds without a key before words are looked for
const INDEXING_PAUSE = 1_500; // while the index grows, ask again
const KINDS = [["", "Everything"], ["prompt", "Prompts"], ["answer", "Answers"], ["thinking", "Thinking"], ["command", "Commands"], ["path", "Paths"], ["output", "Outputs"]];
const PERIODS = [["7d", "7 days"], ["30d", "30 days"], ["90d", "90 days"], ["", "All time"]];
const AT_ONCE = 3; // hits of a session that are not folded
const FILTERS = ["words", "agent", "project", "kind", "since"];

export class SearchView {
  #app;
  #query = {};
  #found = null;
  #problem = null;
  #asked = 0;
  #timer = 0;

  constructor(app, route) {
    this.#app = app;
    this.moved(route);
  }

  get title() {
    return this.#query.words ? `Search: ${this.#query.words}` : "Search";
  }

  moved(route) {
    this.#query = Object.fromEntries(FILTERS.map((name) => [name, route.query.get(name) ?? ""]));
    this.#load();
    return true;
  }

  render() {
    const { words: text, agent, project, kind, since } = this.#query;
    return html`<div class="page search-view">
      <header class="view-head"><h1>Search</h1><p>${this.#summary()}</p></header>
      <label class="search-box i-search"><span class="unseen">Words</span>
        <input type="search" placeholder="Words in any session" autocomplete="off" spellcheck="false" maxlength="1000"
          .value=${text} @input=${(event) => this.#typed("words", event.target.value)}></label>
      <div class="search-filters">
        ${select("Agent", agent, this.#agents(), (value) => this.#change("agent", value))}
        ${select("Kind", kind, KINDS, (value) => this.#change("kind", value))}
        ${select("Since", since, PERIODS, (value) => this.#change("since", value))}
        <label><span>Project</span><input type="text" placeholder="All" .value=${project} @input=${(event) => this.#typed("project", event.target.value)}></label>
      </div>
      ${this.#problem ? html`<p class="problem" role="alert">${this.#problem}</p>` : nothing}
      ${this.#found?.indexing ? indexing(this.#found.indexing) : nothing}
      ${this.#results()}
    </div>`;
  }

  key(event) {
    if (event.key === "/") return this.#focus();
    const step = { j: 1, k: -1, g: -Infinity, G: Infinity }[event.key];
    if (step === undefined) return false;
    const cards = [...document.querySelectorAll("article.found")];
    const at = cards.indexOf(document.activeElement.closest?.("article.found"));
    cards[Math.max(0, Math.min(cards.length - 1, at + step))]?.focus();
    return cards.length > 0;
  }

  opened() {
    return !this.#query.words && this.#focus();
  }

  close() {
    clearTimeout(this.#timer);
    this.#asked = -1;
  }

  #focus() {
    document.querySelector(".search-box input")?.focus();
    return true;
  }

  #summary() {
    const found = this.#found;
    if (!this.#query.words) return "What you and your agents wrote, in every session on this machine";
    if (!found) return this.#problem ? "" : "Searching…";
    return found.total ? `${count(found.total, "hit")} · ${count(found.sessions.length, "session")}` : "";
  }

  #results() {
    const found = this.#found;
    if (!this.#query.words) return tips();
    if (!found || this.#problem) return nothing;
    if (!found.sessions.length) return html`<p class="none" role="status">${found.indexing ? "Nothing found so far." : "No session has these words."}</p>`;
    return html`<div class="results" role="feed" aria-label="Sessions">
      ${repeat(found.sessions, ({ agent, session }) => `${agent}/${session}`, card)}</div>`;
  }

  /** The agents to choose from: those of runs and of what was found. */
  #agents() {
    const known = new Set([this.#query.agent, ...this.#app.runs.rows.map((row) => row.agent), ...(this.#found?.sessions ?? []).map(({ agent }) => agent)]);
    return [["", "All"], ...[...known].filter(Boolean).sort().map((name) => [name, name])];
  }

  #typed(name, value) {
    this.#query[name] = value;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#change(name, value), PAUSE);
  }

  #change(name, value) {
    const query = Object.entries({ ...this.#query, [name]: value }).filter(([, one]) => one);
    go(`#/search?${new URLSearchParams(query)}`, { replace: true });
  }

  async #load() {
    clearTimeout(this.#timer);
    const asked = (this.#asked += 1);
    if (!this.#query.words.trim()) {
      this.#found = this.#problem = null;
      return;
    }
    let found = null;
    let problem = null;
    try {
      found = await this.#app.api.get(`/api/search?${new URLSearchParams(this.#query)}`);
    } catch (error) {
      problem = error.message;
    }
    if (asked !== this.#asked) return; // other words are looked for, or the view is closed
    [this.#found, this.#problem] = [found, problem];
    if (found?.indexing) this.#timer = setTimeout(() => this.#load(), INDEXING_PAUSE);
    this.#app.update();
  }
}

function select(label, chosen, choices, onchange) {
  return html`<label><span>${label}</span><select @change=${(event) => onchange(event.target.value)}>
    ${choices.map(([value, text]) => html`<option value=${value} ?selected=${value === chosen}>${text}</option>`)}</select></label>`;
}

function indexing({ done, total, left }) {
  return html`<p class="indexing i-spin" role="status">Reading sessions, the newest first${total ? `: ${percent(done / total)}, ${count(left, "file")} left` : "…"}</p>`;
}

function card(found) {
  const best = found.hits.slice(0, AT_ONCE);
  const others = found.hits.slice(AT_ONCE);
  const more = found.count - best.length;
  return html`<article class="card found" tabindex="-1" aria-label=${`${found.agent}, ${lastPart(found.project)}`}>
    <header><b>${lastPart(found.project) || found.session.slice(0, 8)}</b><span>${found.agent}</span>
      <span class="when">${moment(found.at)}</span><code class="when">${found.session.slice(0, 8)}</code></header>
    ${best.map(hit)}
    ${others.length ? html`<details><summary>${count(more, "more hit")}</summary>${others.map(hit)}${more > others.length ? html`<p class="none">The best ${others.length} of them are here.</p>` : nothing}</details>` : nothing}
    ${found.resume ? command(found.resume) : nothing}
  </article>`;
}

function hit({ kind, tool, parts }) {
  return html`<p class="hit"><span class="kind">${words(kind)}${tool ? html` <span class="agent">${tool}</span>` : nothing}</span>
    <span class="excerpt agent">${parts.map(([text, isWord]) => (isWord ? html`<mark>${text}</mark>` : text))}</span></p>`;
}

const TIPS = [["retry backoff", "both words in one message"], ['"connection reset"', "a phrase"], ["deploy*", "words that begin so"], ["migration -test", "without a word"]];

function tips() {
  return html`<dl class="tips">${TIPS.map(([example, meaning]) => html`<dt><a href=${`#/search?${new URLSearchParams({ words: example })}`}><code>${example}</code></a></dt><dd>${meaning}</dd>`)}</dl>`;
}
