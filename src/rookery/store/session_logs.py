"""Reads the model of a session from the log that its agent keeps, if the stream lacks it."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from rookery.adapter.agent import SessionLog

_MOST_BYTES = 64 * 1024 * 1024  # from the end: the last turn counts
_LONGEST_NAME = 200


def session_model(log: SessionLog, session: str, environ: Mapping[str, str]) -> str | None:
    """The model of the last turn of a session; None if the agent has kept no readable log of it."""
    folder, pattern = log.folder(environ), log.pattern(session)
    if folder is None or pattern is None:
        return None
    try:
        paths = sorted(Path(folder).glob(pattern))
        return _last_model(log, paths[-1]) if paths else None
    except OSError:
        return None


def _last_model(log: SessionLog, path: Path) -> str | None:
    found = None
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        file.seek(max(0, status.st_size - _MOST_BYTES))
        for line in file:
            found = log.model(line) or found
    return found[:_LONGEST_NAME] if found else None
