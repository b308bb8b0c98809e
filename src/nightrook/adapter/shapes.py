"""Base class, number types and times for the shapes of messages."""

from datetime import UTC, datetime
from typing import Annotated

import msgspec

# JSON implementations disagree about integers beyond 2**53; a token count is always smaller.
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=1e15)]
ExitCode = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**32)]

_FIRST_IN_MILLISECONDS = 1e11  # as seconds it would be the year 5138, as milliseconds 1973
_END = 253_402_300_800  # the year 10000

NOTHING = msgspec.Raw()
"""A raw part that the message does not have."""


class Shape(msgspec.Struct, gc=False):
    """A part of a message."""


def seconds_since_1970(written: object) -> float | None:
    """Read a time: ISO 8601 text, or a number of seconds or milliseconds; None if it isn't one.

    Text without an offset is in UTC. Times up to 1970, which programs write for "no time", and
    times after the year 9999 are None as well.
    """
    if isinstance(written, str):
        try:
            time = datetime.fromisoformat(written)
        except ValueError:
            return None
        seconds = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        return seconds if 0 < seconds < _END else None
    if isinstance(written, bool) or not isinstance(written, int | float):
        return None
    if written >= _FIRST_IN_MILLISECONDS:
        written = written / 1000 if written < 1000 * _END else _END
    return float(written) if 0 < written < _END else None
