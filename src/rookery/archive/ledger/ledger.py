"""`Ledger`: the database of all calls, opened, locked and written in batches."""

import os
import sqlite3
from os import PathLike
from pathlib import Path
from typing import Self

from rookery.archive.ledger.records import Source
from rookery.archive.ledger.schema import MIGRATIONS, migrate, version
from rookery.model.errors import RookeryError
from rookery.store.files import Folder

FILE = "ledger.db"
"""The name of the database in the home of rookery."""

_PATIENCE_S = 60.0  # with another process that writes a batch

_SETTINGS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",  # a power cut loses whole batches at most: they are read again
    "PRAGMA temp_store = MEMORY",
)

_SOURCE = (
    "agent, path, kind, id, inode, size, mtime_ns, position, head_hash, tail_hash, memory, "
    "state, rewritten, problem"
)


class LedgerError(RookeryError):
    """The ledger cannot be read or written; the message says why and what to do."""


class Ledger:
    """All calls of all agents, each counted once."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection = connection
        """For queries; only batches write."""
        self.path = path

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Open the ledger, made for its owner alone if it is missing, and bring it up to date."""
        place = Path(path)
        with Folder.made(place.parent) as folder:
            os.close(folder.append(place.name))
        connection = sqlite3.connect(place, timeout=_PATIENCE_S, isolation_level=None)
        ledger = cls(connection, place)
        try:
            ledger._prepare()
        except BaseException:
            connection.close()
            raise
        return ledger

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def _prepare(self) -> None:
        try:
            for setting in _SETTINGS:
                self.connection.execute(setting)
            found = version(self.connection)
            if found > len(MIGRATIONS):
                raise LedgerError(
                    f"{self.path} was written by a later version of rookery "
                    f"(format {found}, this version reads {len(MIGRATIONS)}); upgrade rookery"
                )
            migrate(self.connection)
        except sqlite3.Error as error:
            raise LedgerError(
                f"{self.path} can't be opened as a ledger: {error}; move it away "
                "and run  rook import  to read all sessions again"
            ) from error

    def sources(self) -> dict[str, Source]:
        """All files that were read, by their paths."""
        rows = self.connection.execute(f"SELECT {_SOURCE} FROM sources")
        fields = _SOURCE.split(", ")
        found = (Source(**dict(zip(fields, row, strict=True))) for row in rows)
        return {source.path: source for source in found}
