"""Rows of an export: events, calls and sessions, in one documented form.

The rows are written as JSON lines, CSV or Parquet.
"""

import csv
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import IO, Literal, NamedTuple

import msgspec

from nightrook.archive.report.sessions import listed_sessions
from nightrook.archive.search.documents import Document, DocumentFilter, documents
from nightrook.archive.sessions.copies import copied_sources
from nightrook.archive.sessions.reader import SessionSource, SourceReading, session_sources
from nightrook.model.errors import NightrookError
from nightrook.model.text import encodable

SCHEMA_VERSION = 1
"""Grows when a column is renamed, removed or changes its meaning; new columns come last."""

Cell = str | int | float | None
Row = tuple[Cell, ...]
ColumnType = Literal["text", "integer", "number"]

_NANO = 1_000_000_000
_MS = 1000
_LONGEST_NAME = 300  # characters; a longer cell is a text, which is not remembered
_CACHED = 4096


class Column(NamedTuple):
    """A column of a table; every value may be missing."""

    name: str
    type: ColumnType = "text"


class Table(NamedTuple):
    """Rows for a writer."""

    columns: tuple[Column, ...]
    rows: Iterator[Row]


EVENTS = (
    *(Column("agent"), Column("session"), Column("project"), Column("at", "number")),
    *(Column("kind"), Column("tool"), Column("status"), Column("text")),
    *(Column("source"), Column("position", "integer")),
)


def events(
    homes: Sequence[Path], wanted: DocumentFilter, redact: Callable[[str], str], kept: Path
) -> Table:
    """Prompts, answers, thinking, commands, paths and outputs of all stored sessions, whole.

    Sessions whose files are gone are read from their raw copies in `kept`, the home of nightrook.
    """
    present = session_sources(homes)
    sources = [*present, *copied_sources(kept, present)]
    chosen = (source for source in sources if wanted.takes_agent(source.agent))
    rows = (row for source in chosen for row in _events_of(source, wanted))
    return Table(EVENTS, _redacted(rows, redact))


def _redacted(rows: Iterable[Row], redact: Callable[[str], str]) -> Iterator[Row]:
    """The rows without secrets, which names of folders and branches can have, too."""
    short = lru_cache(maxsize=_CACHED)(redact)  # names are repeated in many rows
    for row in rows:
        yield tuple(
            (short if len(cell) < _LONGEST_NAME else redact)(cell)
            if isinstance(cell, str)
            else cell
            for cell in row
        )


def _events_of(source: SessionSource, wanted: DocumentFilter) -> Iterator[Row]:
    reading = SourceReading(source)
    for records in reading.records():
        for document in documents(records, whole=True):
            if not wanted.takes_document(document):
                continue
            if wanted.takes_session(reading.agent, reading.session, reading.project):
                yield _event(document, reading, source.path)


def _event(document: Document, reading: SourceReading, path: str) -> Row:
    return (
        reading.agent,
        reading.session,
        reading.project,
        document.at,
        document.kind,
        document.tool,
        document.status,
        document.text,
        path,
        document.offset,
    )


CALLS = (
    *(Column("agent"), Column("session"), Column("project"), Column("branch")),
    *(Column("at", "number"), Column("model"), Column("subagent")),
    *(Column("input", "integer"), Column("output", "integer")),
    *(Column("cache_read", "integer"), Column("cache_write", "integer")),
    *(Column("reasoning", "integer"), Column("cost_usd", "number"), Column("cost_kind")),
)
_CALLS = """
SELECT s.agent, s.session, coalesce(project.text, s.project), coalesce(branch.text, s.branch),
  c.at, model.text, subagent.text, c.input, c.output, c.cache_read,
  c.cache_write_5m + c.cache_write_1h, c.reasoning,
  coalesce(c.share_nano, c.native_nano, c.estimated_nano),
  CASE WHEN coalesce(c.share_nano, c.native_nano) IS NOT NULL THEN 'native'
    WHEN c.estimated_nano IS NOT NULL THEN 'estimated' END
FROM calls c
JOIN sessions s ON s.id = c.session_id
LEFT JOIN names project ON project.id = c.project
LEFT JOIN names branch ON branch.id = c.branch
LEFT JOIN names model ON model.id = c.model
LEFT JOIN names subagent ON subagent.id = c.subagent
WHERE c.counted = 1 AND c.extra = 0
ORDER BY c.at
"""


