// Since when a person has looked: what failed before is not news. Kept by the browser for all tabs.

const KEY = "nightrook-seen";

export function lastLooked() {
  return Number(localStorage.getItem(KEY) ?? 0);
}

export function looked(now = Date.now() / 1000) {
  localStorage.setItem(KEY, String(now));
}
