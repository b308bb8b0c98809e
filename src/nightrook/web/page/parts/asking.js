// What an agent asks for, in our own words. The agent's words stand elsewhere.

const VERBS = { execute: "run a command", edit: "edit a file", delete: "delete a file", move: "move a file", read: "read a file", list: "list a folder", fetch: "fetch a page", search: "search", subagent: "start a subagent" };

export function asking(question) {
  if (question.about === "plan") return question.detail?.length ? "has a plan" : "wants to continue with its plan";
  if (question.about === "questions") return question.questions?.length > 1 ? "has questions" : "has a question";
  return `wants to ${VERBS[question.kind] ?? "use a tool"}`;
}
