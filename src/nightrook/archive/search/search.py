"""Finds sessions by the words in them, best first, with an excerpt of each hit.

SQLite finds the documents and says how well the words fit; the newest of them are ranked by that,
by their kind, their length and their age. The text of an excerpt is the one that the index kept;
where it keeps none, it is read from the agent's file.
"""

import os
import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import msgspec

from nightrook import agents
from nightrook.archive.search.documents import KINDS, DocumentFilter, DocumentKind, documents
from nightrook.archive.search.index import STATUSES, Block, Blocks, Placed, in_milliseconds
from nightrook.archive.session_files import open_unseen
from nightrook.model.errors import NightrookError
from nightrook.model.events import Status

_RANKED = 4000
"""Number of newest hits that are ranked: of a common word, older ones are not worth the time."""

_MS = 1000
_HALF_LIFE_MS = 90 * 86_400_000.0  # after which a hit is worth half as much
_USUAL_SIZE = 1000  # characters; in a longer text a word says less

_WEIGHTS: dict[DocumentKind, float] = {
    "prompt": 2.0,
    "answer": 1.5,
    "command": 1.2,
    "path": 1.2,
    "thinking": 1.0,
    "output": 0.7,
}
"""Weight of a hit by its kind: text of people and agents counts more than output of tools."""


