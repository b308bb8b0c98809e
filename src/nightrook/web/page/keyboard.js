// Keys that work in every view; a view's own keys come first.

import { VIEWS } from "./views.js";

export const KEYS = [
  ["j k", "next and previous row"],
  ["Enter", "open or close the row"],
  ["Esc", "close, or go back"],
  ["/", "filter the list, or search"],
  ["g G", "first and last row"],
  ["e", "next error (in a run)"],
  ["z", "fold or unfold all subagents (in a run)"],
  ["1 – 5", "Now, Questions, Loops and batches, Cost, Search"],
  ["?", "these keys"],
];

export function keyPressed(app, event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const isTyping = event.target.closest?.("input, textarea, select");
  if (isTyping && event.key !== "Escape") return;
  if (isTyping) event.target.blur();
  else if (closeKeys(app, event) || app.view?.key?.(event) || everywhere(app, event)) event.preventDefault();
}

function closeKeys(app, event) {
  if (!app.showsKeys || !["Escape", "?"].includes(event.key)) return false;
  app.showsKeys = false;
  app.update();
  return true;
}

function everywhere(app, event) {
  const number = Number(event.key) - 1;
  const view = VIEWS.filter((one) => one.label)[number];
  if (view) app.go(`#/${view.path}`);
  else if (event.key === "?") {
    app.showsKeys = true;
    app.update();
  } else if (event.key === "Escape" && app.definition.name !== "now") app.go("#/");
  else return false;
  return true;
}
