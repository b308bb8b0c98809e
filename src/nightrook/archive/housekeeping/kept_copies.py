"""Finds and removes whole copies of sessions, which `archive_keep = "raw"` makes."""

import os
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from nightrook.archive.sessions.parts import COPY
from nightrook.archive.sessions.raw_copies import FOLDER


class KeptCopy(NamedTuple):
    """A copy of a session."""

    path: Path
    size: int
    at: float
    """When it was made, in seconds since 1970."""


def kept_copies(home: Path) -> list[KeptCopy]:
    """All copies, the newest first; links are not followed."""
    top = home / FOLDER
    found: list[KeptCopy] = []
    for place, _, names in os.walk(top) if not top.is_symlink() else ():
        for name in names:
            path = Path(place, name)
            stat = path.lstat()
            if name.endswith(COPY) and S_ISREG(stat.st_mode):
                found.append(KeptCopy(path, stat.st_size, stat.st_mtime))
    return sorted(found, key=lambda copy: (-copy.at, copy.path))


def remove(copies: list[KeptCopy]) -> None:
    """Remove copies; one that is gone already is no error."""
    for copy in copies:
        copy.path.unlink(missing_ok=True)
