// Beside the timeline: what the run does now, its money, tokens and context, its plan, how to resume it.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { count, money, percent, tokens } from "../text/format.js";
import { activity } from "./activity.js";
import { command } from "./copy.js";

/** Beside the timeline, where there is room. */
export function runSide(view) {
  return view.snapshot ? html`<aside class="side" aria-label="About the run">${sections(view)}</aside>` : nothing;
}

/** Above the timeline, folded, on a narrow screen. */
export function runDetails(view) {
  const { snapshot } = view;
  if (!snapshot) return nothing;
  const steps = snapshot.plan?.total ? `plan ${snapshot.plan.done ?? 0} of ${snapshot.plan.total}` : "";
  const facts = [money(snapshot.cost), count(snapshot.tools?.started ?? 0, "tool call"), steps].filter(Boolean);
  return html`<details class="about"><summary>${facts.join(" · ")}</summary><div class="side">${sections(view)}</div></details>`;
}

function sections({ head, snapshot }) {
  return html`${head.alive ? now(snapshot, head) : nothing}
    ${plan(snapshot.plan)}
    ${figures(snapshot, head)}
    ${(snapshot.quotas ?? []).filter((quota) => quota.used !== undefined).map(limit)}
    ${head.alive ? html`<section>${command(`rook attach ${head.name}`, "on a terminal")}</section>` : nothing}`;
}

function now(snapshot, head) {
  const open = snapshot.open_tools ?? [];
  return html`<section><h2>Now</h2>
    ${activity(head)}
    ${open.length > 1 ? html`<ul class="open">${open.slice(-4).map((tool) => html`<li><b>${tool.name}</b> <span class="mono">${tool.title ?? ""}</span></li>`)}</ul>` : nothing}
  </section>`;
}

const STEPS = { completed: "check", done: "check", in_progress: "dot", pending: "circle" };

function plan(made) {
  if (!made?.steps?.length) return nothing;
  return html`<section><h2>Plan <span class="when">${made.done ?? 0} of ${made.total ?? made.steps.length}</span></h2>
    <progress max=${made.total ?? made.steps.length} value=${made.done ?? 0} aria-label="Steps done"></progress>
    <ol class="plan">${made.steps.map((step) => html`<li class="i-${STEPS[step.status] ?? "circle"} ${step.status}">${step.text}</li>`)}</ol></section>`;
}

function figures(snapshot, head) {
  const used = snapshot.tokens ?? {};
  const total = (used.input ?? 0) + (used.output ?? 0) + (used.cache_read ?? 0) + (used.cache_write ?? 0);
  const isKnown = used.input !== null && used.input !== undefined;
  const tools = snapshot.tools ?? {};
  const files = snapshot.files ?? {};
  const cost = snapshot.cost ?? head.cost;
  return html`<section><h2>Figures</h2><dl class="figures">
    <dt>Cost</dt><dd><b>${money(cost)}</b> <span class="when">${source(cost)}</span></dd>
    <dt>Tokens</dt><dd>${isKnown ? html`${tokens(total)} <span class="when">${tokens(used.output ?? 0)} output</span>` : "unknown"}</dd>
    ${snapshot.context_tokens ? html`<dt>Context</dt><dd>${context(snapshot)}</dd>` : nothing}
    <dt>Tools</dt><dd>${tools.started ?? 0}${tools.failed ? html` · <span class="removed">${tools.failed} failed</span>` : nothing}${tools.denied ? html` · <span class="removed">${tools.denied} denied</span>` : nothing}</dd>
    ${files.changed ? html`<dt>Files</dt><dd>${files.changed} ${files.added == null ? nothing : html`<span class="added">+${files.added}</span> <span class="removed">−${files.removed}</span>`}</dd>` : nothing}
    ${snapshot.steps ? html`<dt>Turns</dt><dd>${count(snapshot.steps, "turn")}</dd>` : nothing}
  </dl></section>`;
}

function source(cost) {
  const kind = cost?.source ?? cost?.kind;
  return { native: "reported", estimated: "at list prices" }[kind] ?? "";
}

function context({ context_tokens: used, context_window: window }) {
  if (!window) return tokens(used);
  return html`${percent(used / window)} <span class="when">of ${tokens(window)}</span>
    <progress max=${window} value=${used} aria-label="Context used"></progress>`;
}

function limit(quota) {
  const name = quota.name ?? "limit";
  return html`<section><h2>${name} <span class="when">${percent(quota.used)}</span></h2>
    <progress max="1" value=${quota.used} aria-label=${`${name} used`}></progress></section>`;
}
