"""Whole copies of stored sessions, compressed, which `archive_keep = "raw"` makes.

They are below `kept` in the home of nightrook, with the paths that the files have in the folder of
their agent. What is a session in a SQLite store, or one document, is kept as lines.
"""

import os
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from nightrook import agents
from nightrook.archive.sessions.reader import (
    COPY,
    SessionBytes,
    SessionFile,
    SessionSource,
    StoredSession,
)
from nightrook.model.errors import NightrookError
from nightrook.store.files import Folder

FOLDER = "kept"
_LEVEL = 3


class RawCopy(NamedTuple):
    """A copy of a file or of a session in a store."""

    path: str
    below: str
    """Path in the folder of its agent."""


def check_copies_can_be_made() -> None:
    """Refuse to keep raw copies without the library that compresses them."""
    if find_spec("zstandard") is None:
        raise NightrookError(
            "archive_keep = \"raw\" needs zstandard: pip install 'nightrook[archive]', "
            'or set it to "text"'
        )


def keep_copy(home: Path, source: SessionSource) -> None:
    """Copy a source whole, in place of an earlier copy; one that cannot be read is left out."""
    import zstandard

    path = home / FOLDER / source.agent / (_below(source) + COPY)
    file = SessionFile(source.path, source.kind, source.session)
    session = StoredSession(agent=source.agent, id="", files=(file,))
    parts = SessionBytes(session, agents.transcript(source.agent))
    try:
        data = [chunk for part in parts for chunk in part.chunks()]
    finally:
        parts.close()
    if data:
        with Folder.made(path.parent) as folder:
            packed = zstandard.ZstdCompressor(level=_LEVEL).compress(b"".join(data))
            folder.replace(path.name, packed)


def copied_sources(home: Path, present: Iterable[SessionSource]) -> Iterator[SessionSource]:
    """The copies of sessions whose originals are not `present` any more, as sources to read."""
    seen = {(source.agent, _below(source)) for source in present}
    for agent in agents.HISTORIES:
        for copy in copies(home, agent):
            if (agent, copy.below) not in seen:
                is_stored = agents.transcript(agent).query is not None
                key = Path(copy.below).stem if is_stored else ""
                yield SessionSource(agent, copy.path, copy.below, "lines", key, "", 0, 0)


def _below(source: SessionSource) -> str:
    """The path of a source in the folder of its agent; of a session in a store, a file in it."""
    return f"{source.below}/{source.session}.jsonl" if source.session else source.below


def copies(home: Path, agent: str) -> Iterator[RawCopy]:
    """The copies of an agent's sessions."""
    top = home / FOLDER / agent
    for place, _, names in os.walk(top):
        for name in sorted(names):
            if name.endswith(COPY):
                path = Path(place, name)
                yield RawCopy(str(path), str(path.relative_to(top)).removesuffix(COPY))


class KeptCopy(NamedTuple):
    """A copy of a session."""

    path: Path
    size: int
    at: float
    """Time of the copy, in seconds since 1970."""


def kept_copies(home: Path) -> list[KeptCopy]:
    """Return all copies, the newest first; links are not followed."""
    top = home / FOLDER
    found: list[KeptCopy] = []
    for place, _, names in os.walk(top) if not top.is_symlink() else ():  # guards: copies-no-link
        for name in names:
            path = Path(place, name)
            stat = path.lstat()
            if name.endswith(COPY) and S_ISREG(stat.st_mode):
                found.append(KeptCopy(path, stat.st_size, stat.st_mtime))
    return sorted(found, key=lambda copy: (-copy.at, copy.path))


def remove_copies(copies: list[KeptCopy]) -> None:
    """Remove copies; a missing one isn't an error."""
    for copy in copies:
        copy.path.unlink(missing_ok=True)
