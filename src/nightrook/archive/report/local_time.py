"""Local time: time zones, and periods as people write them: `7d`, `2026-11-02`, `today`."""

import os
import re
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import msgspec

from nightrook.config.units import seconds
from nightrook.model.errors import OptionError

QUARTER_S = 900
DAY_S = 86_400
_LATEST_S = 4_102_444_800  # 2100: no rule is known for later years, and none before 1970
_SAMPLE_S = 7 * DAY_S  # clocks are not changed twice within a week
_A_ZONE = "the name of a time zone, such as Europe/Berlin or UTC"
_LOCAL_TIME = Path("/etc/localtime")


class Zone(msgspec.Struct, frozen=True):
    """A time zone."""

    name: str
    offset: Callable[[float], int]
    """Returns how many seconds local time is ahead of UTC, at a time in seconds since 1970."""

    def seconds(self, wall: datetime) -> float:
        """The time at which clocks show this, the first if they do twice.

        If they skip it, they show as much later as they were put forward.
        """
        shown = wall.replace(tzinfo=UTC).timestamp()
        before, after = self.offset(shown - DAY_S), self.offset(shown + DAY_S)
        fitting = [o for o in (before, after) if self.offset(shown - o) == o]
        return shown - (max(fitting) if fitting else before)

    def wall(self, at: float) -> datetime:
        """Return the local time."""
        return datetime(1970, 1, 1) + timedelta(seconds=at + self.offset(at))  # noqa: DTZ001

    def offsets(self, first: int, last: int) -> list[tuple[int, int]]:
        """The offsets between two quarters of an hour, each with the first quarter that has it.

        Quarters are counted from 1970. Clocks are always changed at the begin of one.
        """
        step, latest = _SAMPLE_S // QUARTER_S, _LATEST_S // QUARTER_S
        first, last = (min(max(each, 0), latest) for each in (first, last))
        found = [(first, self._at(first))]
        for end in (*range(first + step, last, step), last):
            if self._at(end) != found[-1][1]:
                found.append(self._change(max(end - step, first), end))
        return found

    def _at(self, quarter: int) -> int:
        return self.offset(quarter * QUARTER_S)

    def _change(self, low: int, high: int) -> tuple[int, int]:
        """The first quarter after the change that lies between two."""
        old = self._at(low)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._at(middle) == old else (low, middle)
        return high, self._at(high)


def zone_of(name: str | None) -> Zone:
    """The zone of that name, or the system's; an OptionError if there is none."""
    if name is None:
        return Zone(_system_name(), _system_offset)
    from zoneinfo import ZoneInfo  # the system's zone does without it

    try:
        rules = ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # a path, a folder, an unknown name
        raise OptionError("timezone", _A_ZONE + _suggestion(name), name) from None

    def offset(at: float) -> int:
        known = min(max(at, 0), _LATEST_S)
        return int(
            (datetime.fromtimestamp(known, rules).utcoffset() or timedelta()).total_seconds()
        )

    return Zone(name, offset)


def _system_offset(at: float) -> int:
    return time.localtime(min(max(at, 0), _LATEST_S)).tm_gmtoff


def _system_name() -> str:
    """The name of the system's zone; its abbreviation if the system does not say."""
    named = os.environ.get("TZ")
    if named is not None:
        return _below_zoneinfo(named.removeprefix(":")) or "UTC"
    try:
        target = str(_LOCAL_TIME.readlink())
    except OSError:  # a file, or missing
        return time.tzname[0]
    return _below_zoneinfo(target)


def _below_zoneinfo(path: str) -> str:
    return path.rpartition("zoneinfo/")[2] if path.startswith(("/", ".")) else path


def _suggestion(name: str) -> str:
    from difflib import get_close_matches  # only a typo needs it
    from zoneinfo import available_timezones

    near = get_close_matches(name, sorted(available_timezones()), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


Moment = str | float | date
"""A time: words, seconds since 1970, a day, or a `datetime` (local time if it has no zone)."""

_A_TIME = "a time such as 7d, today, 2026-11, 2026-11-02 or 2026-11-02T14:00"
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
    """The start of a moment, and its end: the same, unless it is a day or longer."""
    try:
        first, after = _walls(moment, zone.wall(now)) or (None, None)
        if first is None or after is None:
            at = _exact(moment, zone, now)
            return at, at
        return _ms(zone.seconds(first)), _ms(zone.seconds(after))
    except (ValueError, OverflowError, OSError):
        raise OptionError(name, _A_TIME, moment) from None


def _walls(moment: Moment, today: datetime) -> tuple[datetime, datetime] | None:
    """Return the local time at the start and the end of a day, a month or a year."""
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
