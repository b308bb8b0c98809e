"""Finds sessions by the words in them, best first, with an excerpt of each hit."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from rookery.archive.words.compression import decompress
from rookery.archive.words.documents import KINDS, DocumentKind
from rookery.archive.words.query import expression, marked_words
from rookery.archive.words.writer import DELETED, STATUSES
from rookery.model.events import Status

_RANKED = 4000
"""How many of the newest hits are ranked: of a common word, older ones are not worth the time."""

_START = 1_577_836_800  # see the schema: the number of a document is a time
_PER_SECOND = 8
_HALF_LIFE_S = 90 * 86_400.0  # after which a hit is worth half as much
_BEFORE, _LENGTH = 60, 200  # characters of an excerpt

_WEIGHTS: dict[DocumentKind, float] = {
    "prompt": 2.0,
    "answer": 1.5,
    "command": 1.2,
    "path": 1.2,
    "thinking": 1.0,
    "output": 0.7,
}
"""How much a hit is worth by its kind: what people and agents said more than what tools printed."""


class WordQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for, and where."""

    text: str
    agent: str | None = None
    project: str | None = None
    """A path, or the last part of one."""

    since: float | None = None
    until: float | None = None
    kind: DocumentKind | None = None
    tool: str | None = None
    status: Status | None = None
    session: str | None = None
    """The beginning of a session's id."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A document with the words."""

    agent: str
    session: str
    project: str | None
    at: float
    kind: DocumentKind
    excerpt: str
    """A part of the text, with the words in it; empty if texts are not kept."""

    marks: tuple[tuple[int, int], ...]
    """Where the words are in the excerpt: begin and end, in characters."""

    tool: str | None = None
    status: Status | None = None
    source: str
    """The path of its file, which may be gone."""

    position: int
    """Where its message is in that file."""

    score: float


class Found(NamedTuple):
    """What a search found."""

    hits: list[Hit]
    """The best hits, best first."""

    total: int
    """How many hits there are."""


def search(
    connection: sqlite3.Connection,
    query: WordQuery,
    *,
    limit: int = 50,
    redact: Callable[[str], str] = str,
) -> Found:
    """Find the best hits; an EmptyQueryError says that there is nothing to look for.

    `redact` takes the secrets out of a whole text, before an excerpt is cut from it.
    """
    match = expression(query.text)
    where, values = _filters(query)
    rows = connection.execute(
        _ROWS.format(where=where), {"match": match, "most": _RANKED, **values}
    ).fetchall()
    total = len(rows) if len(rows) < _RANKED else _count(connection, match, where, values)
    newest = rows[0][0] / _PER_SECOND if rows else 0
    ranked = sorted(rows, key=lambda row: _score(row, newest), reverse=True)[:limit]
    read = _Texts(connection, redact)
    pattern = marked_words(query.text)
    return Found([_hit(row, read, pattern, newest) for row in ranked], total)


# The newest hits first, as the number of a document grows with time: the rest is not even read.
_ROWS = """
SELECT documents.id, bm25(words), documents.kind, documents.status, names.text, documents.offset,
  documents.text_id, documents.start, documents.size, sessions.agent, sessions.session,
  sessions.project, sources.path
FROM words
JOIN documents ON documents.id = words.rowid
JOIN sessions ON sessions.id = documents.session_id
JOIN sources ON sources.id = documents.source_id
LEFT JOIN names ON names.id = documents.tool
WHERE words MATCH :match AND {where}
ORDER BY words.rowid DESC LIMIT :most
"""
_COUNT = """
SELECT count(*) FROM words
JOIN documents ON documents.id = words.rowid
JOIN sessions ON sessions.id = documents.session_id
LEFT JOIN names ON names.id = documents.tool
WHERE words MATCH :match AND {where}
"""


