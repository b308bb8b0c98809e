"""No text of an agent becomes an element, an attribute, a request or Markdown of a document."""

import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from markdown_it import MarkdownIt
from tests.ci.payloads import PAYLOADS
from tests.ci.samples import everywhere
from tests.display.document.documents import html, markdown
from tests.display.document.payloads import HTML
from tests.display.hostile import events
from tests.programs import browser
from tests.rules import each

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--dump-dom"),
    "--virtual-time-budget=3000",
)
TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "p", "h1", "h2", "h4", "div"),
    *("span", "details", "summary", "i", "b", "pre", "code", "strong", "footer"),
}
ATTRIBUTES = {"class", "lang", "charset", "name", "content", "http-equiv"}


class Shape(HTMLParser):
    """The elements and attributes of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.others: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)


ALL = (*HTML, *PAYLOADS)
HARMLESS = Shape(html(events("Harmless 1"), everywhere("Harmless 1")))


def test_there_are_more_than_a_hundred_payloads() -> None:
    assert len(set(ALL)) >= 100


@each("payload", ALL)
def test_a_page_has_only_our_elements_and_attributes(payload: str) -> None:
    shape = Shape(html(events(payload), everywhere(payload)))
    assert shape.tags <= TAGS
    assert {name for name, _ in shape.attributes} <= ATTRIBUTES
    classes = {value for name, value in shape.attributes if name == "class"}
    ours = re.compile("[a-z0-9 ]+")
    assert all(map(ours.fullmatch, classes))
    assert shape.attributes - HARMLESS.attributes <= {("class", f"item l{n}") for n in range(5)}
    assert shape.others == []


def test_all_of_a_hostile_text_is_shown() -> None:
    text = Shape(html(events(HTML[0]), everywhere(HTML[0]))).text
    assert text.count(HTML[0]) > 30


def test_the_policy_allows_the_style_by_its_hash_and_nothing_else() -> None:
    (policy,) = (value for _, value in HARMLESS.attributes if "default-src" in value)
    rules = "default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'"
    assert re.fullmatch(rules, policy)


@each("payload", ALL)
def test_markdown_has_only_our_marks(payload: str) -> None:
    found = (
        MarkdownIt("commonmark", {"html": True})
        .enable("table")
        .parse(markdown(events(payload), everywhere(payload)))
    )
    blocks = {token.type.removesuffix("_open").removesuffix("_close") for token in found}
    assert blocks <= {"heading", "paragraph", "inline", "bullet_list", "list_item", "fence"}
    inline = {child.type for token in found for child in token.children or ()}
    assert inline <= {"text", "code_inline", "strong_open", "strong_close"}
    headings = [token for token in found if token.type == "heading_open"]
    usual = MarkdownIt().parse(markdown(events("Harmless 1"), everywhere("Harmless 1")))
    assert len(headings) == sum(token.type == "heading_open" for token in usual)


class Sink(ThreadingHTTPServer):
    """Counts who calls."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.calls: list[str] = []
        self.address = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Sink)
        self.server.calls.append(self.path)
        self.send_response(204)
        self.end_headers()

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def browsed(folder: Path, page: str) -> str:
    """What a browser makes of a page."""
    (folder / "page.html").write_bytes(page.encode("utf-8", "replace"))
    done = subprocess.run(
        [browser(), *FLAGS, f"--user-data-dir={folder / 'profile'}", f"file://{folder}/page.html"],
        capture_output=True,
        timeout=120,
        check=True,
    )
    return done.stdout.decode()


@pytest.mark.slow
def test_in_a_browser_nothing_runs_and_nothing_is_fetched(tmp_path: Path, sink: Sink) -> None:
    payloads = [payload.replace("SINK", sink.address) for payload in HTML]
    raw = "".join(payloads[:8])
    (tmp_path / "control").mkdir()
    browsed(tmp_path / "control", f"<!DOCTYPE html><body>{raw}</body>")
    assert sink.calls, "what the payloads do outside of a document was not noticed"
    sink.calls.clear()
    report = everywhere(" ".join(payloads))
    dom = browsed(tmp_path, html([event for each in payloads for event in events(each)], report))
    assert sink.calls == []
    shape = Shape(dom)
    assert shape.tags <= TAGS
    assert "SINK" not in dom
    assert dom.count("&lt;script&gt;") > 100
