"""Decides which requests are accepted; pure, so that every case can be tested."""

from collections.abc import Iterable, Sequence
from hmac import compare_digest
from typing import NamedTuple

import msgspec

LARGEST_HEADERS = 32 << 10
_READS = ("GET",)
_WRITES = ("POST",)
_OPEN = "/api/ping"
_SAME = (b"same-origin", b"none")
_BEARER = b"Bearer "


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """Whom a server lets in."""

    token: str
    hosts: frozenset[str]
    """Values allowed in the header `Host`: names or addresses with their port."""

    proxies: frozenset[str] = frozenset()
    """Hosts that stand for a proxy, which may speak HTTPS although the server does not."""

    scheme: str = "http"
    read_only: bool = False

    def origins(self, host: str) -> set[bytes]:
        """The origins of a page that was loaded from a host."""
        schemes = {self.scheme, "https"} if host in self.proxies else {self.scheme}
        return {f"{scheme}://{host}".encode("latin-1") for scheme in schemes}


class Refusal(NamedTuple):
    """Reason to refuse a request, with its remedy."""

    status: int
    sentence: str


class Asked(NamedTuple):
    """A request, as far as the rules need it."""

    method: str
    path: str
    headers: Sequence[tuple[bytes, bytes]]


NO_TOKEN = Refusal(
    401, "the token is missing or wrong: open the address that  rook web  prints, with its #token"
)
_WRONG_HOST = Refusal(
    403,
    "this address is not the server's own: open the address that  rook web  prints, or start it "
    "with --allow-host",
)
_OTHER_SITE = Refusal(403, "another site sent this request: open the page itself")
_LARGE_HEADERS = Refusal(
    431, f"the address or the headers are too large: send at most {LARGEST_HEADERS >> 10} KiB"
)
_NO_ORIGIN = Refusal(
    403,
    "a request that changes something needs the headers Origin and Sec-Fetch-Site, as the page "
    "sends them",
)
_NOT_JSON = Refusal(415, "send the body as JSON, with Content-Type: application/json")
_READ_ONLY = Refusal(403, "this server is read-only: start  rook web  without --read-only")


def refusal(rules: Rules, asked: Asked) -> Refusal | None:
    """Return the refusal of a request; None if it is accepted."""
    headers = _Headers(asked.headers)
    return (
        _refused_size(asked)
        or _refused_host(rules, headers)
        or _refused_method(asked)
        or _refused_origin(rules, asked, headers)
        or _refused_token(rules, asked, headers)
        or _refused_write(rules, asked, headers)
    )


class _Headers:
    """The headers of a request; one that occurs twice has no trusted value."""

    def __init__(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        self._values: dict[bytes, bytes] = {}
        self._twice: set[bytes] = set()
        for name, value in pairs:
            if name in self._values:
                self._twice.add(name)
            self._values[name] = value

    def get(self, name: bytes) -> bytes | None:
        """The value of a header; None if it is not there."""
        return b"" if name in self._twice else self._values.get(name)  # guards: repeated-header


def is_api(path: str) -> bool:
    """True if a path belongs to the protocol; everything else is the page, which has no data."""
    return path == "/api" or path.startswith("/api/")


def _refused_size(asked: Asked) -> Refusal | None:
    size = len(asked.path) + sum(len(name) + len(value) for name, value in asked.headers)
    return _LARGE_HEADERS if size > LARGEST_HEADERS else None  # guards: headers-bounded


def _refused_host(rules: Rules, headers: _Headers) -> Refusal | None:
    host = (headers.get(b"host") or b"").decode("latin-1").lower()
    return None if host in rules.hosts else _WRONG_HOST  # guards: own-host-names


def _refused_method(asked: Asked) -> Refusal | None:
    allowed = (*_READS, *_WRITES) if is_api(asked.path) else _READS
    if asked.method in allowed:  # guards: own-methods
        return None
    return Refusal(405, f"{asked.method[:20]} is not possible here: use {' or '.join(allowed)}")


def _refused_origin(rules: Rules, asked: Asked, headers: _Headers) -> Refusal | None:
    """Refuse requests of other sites; a request that changes something must name its origin."""
    origin, site = headers.get(b"origin"), headers.get(b"sec-fetch-site")
    own = rules.origins((headers.get(b"host") or b"").decode("latin-1").lower())
    if asked.method in _WRITES:
        if origin is None or site is None:
            return _NO_ORIGIN  # guards: write-origin
        # guards: foreign-write, foreign-site
        return None if origin in own and site == b"same-origin" else _OTHER_SITE
    if origin is not None and origin not in own:  # guards: foreign-read
        return _OTHER_SITE
    if site is None or site in _SAME or _opens_page(asked, headers):  # guards: foreign-embed
        return None
    return _OTHER_SITE


def _opens_page(asked: Asked, headers: _Headers) -> bool:
    """True if a user follows a link from elsewhere to the page itself, which has no data."""
    kind = (headers.get(b"sec-fetch-mode"), headers.get(b"sec-fetch-dest"))
    return asked.path == "/" and kind == (b"navigate", b"document")  # guards: foreign-link


def _refused_token(rules: Rules, asked: Asked, headers: _Headers) -> Refusal | None:
    if not is_api(asked.path) or asked.path == _OPEN:
        return None
    given = headers.get(b"authorization") or b""
    is_right = compare_digest(given, _BEARER + rules.token.encode())
    return None if is_right else NO_TOKEN  # guards: data-needs-token


def _refused_write(rules: Rules, asked: Asked, headers: _Headers) -> Refusal | None:
    if asked.method not in _WRITES:
        return None
    if rules.read_only:  # guards: read-only-server
        return _READ_ONLY
    kind = (headers.get(b"content-type") or b"").split(b";")[0].strip().lower()
    return None if kind == b"application/json" else _NOT_JSON  # guards: write-json


def is_write(method: str) -> bool:
    """True if a request of this method changes something."""
    return method in _WRITES
