"""The home of runs: ROOK_HOME, or by default the user's data folder."""

import os
from pathlib import Path

from nightrook.user_folders import data_folder

_LEAST_FREE = 200_000_000  # bytes; a long run of an agent that prints much needs less


def home_folder() -> Path:
    """The folder that holds all runs."""
    named = os.environ.get("ROOK_HOME")
    return Path(named).expanduser() if named else data_folder()


def space_problem(home: Path) -> str | None:
    """Return a warning that the disk of a home is almost full; None if it is not."""
    path = next(folder for folder in (home, *home.absolute().parents) if folder.exists())
    try:
        disk = os.statvfs(path)
    except OSError:
        return None
    free = disk.f_bavail * disk.f_frsize
    if free >= _LEAST_FREE:
        return None
    return (
        f"only {free / 1e6:.0f} MB are free in {home}: the record of the run may be incomplete; "
        "rook rm frees space"
    )