def calls(
    connection: sqlite3.Connection, wanted: DocumentFilter, redact: Callable[[str], str]
) -> Table:
    """Return a table of every call that counts, once, with its tokens and its cost."""
    return Table(CALLS, _redacted(_call_rows(connection, wanted), redact))


def _call_rows(connection: sqlite3.Connection, wanted: DocumentFilter) -> Iterator[Row]:
    for row in connection.execute(_CALLS):
        agent, session, project, branch, at, *counts, nano, kind = row
        seconds = None if at is None else at / _MS
        if wanted.takes_session(agent, session, project) and wanted.takes_time(seconds):
            cost = None if nano is None else nano / _NANO
            yield (agent, session, project, branch, seconds, *counts, cost, kind)


SESSIONS = (
    *(Column("agent"), Column("session"), Column("project"), Column("branch"), Column("title")),
    *(Column("started_at", "number"), Column("ended_at", "number"), Column("model")),
    *(Column("input", "integer"), Column("output", "integer")),
    *(Column("cache_read", "integer"), Column("cache_write", "integer")),
    *(Column("native_usd", "number"), Column("estimated_usd", "number")),
    *(Column("unpriced_tokens", "integer"), Column("calls", "integer")),
)


def sessions(
    connection: sqlite3.Connection, wanted: DocumentFilter, redact: Callable[[str], str]
) -> Table:
    """The sessions that people had, newest first, each with its subagents."""
    return Table(SESSIONS, _redacted(_session_rows(connection, wanted), redact))


def _session_rows(connection: sqlite3.Connection, wanted: DocumentFilter) -> Iterator[Row]:
    for session in listed_sessions(connection):
        if not wanted.takes_session(session.agent, session.session, session.project):
            continue
        if not wanted.takes_time(session.started_at):
            continue
        used = session.used
        yield (
            session.agent,
            session.session,
            session.project,
            session.branch,
            session.title,
            session.started_at,
            session.ended_at,
            session.model,
            used.tokens.input,
            used.tokens.output,
            used.tokens.cache_read,
            used.tokens.cache_write,
            used.cost_usd.native,
            used.cost_usd.estimated,
            used.unpriced_tokens,
            used.calls,
        )


Format = Literal["jsonl", "csv", "parquet"]

_BATCH = 10_000
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""First characters with which a spreadsheet runs the text of a cell."""


class MissingLibraryError(NightrookError):
    """A library that an export needs is not installed."""


def write(table: Table, out: IO[bytes], written: Format) -> int:
    """Write all rows; return how many there were."""
    if written == "parquet":
        return _write_parquet(table, out)
    return _write_csv(table, out) if written == "csv" else _write_lines(table, out)


def _write_lines(table: Table, out: IO[bytes]) -> int:
    names = [column.name for column in table.columns]
    encoder = msgspec.json.Encoder()
    count = 0
    for row in table.rows:
        count += 1
        fields = dict(zip(names, _encodable(row), strict=True))
        out.write(encoder.encode(fields) + b"\n")
    return count


def _encodable(row: Row) -> Row:
    return tuple(encodable(cell) if isinstance(cell, str) else cell for cell in row)


def _write_csv(table: Table, out: IO[bytes]) -> int:
    text = TextIOWrapper(out, encoding="utf-8", errors="replace", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(column.name for column in table.columns)
    count = 0
    for row in table.rows:
        count += 1
        writer.writerow(_harmless(cell) if isinstance(cell, str) else cell for cell in row)
    text.flush()
    text.detach()
    return count


def _harmless(cell: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(_FORMULAS) else cell


def _write_parquet(table: Table, out: IO[bytes]) -> int:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise MissingLibraryError(
            "Parquet needs pyarrow: pip install 'nightrook[parquet]', or use --jsonl or --csv"
        ) from error
    types = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64()}
    fields = [pa.field(column.name, types[column.type]) for column in table.columns]
    metadata = {"nightrook_schema": str(SCHEMA_VERSION)}
    schema = pa.schema(fields, metadata=metadata)
    count = 0
    with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for batch in _batches(table.rows):
            count += len(batch)
            columns = zip(*map(_encodable, batch), strict=True)
            arrays = [pa.array(c, type=f.type) for c, f in zip(columns, fields, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    return count


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while batch := list(islice(rows, _BATCH)):
        yield batch