def _filters(query: WordQuery) -> tuple[str, dict[str, object]]:
    """The conditions of a query, and their values."""
    parts: list[str] = [f"documents.kind != {DELETED}"]
    values: dict[str, object] = {}

    def add(condition: str, name: str, value: object) -> None:
        parts.append(condition)
        values[name] = value

    if query.agent is not None:
        add("sessions.agent = :agent", "agent", query.agent)
    if query.project is not None:
        add(_PROJECT, "project", query.project.rstrip("/"))
    if query.since is not None:
        add("words.rowid >= :since", "since", int((query.since - _START) * _PER_SECOND))
    if query.until is not None:
        add("words.rowid < :until", "until", int((query.until - _START) * _PER_SECOND))
    if query.kind is not None:
        add("documents.kind = :kind", "kind", KINDS.index(query.kind))
    if query.tool is not None:
        add("names.text = :tool COLLATE NOCASE", "tool", query.tool)
    if query.status is not None:
        add("documents.status = :status", "status", STATUSES.index(query.status))
    if query.session is not None:
        add("substr(sessions.session, 1, length(:session)) = :session", "session", query.session)
    return " AND ".join(parts), values


_PROJECT = (
    "(sessions.project = :project OR substr(sessions.project, -length(:project) - 1) = "
    "'/' || :project)"
)


def _count(
    connection: sqlite3.Connection, match: str, where: str, values: dict[str, object]
) -> int:
    query = _COUNT.format(where=where)
    number: int = connection.execute(query, {"match": match, **values}).fetchone()[0]
    return number


_Row = tuple[
    int, float, int, int | None, str | None, int, int | None, int, int, str, str, str | None, str
]


def _score(row: _Row, newest_s: float) -> float:
    """What a hit is worth: by its words, its kind and its age."""
    age_s = max(0.0, newest_s - row[0] / _PER_SECOND)
    recency = 0.5 ** (age_s / _HALF_LIFE_S)
    weight = _WEIGHTS[KINDS[row[2]]]
    return float(-row[1] * weight * (0.3 + 0.7 * recency))


def _hit(row: _Row, read: "_Texts", pattern: re.Pattern[str] | None, newest_s: float) -> Hit:
    (id, _, kind, status, tool, offset, block, start, size, agent, session, project, path) = row
    text = read.text(block, start, size)
    excerpt, marks = _excerpt(text, pattern)
    return Hit(
        agent=agent,
        session=session,
        project=project,
        at=id / _PER_SECOND + _START,
        kind=KINDS[kind],
        excerpt=excerpt,
        marks=marks,
        tool=tool,
        status=None if status is None else STATUSES[status],
        source=path,
        position=offset,
        score=round(_score(row, newest_s), 6),
    )


class _Texts:
    """Reads kept texts; the blocks of the last ones stay decompressed."""

    def __init__(self, connection: sqlite3.Connection, redact: Callable[[str], str]) -> None:
        self._connection = connection
        self._redact = redact
        self._block = lru_cache(maxsize=64)(self._read)

    def text(self, block: int | None, start: int, size: int) -> str:
        """A text; empty if it was not kept."""
        return "" if block is None else self._redact(self._block(block)[start : start + size])

    def _read(self, block: int) -> str:
        query = "SELECT data FROM texts WHERE id = ?"
        row = self._connection.execute(query, (block,)).fetchone()
        return "" if row is None else decompress(row[0])


def _excerpt(text: str, pattern: re.Pattern[str] | None) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A part of a text around the first word, on one line, and where the words are in it."""
    first = pattern.search(text) if pattern is not None else None
    begin = max(0, first.start() - _BEFORE) if first else 0
    part = " ".join(text[begin : begin + _LENGTH].split())
    excerpt = ("… " if begin else "") + part + (" …" if begin + _LENGTH < len(text) else "")
    marks = _marks(excerpt, pattern) if pattern is not None else ()
    return excerpt, tuple(marks)


def _marks(excerpt: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(excerpt):
        yield match.span()


def by_session(hits: Sequence[Hit]) -> list[list[Hit]]:
    """The hits of each session together, the session of the best hit first."""
    sessions: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        sessions.setdefault((hit.agent, hit.session), []).append(hit)
    return list(sessions.values())
