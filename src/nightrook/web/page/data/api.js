// Requests to the server, as docs/web.md describes them. An error is one sentence.

export class ApiError extends Error {
  constructor(status, sentence, body) {
    super(sentence);
    this.status = status; // 0 if the server did not answer
    this.body = body;
  }
}

export class Api {
  #token;
  onrefused = () => {}; // the token is wrong

  constructor(token) {
    this.#token = token;
  }

  get(path, { signal } = {}) {
    return this.#request(path, { signal });
  }

  post(path, body) {
    return this.#request(path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" },
    });
  }

  /** The bytes of a stream, as they come. */
  async stream(path, signal) {
    const response = await this.#fetch(path, { signal, cache: "no-store" });
    if (!response.ok) throw await this.#error(response);
    return response.body.getReader();
  }

  async #request(path, options) {
    const response = await this.#fetch(path, options);
    if (!response.ok) throw await this.#error(response);
    return response.json();
  }

  async #fetch(path, options) {
    const headers = { ...options.headers, Authorization: `Bearer ${this.#token}` };
    try {
      return await fetch(path, { ...options, headers, credentials: "omit", referrerPolicy: "no-referrer" });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError(0, "rook web does not answer: it may have been stopped. Start it again: rook web");
    }
  }

  async #error(response) {
    const body = await response.json().catch(() => ({}));
    if (response.status === 401) this.onrefused();
    return new ApiError(response.status, body.error ?? `the server answered ${response.status}`, body);
  }
}

/** The path of a run's resource; whatever is in a name stays inside its place. */
export function runPath(run, ...rest) {
  return ["/api/runs", ...[run, ...rest].map(encodeURIComponent)].join("/");
}
