"""Who may come in: of all combinations of headers, exactly the allowed ones are answered."""

import itertools
from typing import NamedTuple

import pytest

from nightrook.web.access.rules import Asked, Rules, refusal
from tests.rules import each
from tests.web.served import Served

_PORT = 8123
_OWN = f"127.0.0.1:{_PORT}"
_TOKEN = "right"
_RULES = Rules(token=_TOKEN, hosts=frozenset({_OWN, f"localhost:{_PORT}"}))

_HOSTS = (
    _OWN,
    f"localhost:{_PORT}",
    "127.0.0.1",
    f"127.0.0.1:{_PORT + 1}",
    f"evil.example:{_PORT}",
    f"127.0.0.1.evil.example:{_PORT}",
    None,
    f"{_OWN}, {_OWN}",
)
_ORIGINS = (
    None,
    f"http://{_OWN}",
    f"http://localhost:{_PORT}",
    f"https://{_OWN}",
    f"http://127.0.0.1:{_PORT + 1}",
    "http://evil.example",
    "null",
)
_SITES = (None, "same-origin", "none", "same-site", "cross-site")
_TOKENS = (f"Bearer {_TOKEN}", "Bearer wrong", _TOKEN, None)
_METHODS = ("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD")
_PATHS = ("/", "/app/app.js", "/api/ping", "/api/runs", "/api/runs/done/stop")


class Cell(NamedTuple):
    """One combination."""

    host: str | None
    origin: str | None
    site: str | None
    token: str | None
    method: str
    path: str

    @property
    def headers(self) -> list[tuple[str, str]]:
        named = {
            "Host": self.host,
            "Origin": self.origin,
            "Sec-Fetch-Site": self.site,
            "Authorization": self.token,
            "Content-Type": "application/json",
        }
        return [(name, value) for name, value in named.items() if value is not None]

    @property
    def is_allowed(self) -> bool:
        """Whether it may come in, written down once more, the other way round."""
        if self.host not in (_OWN, f"localhost:{_PORT}"):
            return False
        own = f"http://{self.host}"
        if self.method == "POST":
            is_page = self.origin == own and self.site == "same-origin"
            return (
                is_page
                and self.path.startswith("/api/")
                and (self.path == "/api/ping" or self.token == f"Bearer {_TOKEN}")
            )
        if self.method != "GET" or self.origin not in (None, own):
            return False
        if self.site not in (None, "same-origin", "none"):
            return False
        needs_token = self.path.startswith("/api/") and self.path != "/api/ping"
        return not needs_token or self.token == f"Bearer {_TOKEN}"


ALL = [
    Cell(*values)
    for values in itertools.product(_HOSTS, _ORIGINS, _SITES, _TOKENS, _METHODS, _PATHS)
]


def test_exactly_the_allowed_cells_come_in() -> None:
    broken = [cell for cell in ALL if (_refused(cell) is None) != cell.is_allowed]
    assert not broken, (len(broken), broken[:5])
    assert len(ALL) > 30_000
    assert any(cell.is_allowed for cell in ALL)


def _refused(cell: Cell, rules: Rules = _RULES) -> int | None:
    headers = [(name.lower().encode(), value.encode()) for name, value in cell.headers]
    refused = refusal(rules, Asked(cell.method, cell.path, headers))
    return None if refused is None else refused.status


def test_a_server_that_is_read_only_refuses_every_write_and_no_read() -> None:
    rules = Rules(token=_TOKEN, hosts=_RULES.hosts, read_only=True)
    allowed = [cell for cell in ALL if cell.is_allowed]
    assert {_refused(cell, rules) for cell in allowed if cell.method == "POST"} == {403}
    assert {_refused(cell, rules) for cell in allowed if cell.method == "GET"} == {None}


def test_a_proxy_that_was_named_may_speak_https_and_no_other_name_may() -> None:
    name = "mine.example"
    rules = Rules(token=_TOKEN, hosts=frozenset({_OWN, name}), proxies=frozenset({name}))
    for host, scheme, status in ((name, "https", None), (_OWN, "https", 403), (name, "ftp", 403)):
        cell = Cell(host, f"{scheme}://{host}", "same-origin", f"Bearer {_TOKEN}", "POST", "/api/x")
        assert _refused(cell, rules) == status, cell