class SearchQuery(DocumentFilter, frozen=True, kw_only=True):
    """Words to search for, and a filter."""

    text: str


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A document with the words."""

    agent: str
    session: str
    project: str | None
    at: float
    kind: DocumentKind
    excerpt: str
    """A part of the text, with the words in it; empty if the text is neither kept nor there."""

    marks: tuple[tuple[int, int], ...]
    """Matches of the words in the excerpt: start and end, in characters."""

    tool: str | None = None
    status: Status | None = None
    source: str
    """The path of its file, which may be gone."""

    position: int
    """Position of its message in that file."""

    score: float


class Found(NamedTuple):
    """Result of a search."""

    hits: list[Hit]
    """The best hits, best first."""

    total: int
    """Number of hits."""

    counts: Mapping[tuple[str, str], int] = {}
    """Number of ranked hits of each session, by agent and id."""


def search(
    connection: sqlite3.Connection,
    query: SearchQuery,
    *,
    limit: int = 50,
    per_session: int | None = None,
    redact: Callable[[str], str] = str,
) -> Found:
    """Find the best hits; raise an EmptyQueryError if there is nothing to search for.

    With `per_session`, at most so many of each session. `redact` takes the secrets out of a whole
    text, before an excerpt is cut from it.
    """
    return _Search(connection, query, redact).run(limit, per_session)


class _Candidate(NamedTuple):
    """A document that has the words and passes the filters."""

    score: float
    number: int
    block: Block
    document: Placed


class _Search:
    """One search."""

    def __init__(
        self, connection: sqlite3.Connection, query: SearchQuery, redact: Callable[[str], str]
    ) -> None:
        self._connection = connection
        self._query = query
        self._match = expression(query.text)
        self._redact = redact
        self._blocks = Blocks(connection, redact)
        self._pattern = marked_words(query.text)
        self._sessions = _sessions(connection, query) if query.is_of_sessions else None
        self._tools = _tools(connection, query.tool) if query.tool is not None else None

    def run(self, limit: int, per_session: int | None) -> Found:
        with_words = self._connection.execute(
            f"SELECT rowid, bm25(words) FROM words WHERE {self._where()} ORDER BY rowid DESC",
            self._bounds(),
        )
        ranked = list(islice(self._candidates(with_words), _RANKED))
        total = len(ranked) if len(ranked) < _RANKED else self._count()
        newest = max((each.document.at_ms for each in ranked), default=0)
        ranked = [each._replace(score=_score(each, newest)) for each in ranked]
        ranked.sort(key=lambda each: -each.score)
        counts = Counter(each.block.session for each in ranked)
        best = list(islice(_fewer(ranked, per_session), limit))
        names = _Names(self._connection)
        hits = [self._hit(each, names) for each in best]
        by_name = {names.session(id)[:2]: number for id, number in counts.items()}
        return Found(hits, total, by_name)

    def _where(self) -> str:
        return "words MATCH :match AND rowid BETWEEN :first AND :last"

    def _bounds(self) -> dict[str, object]:
        """The numbers between which all documents of the wanted time are."""
        first, last = 0, 2**62
        if self._query.since is not None:
            row = self._connection.execute(
                "SELECT min(id) FROM blocks WHERE last_at >= ?",
                (in_milliseconds(self._query.since),),
            ).fetchone()
            first = last + 1 if row[0] is None else row[0]
        if self._query.until is not None:
            row = self._connection.execute(
                "SELECT max(id + count) FROM blocks WHERE first_at < ?",
                (in_milliseconds(self._query.until),),
            ).fetchone()
            last = -1 if row[0] is None else row[0]
        return {"match": self._match, "first": first, "last": last}

    def _candidates(self, rows: Iterator[tuple[int, float]]) -> Iterator[_Candidate]:
        for number, rank in rows:
            block = self._blocks.of(number)
            if self._is_wanted(number, block):
                yield _Candidate(-rank, number, block, self._blocks.placed(number, block))

    def _is_wanted(self, number: int, block: Block) -> bool:
        if block.forgotten or (self._sessions is not None and block.session not in self._sessions):
            return False
        if not self._query.is_of_documents:
            return True
        return self._passes(self._blocks.placed(number, block))

    def _passes(self, document: Placed) -> bool:
        """True if a document passes the filters on documents."""
        query = self._query
        return (
            (query.kind is None or KINDS[document.kind] == query.kind)
            and (query.status is None or STATUSES[document.status] == query.status)
            and (self._tools is None or document.tool in self._tools)
            and (query.since is None or document.at_ms >= query.since * _MS)
            and (query.until is None or document.at_ms < query.until * _MS)
        )

    def _count(self) -> int:
        """Count the documents that have the words and pass the filters."""
        query = self._query
        forgotten = "SELECT EXISTS (SELECT 1 FROM blocks WHERE forgotten)"
        is_plain = not (query.is_of_documents or query.is_of_sessions)
        if is_plain and not self._connection.execute(forgotten).fetchone()[0]:
            counted = f"SELECT count(*) FROM words WHERE {self._where()}"
            number: int = self._connection.execute(counted, self._bounds()).fetchone()[0]
            return number
        rows = self._connection.execute(
            f"SELECT rowid FROM words WHERE {self._where()} ORDER BY rowid DESC", self._bounds()
        )
        blocks = self._blocks
        return sum(self._is_wanted(number, blocks.of(number)) for (number,) in rows)

    def _hit(self, found: _Candidate, names: "_Names") -> Hit:
        block, document = found.block, found.document
        agent, session, project = names.session(block.session)
        kind, path = KINDS[document.kind], names.source(block.source)
        text = self._blocks.text(block, document)
        if text is None:
            text = self._redact(source_text(agent, path, document.offset, kind) or "")
        shown = excerpt(text, self._pattern)
        return Hit(
            agent=agent,
            session=session,
            project=project,
            at=document.at_ms / _MS,
            kind=kind,
            excerpt=shown.text,
            marks=shown.marks,
            tool=names.tool(document.tool),
            status=STATUSES[document.status],
            source=path,
            position=document.offset,
            score=round(found.score, 6),
        )


class _Names:
    """Looks up the names behind the ids of the index."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._sessions: dict[int, tuple[str, str, str | None]] = {}

    def session(self, id: int) -> tuple[str, str, str | None]:
        """The agent, the id and the project of a session."""
        if id not in self._sessions:
            query = "SELECT agent, session, project FROM sessions WHERE id = ?"
            row = self._connection.execute(query, (id,)).fetchone()
            self._sessions[id] = row or ("", "", None)
        return self._sessions[id]

    def source(self, id: int) -> str:
        """The path of a source."""
        query = "SELECT path FROM sources WHERE id = ?"
        row = self._connection.execute(query, (id,)).fetchone()
        return row[0] if row else ""

    def tool(self, id: int) -> str | None:
        """The name of a tool."""
        query = "SELECT text FROM names WHERE id = ?"
        row = self._connection.execute(query, (id,)).fetchone()
        return row[0] if row else None


def _sessions(connection: sqlite3.Connection, query: SearchQuery) -> set[int]:
    """The numbers of the wanted sessions."""
    rows = connection.execute("SELECT id, agent, session, project FROM sessions")
    return {number for number, *about in rows if query.takes_session(*about)}


def _tools(connection: sqlite3.Connection, name: str) -> set[int]:
    query = "SELECT id FROM names WHERE text = ? COLLATE NOCASE"
    return {id for (id,) in connection.execute(query, (name,))}


