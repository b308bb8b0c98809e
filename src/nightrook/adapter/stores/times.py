"""Reads the times that agents write on disk."""

from datetime import UTC, datetime

_FIRST_IN_MILLISECONDS = 1e11  # as seconds it would be the year 5138, as milliseconds 1973
_END = 253_402_300_800  # the year 10000


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
