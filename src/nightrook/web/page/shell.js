// What is around every view: the navigation, the state of the connection, the keys.

import { html, nothing } from "./vendor/lit-html/lit-html.js";
import { KEYS } from "./keyboard.js";
import { VIEWS } from "./views.js";

export function shell(app) {
  return html`
    <a class="skip" href="#main" @click=${skip}>Skip to content</a>
    <nav class="nav" aria-label="Views">
      <a class="brand" href="#/"><span class="rook" aria-hidden="true"></span>Nightrook</a>
      ${VIEWS.filter((view) => view.label).map((view) => tab(app, view))}
      <div class="nav-foot">
        ${connection(app)}
        <button class="quiet keys-button" @click=${() => showKeys(app, true)}><kbd>?</kbd> Keys</button>
      </div>
    </nav>
    <main id="main" tabindex="-1">${app.view?.render()}</main>
    ${app.showsKeys ? keys(app) : nothing}
  `;
}

function tab(app, view) {
  const waiting = view.name === "questions" ? app.questions.open.length : 0;
  const isCurrent = app.definition === view;
  return html`<a class="tab i-${view.name}" href="#/${view.path}" aria-current=${isCurrent ? "page" : nothing}>
    <span class="long">${view.label}</span><span class="short">${view.short ?? view.label}</span>
    ${waiting ? html`<b class="badge" aria-label=${`${waiting} waiting`}>${waiting}</b>` : nothing}
  </a>`;
}

function connection(app) {
  if (app.isConnected) return html`<span class="live">${app.hello?.read_only ? "Live, read-only" : "Live"}</span>`;
  return html`<span class="live off" role="alert">Reconnecting…</span>`;
}

function keys(app) {
  return html`<div class="overlay" @click=${() => showKeys(app, false)}>
    <section class="card keys" role="dialog" aria-modal="true" aria-label="Keys">
      <h2>Keys</h2>
      <dl>${KEYS.map(([key, meaning]) => html`<dt>${key.split(" ").map((one) => (one === "–" ? " – " : html`<kbd>${one}</kbd>`))}</dt><dd>${meaning}</dd>`)}</dl>
    </section>
  </div>`;
}

function showKeys(app, shows) {
  app.showsKeys = shows;
  app.update();
}

function skip(event) {
  event.preventDefault();
  document.getElementById("main").focus();
}

/** What a browser without the right token sees. */
export function refused() {
  return html`<main class="alone">
    <span class="rook" aria-hidden="true"></span>
    <h1>This tab has no key to your runs</h1>
    <p>Run <code>rook web</code> in a terminal and open the address that it prints. The key is in that address, and
      changes when the server starts again.</p>
  </main>`;
}
