"""Reads facts missing in an agent's stream from the log that it keeps of the session."""

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from nightrook.adapter.agent import SessionLog

_MOST_BYTES = 64 * 1024 * 1024  # from the end: the last turn counts
_LONGEST_NAME = 200

T = TypeVar("T")


def session_model(log: SessionLog, session: str, environ: Mapping[str, str]) -> str | None:
    """The model of the last turn of a session; None if the agent has kept no readable log of it."""
    model = _last(log, session, environ, log.model)
    return model[:_LONGEST_NAME] if model else None


def answer_broke_off(log: SessionLog, session: str, environ: Mapping[str, str]) -> bool:
    """True if the log of a session shows that its last answer broke off."""
    return _last(log, session, environ, log.broke_off) is True


def _last(
    log: SessionLog,
    session: str,
    environ: Mapping[str, str],
    read: Callable[[bytes], T | None] | None,
) -> T | None:
    """Return the result for the last line of which a function returns anything but None."""
    folder, pattern = log.folder(environ), log.pattern(session)
    if read is None or folder is None or pattern is None:
        return None
    try:
        paths = sorted(Path(folder).glob(pattern))
        return _last_of(paths[-1], read) if paths else None
    except OSError:
        return None


def _last_of(path: Path, read: Callable[[bytes], T | None]) -> T | None:
    found = None
    # guards: session-log-no-link
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        file.seek(max(0, status.st_size - _MOST_BYTES))
        for line in file:
            answer = read(line)
            found = found if answer is None else answer
    return found
