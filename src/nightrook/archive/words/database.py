"""`Words`: the database of the index, made when it is missing and made again when it is damaged."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from nightrook.archive.words.schema import FORMAT, TABLES
from nightrook.store.files import Folder

FILE = "words.db"
"""The name of the database in the home of nightrook."""

_OPENING = "words-opening.lock"
_PATIENCE_S = 30.0
_SETTINGS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -32768",
)
_REBUILT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
"""Reasons of errors after which the index is deleted: it is damaged, or not an index."""


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error says that the index is damaged, so that it must be made again."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _REBUILT


class Words:
    """The index of words."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection = connection
        self.path = path

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the index, made for its owner alone; one that is damaged or foreign is replaced."""
        with _alone(path) as folder:
            try:
                return cls._open(path, folder)
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
            _remove(path)
            return cls._open(path, folder)

    @classmethod
    def _open(cls, path: Path, folder: Folder) -> Self:
        if not path.exists():
            _remove(path)  # the log of a database that was deleted belongs to no other
        os.close(folder.append(path.name))
        connection = sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None)
        try:
            for setting in _SETTINGS:
                connection.execute(setting)
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
        return cls(connection, path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()


def remove(path: Path) -> None:
    """Delete the index; it is made again when it is needed."""
    with _alone(path):
        _remove(path)


@contextmanager
def _alone(path: Path) -> Iterator[Folder]:
    """Be the only process that makes or deletes the index: its log must not go to another one."""
    with Folder.made(path.parent) as folder, folder.lock(_OPENING, waits=True):
        yield folder


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            Path(f"{path}{suffix}").unlink()


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the tables of a new index; an index of another format counts as damaged."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found == 0:
            for statement in filter(str.strip, TABLES.split(";\n")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    if found not in (0, FORMAT):
        connection.execute("SELECT 1 FROM an_index_of_another_format")
