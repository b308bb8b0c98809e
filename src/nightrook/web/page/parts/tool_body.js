// What a call was given and what it returned: input, diff, output, each as it is.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { size } from "../text/format.js";

export function toolBody(item, { body, more }) {
  if (!body) return html`<div class="body"><p class="none">Reading…</p></div>`;
  if (body.problem) return html`<div class="body"><p class="problem">${body.problem}</p></div>`;
  const output = body.error ?? body.output;
  return html`<div class="body">
    ${body.diff ? part("Change", body.diff, diff(body.diff.text), () => more("diff")) : body.input ? input(body.input, more) : nothing}
    ${output ? part(body.error ? "Error" : "Output", output, html`<pre tabindex="0">${output.text || "(nothing)"}</pre>`, () => more(body.error ? "error" : "output")) : nothing}
  </div>`;
}

function part(label, { size: whole, text, truncated, problem }, content, onmore) {
  return html`<section class="part"><h4>${label}</h4>${content}
    ${truncated ? html`<button class="quiet" @click=${onmore}>Show more (${size(whole - text.length)} left)</button>` : nothing}
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}</section>`;
}

function input(raw, more) {
  const fields = parsed(raw.text);
  if (!fields) return part("Input", raw, html`<pre tabindex="0">${raw.text}</pre>`, () => more("input"));
  return html`<section class="part"><h4>Input</h4><dl class="fields">
    ${Object.entries(fields).map(([name, value]) => html`<dt>${name}</dt><dd>${typeof value === "string" ? value : JSON.stringify(value, null, 2)}</dd>`)}
  </dl></section>`;
}

/** The fields of a call's input; null if it is not an object, or cut. */
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** A unified diff: added and removed lines in their colours. */
export function diff(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  return html`<pre class="diff" tabindex="0">${runs(lines).map(([kind, some]) => html`<span class=${kind}>${some.join("\n")}\n</span>`)}</pre>`;
}

const KINDS = { "+": "plus", "-": "minus", "@": "hunk" };

/** Lines of one kind that follow each other: one element for all of them. */
export function runs(lines) {
  const found = [];
  for (const one of lines) {
    const kind = KINDS[one[0]] ?? "same";
    if (found.at(-1)?.[0] === kind) found.at(-1)[1].push(one);
    else found.push([kind, [one]]);
  }
  return found;
}
