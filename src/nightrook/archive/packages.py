"""The agents whose stored sessions are read, those of other packages included.

`importlib.metadata`, which finds those, takes longer to import than all of our own readers. So it
is imported only if a package on the path may add one.
"""

import os
import sys
from functools import cache
from pathlib import Path

from nightrook import agents

_METADATA = (".dist-info", ".egg-info")


def history_names() -> tuple[str, ...]:
    """The names of the agents whose stored sessions are read."""
    return agents.history_names() if may_add(agents.HISTORY_GROUP) else agents.HISTORIES


def may_add(group: str) -> bool:
    """Whether a package on the path may have entry points of a group; false only if none has."""
    return any(_may_add(folder or ".", group.encode()) for folder in sys.path)


@cache
def _may_add(folder: str, group: bytes) -> bool:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
    except NotADirectoryError:
        return True  # an archive, which may have packages in it
    except OSError:
        return False
    if any(name.endswith(".egg") for name in names):
        return True
    points = (Path(folder, name, "entry_points.txt") for name in names if name.endswith(_METADATA))
    return any(group in _content(path) for path in points)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
