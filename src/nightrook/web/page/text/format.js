// Money, times and counts as people read them: the same words as on the terminal.

export function count(number, what) {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** An amount: `$` is the agent's own figure, `~$` an estimate, `$?` unknown. */
export function money(cost, decimals) {
  if (!cost || cost.usd === null || cost.usd === undefined) return "$?";
  const digits = decimals ?? (Math.abs(cost.usd) >= 1 ? 2 : 4);
  const amount = `${(cost.source ?? cost.kind) === "native" ? "" : "~"}$${cost.usd.toFixed(digits)}`;
  return cost.at_least ? `at least ${amount}` : amount;
}

/** What several have cost together; what is not known of one is not taken for nothing. */
export function total(costs) {
  const known = costs.filter((cost) => cost?.usd !== null && cost?.usd !== undefined);
  return {
    usd: known.length ? known.reduce((sum, cost) => sum + cost.usd, 0) : null,
    source: known.every((cost) => (cost.source ?? cost.kind) === "native") ? "native" : "estimated",
    at_least: known.length < costs.length || known.some((cost) => cost.at_least),
  };
}

/** A length of time: `4.2s`, `42s`, `1m 42s`, `2h 05m`. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "?";
  const whole = Math.max(0, Math.floor(seconds));
  const two = (number) => String(number).padStart(2, "0");
  if (whole < 60) return whole < 10 ? `${Math.max(0, seconds).toFixed(1)}s` : `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h ${two(Math.floor((whole % 3600) / 60))}m`;
}

/** A time that grows: whole seconds only. */
export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  return whole < 60 ? `${whole}s` : duration(whole);
}

export function tokens(number) {
  if (number === null || number === undefined) return "?";
  if (number < 1000) return String(number);
  if (number < 999_950) return `${(number / 1000).toFixed(1)}k`;
  if (number < 999_950_000) return `${(number / 1e6).toFixed(1)}M`;
  return `${(number / 1e9).toFixed(1)}B`;
}

export function size(bytes) {
  let amount = bytes;
  const units = ["B", "kB", "MB", "GB", "TB"];
  while (amount >= 999.95 && units.length > 1) {
    amount /= 1000;
    units.shift();
  }
  return units[0] === "B" ? `${bytes} B` : `${amount.toFixed(1)} ${units[0]}`;
}

export function percent(share) {
  return `${Math.round(share * 100)} %`;
}

/** When something happened: `just now`, `2 min ago`, `today 09:10`, `yesterday 17:02`, `3 Nov 14:00`. */
export function moment(at, now = Date.now() / 1000) {
  if (at === null || at === undefined) return "?";
  const past = now - at;
  if (past >= 0 && past < 60) return "just now";
  if (past >= 0 && past < 3600) return `${Math.round(past / 60)} min ago`;
  const then = new Date(at * 1000);
  const time = then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const days = daysBetween(then, new Date(now * 1000));
  if (days === 0) return `today ${time}`;
  if (days === 1) return `yesterday ${time}`;
  const sameYear = then.getFullYear() === new Date(now * 1000).getFullYear();
  const date = then.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: sameYear ? undefined : "numeric" });
  return sameYear ? `${date} ${time}` : date;
}

/** The day of a moment, as a heading of a list. */
export function day(at, now = Date.now() / 1000) {
  const then = new Date(at * 1000);
  const days = daysBetween(then, new Date(now * 1000));
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return then.toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long" });
}

function daysBetween(then, now) {
  const midnight = (date) => Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return Math.round((midnight(now) - midnight(then)) / 86_400_000);
}

/** A path as seen from a folder, if it is in it. */
export function relative(path, folder) {
  const start = `${(folder ?? "").replace(/\/+$/, "")}/`;
  return folder && path.startsWith(start) ? path.slice(start.length) || path : path;
}

/** The last part of a path, which people know a project by. */
export function lastPart(path) {
  return (path ?? "").replace(/\/+$/, "").split("/").pop() || path || "";
}

/** A word of the protocol as people read it: `over_budget` is `over budget`. */
export function words(name) {
  return (name ?? "").replaceAll("_", " ");
}

export function firstLine(text) {
  return (text ?? "").trim().split("\n", 1)[0];
}

export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
