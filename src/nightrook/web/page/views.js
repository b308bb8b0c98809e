// The table of views. A new one is a line here and a module in views/.
//
// A view is a class: `constructor(app, route)`, `title`, `render()`, and, where it needs them,
// `opened()` (after the first drawing; returns whether it took the focus), `rendered()` (after each
// drawing), `moved(route)` (another route of the same view), `beat(run)`, `key(event)` (returns
// whether it used the key) and `close()`.

export const VIEWS = [
  { name: "now", label: "Now", path: "", load: async () => (await import("./views/now.js")).NowView },
  { name: "questions", label: "Questions", path: "questions", load: async () => (await import("./views/questions.js")).QuestionsView },
  { name: "loops", label: "Loops and batches", short: "Loops", path: "loops", load: async () => (await import("./views/loops.js")).LoopsView },
  { name: "cost", label: "Cost", path: "cost", load: async () => (await import("./views/cost.js")).CostView },
  { name: "search", label: "Search", path: "search", load: async () => (await import("./views/search.js")).SearchView },
  { name: "run", path: "runs", load: async () => (await import("./views/run.js")).RunView },
];

/** The view of a route; Now if there is no such view. */
export function viewOf(route) {
  return VIEWS.find((view) => view.path === (route.parts[0] ?? "")) ?? VIEWS[0];
}
