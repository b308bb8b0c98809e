"""What is to be indexed: files, and the sessions in SQLite stores, newest first."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rookery import agents
from rookery.adapter.history import Kind
from rookery.archive.places import FoundFile, Search, storable_path
from rookery.archive.sqlite_stores import opened


class WordSource(NamedTuple):
    """A file, or a session of a SQLite store."""

    agent: str
    path: str
    below: str
    kind: Kind
    session: str
    """The key of the session in a store; empty for a file."""

    stamp: str
    size: int
    mtime_ns: int

    @property
    def key(self) -> tuple[str, str]:
        """What identifies it in the index."""
        return storable_path(self.path), self.session


def word_sources(homes: Sequence[Path]) -> list[WordSource]:
    """Everything that can be indexed, newest first."""
    histories = [agents.history(name) for name in agents.TRANSCRIPTS]
    found = Search(histories).homes(homes, os.environ)
    sources = [source for file in found for source in _sources(file)]
    return sorted(sources, key=lambda source: source.mtime_ns, reverse=True)


def _sources(file: FoundFile) -> Iterator[WordSource]:
    agent, stamp = file.history.agent, file.stamp
    if file.kind != "sqlite":
        text = f"{stamp.inode} {stamp.size} {stamp.mtime_ns}"
        yield WordSource(
            agent, file.path, file.below, file.kind, "", text, stamp.size, stamp.mtime_ns
        )
        return
    for key, mark in _marks(file):
        yield WordSource(agent, file.path, file.below, "sqlite", key, mark, 0, stamp.mtime_ns)


def _marks(file: FoundFile) -> Iterator[tuple[str, str]]:
    """The sessions of a store, and what changes when they do; none if it cannot be read."""
    try:
        with opened(Path(file.path)) as store:
            for query in file.history.queries:
                for key, mark in store.connection.execute(query.changes):
                    yield str(key), str(mark)
                return
    except (sqlite3.Error, OSError):
        return
