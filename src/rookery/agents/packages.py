"""Whether another package adds something, without the slow import of `importlib.metadata`."""

import os
import sys
from pathlib import Path

_METADATA = (".dist-info", ".egg-info")


def may_add(group: str) -> bool:
    """Whether a package on the path may have entry points of a group; false only if none has."""
    return any(_may_add(folder or ".", group.encode()) for folder in sys.path)


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
