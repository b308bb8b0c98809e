"""`Ledger`: the database of all calls, opened, priced and written in batches.

How the ledger works, and what each part may rely on:

    lines of files ─▶ findings ─▶ Batch ─▶ one transaction: sources, sessions, calls, limits, runs
                                (memory)         └─▶ what counts ─▶ sums ─▶ reports

A call is one request to a model. Several lines report it: a stream repeats a message, a fork or a
resumed session copies it, a subagent's file has it again. `calls.py` merges them, whatever their
order, and merging a line twice changes nothing. Everything else rests on that: files are read in
any order, and one may be read again from its start without counting anything twice.

A batch is written in one transaction together with how far its files were read (`sources.py`). A
process that dies in between loses both, so the next import reads those bytes again. Only the
process that holds `ledger.lock` imports; any number may query meanwhile, and see whole batches.

What follows from a call can change when another session is read, so a batch notes the sessions that
it touches (`Touched`). For these, and those that depend on them, it is computed again:

1. `settle` gives calls without a time that of the last message of their session, and decides which
   calls count. One that a fork has inherited counts in the session that made it, and a session's
   own summary only if the session has no other call.
2. `share_runs` makes the calls of a run of rook the detail of the run's own figures. The rest is a
   row of its own, which may be negative, so that the rows of a run add up to what it reports.
3. `make_sums` adds up what counts, for each quarter of an hour. Reports read sums; single calls are
   read only where a period begins or ends.

Estimates are stored with the calls, and are made again (`reprice`) when the prices have another
version. Agents delete their files after some weeks, so the ledger can't be made again from them:
nothing that was counted is removed because its file is gone or was rewritten, and `rebuild.py`
carries such calls over. The tables, and the migrations that lead to them, are in `schema.py`.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Self

from nightrook.archive.ledger.batch import Batch
from nightrook.archive.ledger.calls import Names
from nightrook.archive.ledger.counting import Touched, make_sums, reprice
from nightrook.archive.ledger.pricing import KeptPrices
from nightrook.archive.ledger.schema import MIGRATIONS, migrate, version
from nightrook.archive.ledger.sources import Source, read_sources
from nightrook.archive.ledger.writer import conclude, write
from nightrook.model.errors import NightrookError
from nightrook.model.price import Prices
from nightrook.prices import PriceBook
from nightrook.store.files import Folder

FILE = "ledger.db"
"""The name of the database in the home of nightrook."""

_PATIENCE_S = 60.0  # with another process that writes a batch

_SETTINGS = (
    "PRAGMA synchronous = NORMAL",  # a power cut loses whole batches at most: they are read again
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -65536",  # 64 MiB at most: what a large batch changes stays in memory
)

_TRANSIENT = (
    *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN),
    *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED),
    *(sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERRUPT),
)
"""Errors that do not mean that the content of the ledger is damaged."""

_PRICES = "prices"  # the version of the prices that were used


class LedgerError(NightrookError):
    """The ledger cannot be read or written; the message has the reason and the remedy."""


class Ledger:
    """The ledger: all calls of all agents, each counted once."""

    def __init__(self, connection: sqlite3.Connection, path: Path, prices: Prices) -> None:
        self.connection = connection
        """Connection for queries; only batches write."""
        self.path = path
        self._prices = prices
        self._kept_prices = KeptPrices(connection, prices)

    @classmethod
    def open(cls, path: str | PathLike[str], prices: Prices | None = None) -> Self:
        """Open the ledger, made for its owner alone if it is missing, and bring it up to date.

        Without prices, the user's own and those of the list are used.
        """
        place = Path(path)
        with Folder.made(place.parent) as folder:
            os.close(folder.append(place.name))  # guards: ledger-private
        connection = sqlite3.connect(place, timeout=_PATIENCE_S, isolation_level=None)
        ledger = cls(connection, place, PriceBook() if prices is None else prices)
        try:
            ledger._prepare()
        except BaseException:
            connection.close()
            raise
        return ledger

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self.connection.close()
        if isinstance(error, sqlite3.Error):
            raise self._error(error) from error

    def _prepare(self) -> None:
        try:
            use_write_ahead_log(self.connection, _PATIENCE_S)
            for setting in _SETTINGS:
                self.connection.execute(setting)
            found = version(self.connection)
            if found > len(MIGRATIONS):  # guards: later-ledger-refused
                raise LedgerError(
                    f"{self.path} was written by a later version of nightrook "
                    f"(format {found}, this version reads {len(MIGRATIONS)}); upgrade nightrook"
                )
            migrate(self.connection)
        except sqlite3.Error as error:
            raise self._error(error) from error

    def _error(self, error: sqlite3.Error) -> LedgerError:
        """Return the problem and its remedy; only a damaged ledger is to be moved away."""
        # guards: full-disk-keeps-ledger
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _TRANSIENT:
            return LedgerError(f"{self.path} can't be used: {error}; check the disk and try again")
        return LedgerError(
            f"{self.path} can't be opened as a ledger: {error}; move it away "
            "and run  rook import  to read all sessions again"
        )

    def sources(self) -> dict[str, Source]:
        """Return all files that were read, by their paths."""
        return read_sources(self.connection)

    def stamps(self) -> dict[str, tuple[int, int, int]]:
        """The inode, size and time of change of the files that were read, by their paths.

        The inode of a SQLite store is -1: its file does not show whether it has changed.
        """
        rows = self.connection.execute(
            "SELECT path, iif(kind = 'sqlite', -1, inode), size, mtime_ns FROM sources "
            "WHERE state = 'ok'"
        )
        return {path: (inode, size, at) for path, inode, size, at in rows}

    def has_unreadable(self) -> bool:
        """True if a file or folder could not be read when last checked."""
        query = "SELECT 1 FROM sources WHERE state = 'unreadable' LIMIT 1"
        return self.connection.execute(query).fetchone() is not None

    @contextmanager
    def batch(self) -> Iterator[Batch]:
        """Collect findings in a batch; the end of the block writes all of it or nothing."""
        batch = Batch()
        yield batch
        self.write(batch)

    def write(self, batch: Batch) -> int:
        """Write a batch, all of it or nothing; return how many calls are new."""
        with self._transaction():
            return write(self.connection, batch, self._kept_prices)

    def reprice(self, prices_version: str) -> None:
        """Price all calls again if that is not the version of the prices that was used."""
        known = self.meta(_PRICES)
        if known == prices_version:
            return
        with self._transaction():
            if known is not None:
                self._reprice_all()
            self.set_meta(_PRICES, prices_version)

    def replace_with(self, other: "Ledger") -> None:
        """Take the content of another ledger, in one transaction: others see all of it or none."""
        try:
            other.connection.backup(self.connection)
        except sqlite3.Error as error:
            raise self._error(error) from error

    def meta(self, key: str) -> str | None:
        """A value that was set."""
        row = self.connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        """Set a value, in the caller's transaction if there is one."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def _reprice_all(self) -> None:
        self.connection.execute("DELETE FROM rates")
        self._kept_prices = KeptPrices(self.connection, self._prices)
        names, touched = Names(self.connection), Touched(self.connection)
        reprice(self.connection, self._kept_prices, names, "c.source_id != 0")
        touched.add_all()
        conclude(self.connection, touched, self._kept_prices, names)
        make_sums(self.connection)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self.connection.execute("BEGIN IMMEDIATE")  # guards: batch-whole
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._error(error) from error


_POLL_S = 0.01


def use_write_ahead_log(connection: sqlite3.Connection, patience_s: float) -> None:
    """Switch to a write-ahead log; wait so long for a process that is in the way.

    SQLite's own waiting does not cover this one change: it reads first and writes then, and is
    refused at once if another process writes in between, as when two make the same database.
    """
    give_up_at = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() >= give_up_at:  # guards: ledger-waits
                raise
        time.sleep(_POLL_S)
