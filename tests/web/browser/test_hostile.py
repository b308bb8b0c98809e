"""A page that is not ours, in the same browser, with the right token, reads and writes nothing."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.runs.asking.asking_agent import command
from tests.web.browser.harness import Home
from tests.web.served import Page

_TRIES = """
async ([base, token, run, id]) => {
  const path = `${base}/api/runs/${run}/questions/${id}`;
  const json = {"Content-Type": "application/json", Authorization: `Bearer ${token}`};
  const body = JSON.stringify({allow: true});
  const seen = async (name, what) => {
    try { const found = await what(); return [name, found]; }
    catch (error) { return [name, `refused: ${error.name}`]; }
  };
  const text = async (response) => `${response.type} ${response.status} ${await response.text()}`;
  const element = (tag, set) => new Promise((resolve) => {
    const made = document.createElement(tag);
    made.onload = () => resolve("loaded");
    made.onerror = () => resolve("refused: error");
    set(made);
    document.body.append(made);
  });
  const framed = () => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.onload = () => {
      try { resolve(`read: ${frame.contentDocument.body.textContent}`); }
      catch (error) { resolve(`refused: ${error.name}`); }
    };
    frame.src = `${base}/`;
    document.body.append(frame);
  });
  const streamed = () => new Promise((resolve) => {
    const source = new EventSource(`${base}/api/bell?token=${token}`);
    source.onmessage = () => resolve("read");
    source.onerror = () => resolve("refused: error");
  });
  const fetched = async (where, options) => text(await fetch(where, options));
  const {Authorization} = json;
  const post = {method: "POST", body};
  return Promise.all([
    seen("read", () => fetched(`${base}/api/runs`, {headers: {Authorization}})),
    seen("read without headers", () => fetched(`${base}/api/runs`, {mode: "no-cors"})),
    seen("write", () => fetched(path, {...post, headers: json})),
    seen("simple write", () => fetched(path, {...post, mode: "no-cors"})),
    seen("script", () => element("script", (it) => { it.src = `${base}/app/app.js`; })),
    seen("image", () => element("img", (it) => { it.src = `${base}/app/icon.svg`; })),
    seen("frame", framed),
    seen("stream", streamed),
  ]);
}
"""


class _Hostile(BaseHTTPRequestHandler):
    """A page without a policy, as an agent's own development server has it."""

    def do_GET(self) -> None:
        self.server.cookies.append(self.headers.get("Cookie"))  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><body>hello</body>")

    def log_message(self, *words: Any) -> None:
        """Print nothing."""


@contextmanager
def hostile_server() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hostile)
    server.cookies = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_page_on_another_port_reads_and_writes_nothing(home: Home, browser: Any) -> None:
    server = home.serve()
    home.ask(command())
    client = Page(home.runs, f"{server.base}/#token={server.token}")
    [question] = client.until("/api/questions", lambda found: found["questions"])["questions"]
    context = browser.new_context()
    with hostile_server() as other:
        ours = context.new_page()
        ours.goto(server.address())
        ours.wait_for_selector("body")
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{other.server_port}/")
        results = dict(
            page.evaluate(_TRIES, [server.base, server.token, question["run"], question["id"]])
        )
        cookies = other.cookies  # type: ignore[attr-defined]
    context.close()
    allowed = {"read without headers": "opaque 0 ", "simple write": "opaque 0 "}  # not readable
    wrong = {
        name: found
        for name, found in results.items()
        if not found.startswith("refused") and found != allowed.get(name)
    }
    assert wrong == {}
    assert set(cookies) == {None}
    assert client.json("/api/questions")["questions"] == [question]
    client.close()