def _score(found: _Candidate, newest_ms: int) -> float:
    """Score a hit by its words, its kind, its length and its age."""
    document = found.document
    recency: float = 0.5 ** (max(0, newest_ms - document.at_ms) / _HALF_LIFE_MS)
    length = 1 / (0.75 + 0.25 * document.size / _USUAL_SIZE)
    return found.score * _WEIGHTS[KINDS[document.kind]] * length * (0.3 + 0.7 * recency)


def _fewer(ranked: Sequence[_Candidate], per_session: int | None) -> Iterator[_Candidate]:
    """The same without those of a session that has enough better ones."""
    taken: Counter[int] = Counter()
    for each in ranked:
        taken[each.block.session] += 1
        if per_session is None or taken[each.block.session] <= per_session:
            yield each


def by_session(hits: Sequence[Hit]) -> list[list[Hit]]:
    """The hits of each session together, the session of the best hit first."""
    sessions: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        sessions.setdefault((hit.agent, hit.session), []).append(hit)
    return list(sessions.values())


_TERM = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')
_WORD = re.compile(r"[^\W_]")  # `_` separates words, as for SQLite


class EmptyQueryError(NightrookError):
    """A query without a word to look for."""


def expression(query: str) -> str:
    """Return the expression for words, "phrases", prefixes* and -excluded words.

    A word of several parts, such as `run_all` or `src/main.py`, is a phrase of them. Nothing that a
    person types is an operator of SQLite's own.
    """
    wanted: list[str] = []
    excluded: list[str] = []
    for term in _TERM.finditer(query):
        text = term["phrase"] if term["phrase"] is not None else term["word"]
        if not text or not _WORD.search(text):
            continue
        is_prefix = term["word"] is not None and text.endswith("*")
        quoted = '"' + text.rstrip("*").replace("\0", " ") + '"' + ("*" if is_prefix else "")
        (excluded if term["minus"] else wanted).append(quoted)
    if not wanted:
        raise EmptyQueryError(
            'nothing to look for: name a word, a "phrase" or a prefix*; -word excludes a word'
        )
    together = " AND ".join(wanted)
    return f"({together})" + "".join(f" NOT {term}" for term in excluded)


def marked_words(query: str) -> re.Pattern[str] | None:
    """Return a pattern for the places of the wanted words in a text `without_accents`."""
    parts: list[str] = []
    for term in _TERM.finditer(query):
        text = term["phrase"] if term["phrase"] is not None else term["word"]
        if term["minus"] or not text:
            continue
        words = re.findall(r"[^\W_]+", without_accents(text))
        if words:
            joined = r"[\W_]+".join(map(re.escape, words))
            end = "" if text.endswith("*") else r"(?![^\W_])"
            parts.append(rf"(?<![^\W_]){joined}{end}")
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None


def without_accents(text: str) -> str:
    """The same text, each letter without its accents, as the index compares them."""
    return text if text.isascii() else "".join(map(_without_accents, text))


@lru_cache(maxsize=4096)
def _without_accents(character: str) -> str:
    parts = unicodedata.normalize("NFD", character)
    return parts[0] if all(map(unicodedata.combining, parts[1:])) else character


_BEFORE, _LENGTH = 60, 200  # characters


class Excerpt(NamedTuple):
    """A part of a text on one line."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    """Matches of the words in it: start and end, in characters."""


def excerpt(text: str, pattern: re.Pattern[str] | None) -> Excerpt:
    """Cut a text around the first word that was looked for."""
    first = pattern.search(without_accents(text)) if pattern is not None else None
    begin = max(0, first.start() - _BEFORE) if first else 0
    part = " ".join(text[begin : begin + _LENGTH].split())
    shown = ("… " if begin else "") + part + (" …" if begin + _LENGTH < len(text) else "")
    found = pattern.finditer(without_accents(shown)) if pattern is not None else ()
    return Excerpt(shown, tuple(match.span() for match in found))


_LARGEST = 16 << 20  # of a line


def source_text(agent: str, path: str, offset: int, kind: DocumentKind) -> str | None:
    """The text of a document; None if its file is gone, or is not one of lines."""
    if agent not in agents.HISTORIES:
        return None
    transcript = agents.transcript(agent)
    if transcript.query is not None or transcript.lines is not None:
        return None
    try:
        line = _line(path, offset)
    except OSError:
        return None
    decoder = transcript.decoder()
    records = [*decoder.feed(line), *decoder.close()]
    return next((each.text for each in documents(records) if each.kind == kind), None)


def _line(path: str, offset: int) -> bytes:
    fd = open_unseen(path)
    try:
        data = os.pread(fd, _LARGEST, offset)
    finally:
        os.close(fd)
    return data[: data.find(b"\n") + 1] or data
