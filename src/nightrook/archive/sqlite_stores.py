"""Reads the SQLite stores of agents without changing a byte or a time in their folders.

A connection to a database in WAL mode usually writes: it makes and removes the files `-wal` and
`-shm` beside the database. How to open a store so that it does not depends on what is there:

- no `-wal`, or an empty one: everything is in the database, which is opened as immutable. SQLite
  does not look for changes then, so the file must be the same afterwards.
- `-wal` and `-shm`: SQLite reads both, and must not write to the second.
- `-wal` alone: a copy is read, because SQLite would have to make the other file.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from nightrook.adapter.history import Finding, History, Query

_ATTEMPTS = 3  # to read a store that changes meanwhile
_BATCH = 500  # sessions whose findings are passed on together

_PATIENCE_S = 1.0  # with a process that has locked the store
_WRITTEN = ("", "-wal", "-journal")  # suffixes of the files that hold the content of a store

_SETTLED_NS = 2_000_000_000
"""A file that changed later than that may change again without another time."""


class StoreReading(NamedTuple):
    """A part of what is new in a store."""

    findings: list[Finding]
    memory: bytes
    """State of the reader: pass it to the next reading, once these findings are stored."""

    problem: str | None = None
    """Reason why the rest could not be read."""


class _Memory(msgspec.Struct):
    """State of a store's reader: the marks of all sessions, for each query."""

    stamp: str = ""
    """The state of the store's files, if all of it was read; empty if it must be looked into."""

    marks: list[dict[str, str]] = []


_MEMORY = msgspec.json.Decoder(_Memory)


class _StoreChangedError(Exception):
    """The store was changed while it was read as immutable, or copied."""


class Store(NamedTuple):
    """An open store."""

    connection: sqlite3.Connection
    check: Callable[[], None]
    """Raises an error if what was read so far may be wrong."""


def read_store(
    history: History, path: str | os.PathLike[str], memory: bytes | None = None
) -> Iterator[StoreReading]:
    """Yield what is new in a store since the reading that left this memory; never raises.

    Only sessions that have changed are read, each of them whole. If the store is damaged, locked or
    foreign, the last reading has a problem. Nothing is yielded if the files have not changed.
    """
    store = Path(path)
    known = _load(memory, len(history.queries))
    stamp = _stamp(store)
    if stamp and stamp == known.stamp:
        return
    known.stamp = ""
    problem: str | None = "it changes while it is read"
    for _ in range(_ATTEMPTS):
        try:
            yield from _read_new(history, store, known)
        except _StoreChangedError:
            continue
        except (sqlite3.Error, OSError) as error:
            problem = _reason(error)
        else:
            known.stamp, problem = stamp, None
        break
    yield StoreReading([], _dump(known), problem)


def store_schema(path: str | os.PathLike[str]) -> bytes:
    """Return the statements that made a store's tables, which tell its agent; empty on an error."""
    try:
        with opened(Path(path)) as store:
            return _table_statements(store.connection)
    except (sqlite3.Error, OSError, _StoreChangedError):
        return b""


def _read_new(history: History, path: Path, known: _Memory) -> Iterator[StoreReading]:
    """Read the new sessions; the marks of those that were yielded are known afterwards."""
    with opened(path) as store:
        if not history.recognises(_table_statements(store.connection)):
            raise sqlite3.DatabaseError(f"it isn't a store of {history.agent}")
        marks_now = [_session_marks(store.connection, query) for query in history.queries]
        if all(marks is None for marks in marks_now):
            raise sqlite3.DatabaseError("rook doesn't know this version of its tables")
        for query, now, marks in zip(history.queries, marks_now, known.marks, strict=True):
            for findings in _read_sessions(store, query, now or {}, marks):
                yield StoreReading(findings, _dump(known))


def _session_marks(connection: sqlite3.Connection, query: Query) -> dict[str, str] | None:
    """The marks of all sessions; None if the store does not have the tables of a query."""
    try:
        connection.execute(query.rows, {"key": None}).fetchone()
        return {str(key): str(mark) for key, mark in connection.execute(query.changes)}
    except sqlite3.OperationalError as error:
        if str(error).startswith(("no such table", "no such column")):
            return None
        raise


