// Draws a tree of Markdown as nodes. Every text in it is text, never HTML.

import { html } from "../vendor/lit-html/lit-html.js";
import { parse } from "../text/markdown.js";

/** The nodes of a text that an agent wrote. */
export function markdown(text) {
  return html`<div class="markdown">${parse(text).map(block)}</div>`;
}

function block(one) {
  switch (one.type) {
    case "heading":
      return html`<p class="h${Math.min(one.level, 4)}" role="heading" aria-level=${Math.min(one.level + 2, 6)}>${one.inline.map(inline)}</p>`;
    case "code":
      return html`<pre tabindex="0">${one.text}</pre>`;
    case "quote":
      return html`<blockquote>${one.blocks.map(block)}</blockquote>`;
    case "list":
      return one.ordered ? html`<ol start=${one.start}>${one.items.map(item)}</ol>` : html`<ul>${one.items.map(item)}</ul>`;
    case "table":
      return html`<div class="table-box" tabindex="0"><table>
        <thead><tr>${one.head.map((cell) => html`<th>${cell.map(inline)}</th>`)}</tr></thead>
        <tbody>${one.rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell.map(inline)}</td>`)}</tr>`)}</tbody>
      </table></div>`;
    case "rule":
      return html`<hr>`;
    default:
      return html`<p>${one.inline.map(inline)}</p>`;
  }
}

function item({ checked, blocks }) {
  const mark = checked === null ? "" : html`<span class="tick ${checked ? "i-check" : "i-circle"}"></span>`;
  const [first, ...rest] = blocks;
  if (first?.type !== "paragraph") return html`<li>${mark}${blocks.map(block)}</li>`;
  return html`<li>${mark}${first.inline.map(inline)}${rest.map(block)}</li>`;
}

function inline(part) {
  switch (part.type) {
    case "code":
      return html`<code>${part.text}</code>`;
    case "strong":
      return html`<strong>${part.parts.map(inline)}</strong>`;
    case "em":
      return html`<em>${part.parts.map(inline)}</em>`;
    case "del":
      return html`<del>${part.parts.map(inline)}</del>`;
    case "link":
      return link(part);
    default:
      return part.text;
  }
}

/** A link; where its text is not its address, the address is shown, too. */
function link({ text, address }) {
  const shown = text === address ? address : html`${text} <span class="address">(${address})</span>`;
  return html`<a href=${address} target="_blank" rel="noopener noreferrer nofollow">${shown}</a>`;
}