@each("name", ["host", "origin", "sec-fetch-site", "authorization"])
def test_a_header_that_is_there_twice_is_not_trusted(name: str) -> None:
    cell = Cell(
        _OWN, f"http://{_OWN}", "same-origin", f"Bearer {_TOKEN}", "POST", "/api/runs/x/stop"
    )
    headers = [(key.lower().encode(), value.encode()) for key, value in cell.headers]
    assert refusal(_RULES, Asked(cell.method, cell.path, headers)) is None
    twice = [*headers, *((key, value) for key, value in headers if key == name.encode())]
    assert refusal(_RULES, Asked(cell.method, cell.path, twice)) is not None


def test_a_link_from_elsewhere_opens_the_page_but_reads_no_data() -> None:
    link = [
        (b"host", _OWN.encode()),
        (b"sec-fetch-site", b"cross-site"),
        (b"sec-fetch-mode", b"navigate"),
        (b"sec-fetch-dest", b"document"),
        (b"authorization", b"Bearer right"),
    ]
    assert refusal(_RULES, Asked("GET", "/", link)) is None
    framed = [*link[:3], (b"sec-fetch-dest", b"iframe")]
    assert refusal(_RULES, Asked("GET", "/", framed)) is not None
    assert refusal(_RULES, Asked("GET", "/api/runs", link)) is not None


def test_a_body_that_is_not_json_changes_nothing() -> None:
    cell = Cell(
        _OWN, f"http://{_OWN}", "same-origin", f"Bearer {_TOKEN}", "POST", "/api/runs/x/stop"
    )
    plain = [(b"content-type", b"text/plain")]
    headers = [(k.lower().encode(), v.encode()) for k, v in cell.headers if k != "Content-Type"]
    refused = refusal(_RULES, Asked(cell.method, cell.path, [*headers, *plain]))
    assert refused is not None
    assert refused.status == 415


@pytest.fixture(scope="module")
def cells(served: Served) -> list[Cell]:
    """Combinations for the real server; a hundred times fewer, still many."""

    def real(text: str | None) -> str | None:
        ports = text and text.replace(str(_PORT + 1), "9").replace(str(_PORT), str(served.port))
        return ports and ports.replace(_TOKEN, served.token)

    hosts = (_HOSTS[0], _HOSTS[2], _HOSTS[3], _HOSTS[4])  # without any, it is not HTTP/1.1
    origins = (None, _ORIGINS[1], _ORIGINS[4], _ORIGINS[5])
    sites = (None, "same-origin", "same-site", "cross-site")
    methods, paths = ("GET", "POST", "DELETE"), ("/", "/api/runs", "/api/runs/done/stop")
    tokens = (_TOKENS[0], _TOKENS[1], None)
    product = itertools.product(hosts, origins, sites, tokens, methods, paths)
    return [Cell(real(h), real(o), s, real(t), m, p) for h, o, s, t, m, p in product]


def test_the_real_server_answers_exactly_the_allowed_cells(
    served: Served, cells: list[Cell]
) -> None:
    broken = []
    for cell in cells:
        answer = served.request(cell.method, cell.path, cell.headers, b"{}")
        if answer.status != _expected(served, cell):
            broken.append((cell, answer.status))
        assert "content-security-policy" in answer.headers
    assert not broken, (len(broken), broken[:5])
    assert len(cells) >= 700


def _expected(served: Served, cell: Cell) -> int:
    """The status that a cell gets: the first thing that is wrong with it says which."""
    own = f"http://{served.host}"
    is_api, is_post = cell.path.startswith("/api/"), cell.method == "POST"
    is_same = cell.site == "same-origin" and cell.origin == own
    is_harmless = cell.site in (None, "same-origin") and cell.origin in (None, own)
    if cell.host != served.host:
        return 403
    if cell.method not in ("GET", *(("POST",) if is_api else ())):
        return 405
    if not (is_same if is_post else is_harmless):
        return 403
    if is_api and cell.token != f"Bearer {served.token}":
        return 401
    if not is_api:
        return 200
    if is_post:
        return 409 if cell.path.endswith("stop") else 405  # the run has ended
    return 405 if cell.path.endswith("stop") else 200