def _read_sessions(
    store: Store, query: Query, now: dict[str, str], marks: dict[str, str]
) -> Iterator[list[Finding]]:
    """Read the sessions whose mark `now` is not the known one, as far as they can be read."""
    damage: sqlite3.DatabaseError | None = None
    for keys in _batches([key for key, mark in now.items() if marks.get(key) != mark]):
        findings: list[Finding] = []
        read: dict[str, str] = {}
        for key in keys:
            try:
                rows = store.connection.execute(query.rows, {"key": key}).fetchall()
            except sqlite3.DatabaseError as error:
                damage = error
                continue
            findings += query.read(rows)
            read[key] = now[key]
        store.check()  # guards: changed-store-read-again
        marks.update(read)
        yield findings
    for gone in marks.keys() - now.keys():
        del marks[gone]
    if damage is not None:
        raise damage


def _batches(keys: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(keys), _BATCH):
        yield keys[start : start + _BATCH]


@contextmanager
def opened(path: Path) -> Iterator[Store]:
    """Open a store in the way that leaves its folder as it is."""
    before = _state(path)

    def check() -> None:
        if _state(path) != before:
            raise _StoreChangedError

    if not _has(path, "-wal") and not _has(path, "-journal"):  # guards: unfinished-transaction
        # guards: missing-store-not-made
        with closing(_connect(path, "mode=ro&immutable=1")) as connection:
            yield Store(connection, check)
    elif (shared := _shared(path)) is not None:
        with closing(shared):
            yield Store(shared, lambda: None)
    else:
        import shutil  # slow to import, and few stores are copied
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="nightrook-") as folder:
            copy = Path(folder, "copy.db")
            for suffix in _WRITTEN:
                with suppress(FileNotFoundError):
                    shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
            check()
            with closing(_connect(copy, "mode=rw")) as connection:
                yield Store(connection, lambda: None)


def _shared(path: Path) -> sqlite3.Connection | None:
    """Open a store that its agent may have open; None if that would change its folder."""
    if _has(path, "-journal") or not _has(path, "-shm"):
        return None
    try:
        return _connect(path, "mode=ro&readonly_shm=1")  # guards: store-read-only
    except sqlite3.OperationalError:
        return None


def _connect(path: Path, options: str) -> sqlite3.Connection:
    uri = f"file:{quote(os.fsencode(path.absolute()))}?{options}"
    connection = sqlite3.connect(uri, uri=True, timeout=_PATIENCE_S, isolation_level=None)
    try:
        connection.text_factory = _text
        _table_statements(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _table_statements(connection: sqlite3.Connection) -> bytes:
    statements = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    return "\n".join(str(sql) for (sql,) in statements).encode("utf-8", "replace")


def _has(path: Path, suffix: str) -> bool:
    """True if there is such a file next to the store, and it is not empty."""
    try:
        return Path(f"{path}{suffix}").stat().st_size > 0
    except FileNotFoundError:
        return False


def _state(path: Path) -> list[tuple[int, int, int]]:
    """Return a stamp that changes when the store is written to."""
    state = []
    for suffix in _WRITTEN:
        try:
            file = Path(f"{path}{suffix}").stat()
        except FileNotFoundError:
            state.append((0, 0, 0))
        else:
            state.append((file.st_ino, file.st_size, file.st_mtime_ns))
    return state


def _stamp(path: Path) -> str:
    """The state of the store, by which it is known to be unchanged; empty if it may change still.

    Clocks of files are coarse: a file can change again within the same moment.
    """
    try:
        state = _state(path)
    except OSError:
        return ""
    # guards: settled-store
    if time.time_ns() - max(changed for _, _, changed in state) < _SETTLED_NS:
        return ""
    return " ".join(str(number) for numbers in state for number in numbers)


def _load(memory: bytes | None, queries: int) -> _Memory:
    """Load what is known of a store; nothing is, if other queries read it before."""
    try:
        known = _MEMORY.decode(memory or b"")
    except (ValueError, RecursionError):
        known = _Memory()
    if len(known.marks) != queries:
        return _Memory(marks=[{} for _ in range(queries)])
    return known


def _dump(known: _Memory) -> bytes:
    return msgspec.json.encode(known)


def _reason(error: sqlite3.Error | OSError) -> str:
    text = error.strerror if isinstance(error, OSError) else str(error)
    return text or type(error).__name__
