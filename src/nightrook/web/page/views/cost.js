// Cost: what agents used, by day, project, model or agent. What agents report, what is estimated and what
// is unknown stay apart.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { costChart } from "../parts/cost_chart.js";
import { count, lastPart, tokens } from "../text/format.js";

const GROUPS = [["day", "Day"], ["project", "Project"], ["model", "Model"], ["agent", "Agent"]];
const PERIODS = [["7d", "7 days"], ["30d", "30 days"], ["90d", "90 days"], ["", "All"]];

export class CostView {
  title = "Cost";
  #app;
  #by;
  #since;
  #report = null;
  #days = null;
  #problem = null;
  #chart = null;
  #asked = 0;

  constructor(app, route) {
    this.#app = app;
    this.moved(route);
  }

  moved(route) {
    this.#by = GROUPS.some(([name]) => name === route.query.get("by")) ? route.query.get("by") : "day";
    this.#since = PERIODS.some(([name]) => name === route.query.get("since")) ? route.query.get("since") : "30d";
    this.#load();
    return true;
  }

  render() {
    const report = this.#report;
    return html`<div class="page cost-view">
      <header class="view-head"><h1>Cost</h1>
        <div class="choosers">
          ${chooser("Group by", GROUPS, this.#by, (by) => this.#address(by, this.#since))}
          ${chooser("Period", PERIODS, this.#since, (since) => this.#address(this.#by, since))}
        </div></header>
      ${this.#problem ? html`<p class="problem" role="alert">${this.#problem}</p>` : nothing}
      ${report ? tiles(report) : html`<p class="none">Counting…</p>`}
      <figure class="chart" aria-label="Cost by day" ?hidden=${!this.#days?.rows.length}><div class="plot"></div>
        <figcaption><span class="key native">reported by agents</span><span class="key estimated">estimated at list prices</span></figcaption></figure>
      ${report ? table(report, this.#by) : nothing}
      ${(report?.notes ?? []).map((note) => html`<p class="note">${note}</p>`)}
    </div>`;
  }

  rendered() {
    const place = document.querySelector(".plot");
    if (!place || !this.#days?.rows.length || this.#chart?.place === place) return;
    this.#chart = { place, plot: costChart(place, this.#days.rows) };
  }

  close() {
    this.#chart?.plot.destroy();
  }

  #address(by, since) {
    return `#/cost?by=${by}&since=${since}`;
  }

  async #load() {
    const asked = (this.#asked += 1);
    const query = this.#since ? `&since=${this.#since}` : "";
    try {
      const days = this.#app.api.get(`/api/cost?by=day${query}`);
      const report = this.#by === "day" ? days : this.#app.api.get(`/api/cost?by=${this.#by}${query}`);
      const answers = await Promise.all([days, report]);
      if (asked !== this.#asked) return;
      [this.#days, this.#report] = answers;
      this.#chart?.plot.destroy();
      this.#chart = null;
      this.#problem = null;
    } catch (error) {
      this.#problem = error.message;
    }
    this.#app.update();
  }
}

function chooser(label, choices, chosen, address) {
  return html`<nav class="chooser" aria-label=${label}>${choices.map(([value, text]) => html`<a href=${address(value)} aria-current=${value === chosen ? "true" : nothing}>${text}</a>`)}</nav>`;
}

const dollars = (usd) => `$${usd >= 100 ? usd.toFixed(0) : usd.toFixed(2)}`;

function tiles({ total, saved_usd: saved }) {
  const { native, estimated } = total.cost_usd;
  const all = Object.values(total.tokens).reduce((sum, number) => sum + number, 0);
  return html`<div class="tiles">
    <div class="tile"><span>Reported by agents</span><b>${dollars(native)}</b></div>
    <div class="tile"><span>Estimated at list prices</span><b>~${dollars(estimated)}</b></div>
    <div class="tile"><span>Price unknown</span><b>${total.unpriced_tokens ? tokens(total.unpriced_tokens) : "none"}</b>${total.unpriced_tokens ? html`<small>tokens, in no amount</small>` : nothing}</div>
    <div class="tile"><span>Tokens</span><b>${tokens(all)}</b><small>${count(total.calls, "call")}${saved > 0 ? `, the cache saved ${dollars(saved)}` : ""}</small></div>
  </div>`;
}

function table({ rows }, by) {
  const shown = by === "day" ? [...rows].reverse() : rows;
  const most = Math.max(...rows.map(({ cost_usd: cost }) => cost.native + cost.estimated), 1e-9);
  const label = GROUPS.find(([name]) => name === by)[1];
  return html`<div class="table-box" tabindex="0"><table class="costs">
    <thead><tr><th scope="col">${label}</th><th scope="col" class="share"><span class="unseen">Share</span></th><th scope="col">Reported</th><th scope="col">Estimated</th><th scope="col">Price unknown</th><th scope="col">Tokens</th><th scope="col">Calls</th></tr></thead>
    <tbody>${shown.map((row) => costRow(row, by, most))}</tbody>
  </table></div>`;
}

function costRow(row, by, most) {
  const { title, cost_usd: cost, unpriced_tokens: unpriced, tokens: used, calls } = row;
  const name = title ?? row[by] ?? "unknown";
  const all = Object.values(used).reduce((sum, number) => sum + number, 0);
  return html`<tr><th scope="row" title=${name}>${by === "project" ? lastPart(name) : name}</th>
    <td class="share"><meter class="native" min="0" max=${most} value=${cost.native + cost.estimated} aria-label="Share"></meter></td>
    <td>${cost.native ? dollars(cost.native) : "–"}</td><td>${cost.estimated ? `~${dollars(cost.estimated)}` : "–"}</td>
    <td>${unpriced ? `${tokens(unpriced)} tokens` : "–"}</td><td>${tokens(all)}</td><td>${calls}</td></tr>`;
}
