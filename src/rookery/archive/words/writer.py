"""Writes documents into the index of words, in transactions of many."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple, get_args

from rookery.archive.words.compression import compress
from rookery.archive.words.documents import KINDS, Document
from rookery.model.events import Status

STATUSES: tuple[Status, ...] = get_args(Status)
DELETED = -1
"""The kind of a document that is no longer found; its number is never used again."""

_BLOCK = 256_000  # characters of text that are compressed together
_START = 1_577_836_800  # 2020, in seconds since 1970
_PER_SECOND = 8
_INSERT = "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class SourceRow(NamedTuple):
    """A file, or a session of a SQLite store, as the index has it."""

    id: int
    stamp: str
    size: int


class Writer:
    """Adds documents; `keeps_text` says whether excerpts outlive the agent's files."""

    def __init__(self, connection: sqlite3.Connection, *, keeps_text: bool) -> None:
        self._connection = connection
        self._keeps_text = keeps_text
        self._names: dict[str, int] = {}
        self._last_at: float = _START

    def source(self, agent: str, path: str, session: str) -> SourceRow:
        """The row of a source, made if it is new."""
        query = "SELECT id, stamp, size FROM sources WHERE path = ? AND session = ?"
        row = self._connection.execute(query, (path, session)).fetchone()
        if row is not None:
            return SourceRow(*row)
        made = self._connection.execute(
            "INSERT INTO sources (agent, path, session, stamp, size) VALUES (?, ?, ?, '', 0)",
            (agent, path, session),
        )
        return SourceRow(made.lastrowid or 0, "", 0)

    def session(self, agent: str, session: str, project: str | None) -> int:
        """The number of a session, made if it is new."""
        query = (
            "INSERT INTO sessions (agent, session, project) VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET project = coalesce(project, excluded.project) RETURNING id"
        )
        number: int = self._connection.execute(query, (agent, session, project)).fetchone()[0]
        return number

    def forget(self, source: SourceRow) -> None:
        """Let the documents of a source that was rewritten no longer be found."""
        query = "UPDATE documents SET kind = ? WHERE source_id = ?"
        self._connection.execute(query, (DELETED, source.id))

    def note(self, source: SourceRow, stamp: str, size: int) -> None:
        """Note how far a source was indexed."""
        query = "UPDATE sources SET stamp = ?, size = ? WHERE id = ?"
        self._connection.execute(query, (stamp, size, source.id))

    def add(self, documents: Sequence[Document], *, session: int, source: SourceRow) -> None:
        """Add documents of a source."""
        if not documents:
            return
        ids = self._ids(documents)
        texts = zip(ids, (document.text for document in documents), strict=True)
        self._connection.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", texts)
        rows = (
            (
                id,
                session,
                source.id,
                document.offset,
                KINDS.index(document.kind),
                self._name(document.tool),
                None if document.status is None else STATUSES.index(document.status),
                block,
                start,
                len(document.text),
            )
            for id, document, (block, start) in zip(
                ids, documents, self._kept(documents), strict=True
            )
        )
        self._connection.executemany(_INSERT, rows)

    def _kept(self, documents: Sequence[Document]) -> Iterator[tuple[int | None, int]]:
        """Keep the texts; yield the block of each, and its place there."""
        if not self._keeps_text:
            yield from ((None, 0) for _ in documents)
            return
        first = 0
        while first < len(documents):
            size, end = 0, first
            while end < len(documents) and (size == 0 or size < _BLOCK):
                size += len(documents[end].text)
                end += 1
            block = "".join(document.text for document in documents[first:end])
            made = self._connection.execute(
                "INSERT INTO texts (data) VALUES (?)", (compress(block),)
            )
            start = 0
            for document in documents[first:end]:
                yield made.lastrowid, start
                start += len(document.text)
            first = end

    def _ids(self, documents: Sequence[Document]) -> list[int]:
        """Numbers that grow with time; those that are taken are left out."""
        wanted: list[int] = []
        last = 0
        for document in documents:
            self._last_at = document.at or self._last_at
            last = max(int((self._last_at - _START) * _PER_SECOND), last + 1, 1)
            wanted.append(last)
        query = "SELECT id FROM documents WHERE id BETWEEN ? AND ?"
        found = self._connection.execute(query, (wanted[0], wanted[-1] + len(wanted)))
        taken = {id for (id,) in found}
        if not taken:
            return wanted
        return self._free(wanted, taken)

    def _free(self, wanted: Sequence[int], taken: set[int]) -> list[int]:
        ids: list[int] = []
        last = 0
        for id in wanted:
            last = max(id, last + 1)
            while last in taken or (last > wanted[-1] and self._is_taken(last)):
                last += 1
            ids.append(last)
        return ids

    def _is_taken(self, id: int) -> bool:
        query = "SELECT 1 FROM documents WHERE id = ?"
        return self._connection.execute(query, (id,)).fetchone() is not None

    def _name(self, text: str | None) -> int | None:
        if text is None:
            return None
        if text not in self._names:
            query = (
                "INSERT INTO names (text) VALUES (?) "
                "ON CONFLICT DO UPDATE SET text = text RETURNING id"
            )
            self._names[text] = self._connection.execute(query, (text,)).fetchone()[0]
        return self._names[text]
