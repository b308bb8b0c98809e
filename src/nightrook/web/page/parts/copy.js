// A command that can be copied.

import { html } from "../vendor/lit-html/lit-html.js";

export function command(text, label = "") {
  return html`<div class="command">
    ${label ? html`<span class="command-label">${label}</span>` : ""}
    <code>${text}</code>
    <button class="quiet i-copy" aria-label=${`Copy: ${text}`} @click=${(event) => copy(event.currentTarget, text)}>Copy</button>
  </div>`;
}

async function copy(button, text) {
  await navigator.clipboard.writeText(text);
  button.classList.replace("i-copy", "i-check");
  button.classList.add("copied");
  setTimeout(() => {
    button.classList.replace("i-check", "i-copy");
    button.classList.remove("copied");
  }, 1500);
}
