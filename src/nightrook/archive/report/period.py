"""The time that a report covers, as people write its ends: `7d`, `2026-11-02`, `today`."""

import re
from datetime import date, datetime, timedelta

from nightrook.archive.report.zone import Zone
from nightrook.config.durations import seconds
from nightrook.model.errors import OptionError

Moment = str | float | date
"""A time: words, seconds since 1970, a day, or a `datetime` (local time if it has no zone)."""

_TAKES = "a time such as 7d, today, 2026-11, 2026-11-02 or 2026-11-02T14:00"
_CALENDAR = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?|(\d\d)(\d\d))?")
_MS = 1000
_END_OF_CALENDARS = 253_402_300_800  # the year 10000


def period(
    since: Moment | None, until: Moment | None, zone: Zone, now: float
) -> tuple[int | None, int | None]:
    """The first millisecond of a period, and the first after it; None if it has no such end.

    A day, month or year that ends it belongs to it.
    """
    start = None if since is None else _span("since", since, zone, now)[0]
    end = None if until is None else _span("until", until, zone, now)[1]
    if start is not None and end is not None and start >= end:
        raise OptionError("since", f"a time before until ({until})", str(since))
    return start, end


def _span(name: str, moment: Moment, zone: Zone, now: float) -> tuple[int, int]:
    """The begin of what a moment names, and its end: the same, unless it is a day or longer."""
    try:
        first, after = _walls(moment, zone.wall(now)) or (None, None)
        if first is None or after is None:
            at = _exact(moment, zone, now)
            return at, at
        return _ms(zone.seconds(first)), _ms(zone.seconds(after))
    except (ValueError, OverflowError, OSError):
        raise OptionError(name, _TAKES, moment) from None


def _walls(moment: Moment, today: datetime) -> tuple[datetime, datetime] | None:
    """What clocks show at the begin and the end of a day, a month or a year."""
    midnight = datetime.combine(today.date(), datetime.min.time())
    if isinstance(moment, date) and not isinstance(moment, datetime):
        first = datetime.combine(moment, datetime.min.time())
        return first, first + timedelta(days=1)
    if moment == "today":
        return midnight, midnight + timedelta(days=1)
    if moment == "yesterday":
        return midnight - timedelta(days=1), midnight
    match = _CALENDAR.fullmatch(moment.strip()) if isinstance(moment, str) else None
    if match is None:
        return None
    year, month, day = int(match[1]), match[2] or match[4], match[3] or match[5]
    first = datetime(year, int(month or 1), int(day or 1))  # noqa: DTZ001
    if day is not None:
        return first, first + timedelta(days=1)
    return first, _next_month(first) if month else first.replace(year=year + 1)


def _next_month(first: datetime) -> datetime:
    return (first + timedelta(days=31)).replace(day=1)


def _exact(moment: Moment, zone: Zone, now: float) -> int:
    """A time of day, in milliseconds since 1970."""
    if isinstance(moment, (int, float)):
        return _ms(moment)
    if isinstance(moment, str):
        length = seconds(moment.strip()) if moment.strip()[-1:] in "smhd" else None
        if length is not None:
            return _ms(now - length)
        if "W" in moment:  # a week, which is not a time of day
            raise ValueError(moment)
        moment = datetime.fromisoformat(moment.strip())
    assert isinstance(moment, datetime)
    return _ms(zone.seconds(moment) if moment.tzinfo is None else moment.timestamp())


def _ms(at: float) -> int:
    if not abs(at) < _END_OF_CALENDARS:
        raise ValueError(at)
    return round(at * _MS)
