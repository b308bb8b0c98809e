// Routes in the part of the address behind `#`: `#/runs/NAME?filter=errors`. Back and forward work.

/** Read a hash: the parts of its path, and its query. */
export function parseRoute(hash) {
  const [path, query = ""] = hash.replace(/^#/, "").split("?", 2);
  const parts = path.split("/").filter(Boolean).map(decoded);
  return { parts, query: new URLSearchParams(query), path: `/${parts.map(encodeURIComponent).join("/")}` };
}

/** The address of a route. */
export function link(...parts) {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function go(address, { replace = false } = {}) {
  if (replace) {
    history.replaceState(null, "", address);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = address;
}
