// The token that the server asks for: from the address once, then from this tab's own storage.

const KEY = "nightrook-token";
const CHANNEL = "nightrook-token";
const PATIENCE = 300; // milliseconds for another tab to answer

/** Read `#token=…&to=/route`: the token, and the route to open. */
export function fromHash(hash) {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const token = parameters.get("token");
  return token ? { token, route: parameters.get("to") ?? "/" } : null;
}

/** The token of this tab; the address no longer has it afterwards. Null if there is none. */
export async function takeToken() {
  const given = fromHash(location.hash);
  if (given) {
    sessionStorage.setItem(KEY, given.token);
    // guards: token-leaves-address
    history.replaceState(null, "", `${location.pathname}#${given.route}`);
  }
  return sessionStorage.getItem(KEY) ?? (await fromAnotherTab());
}

/** Answer new tabs of this page, which have no token yet. */
export function shareToken(token) {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => data.wanted && channel.postMessage({ token });
}

function fromAnotherTab() {
  const channel = new BroadcastChannel(CHANNEL);
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), PATIENCE);
    channel.onmessage = ({ data }) => {
      if (!data.token) return;
      clearTimeout(timer);
      sessionStorage.setItem(KEY, data.token);
      resolve(data.token);
    };
    channel.postMessage({ wanted: true });
  }).finally(() => channel.close());
}
