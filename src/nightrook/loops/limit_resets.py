"""Finds when a provider's limit resets: from a field, or else from known forms of text.

Only the main agent's final error is read: a limit in the output of a tool means nothing.
"""

import math
import re
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

_MILLISECONDS = 1e11  # a moment in seconds is below this until the year 5138
_JUST_PASSED_S = 3600.0
_LONGEST_TEXT = 4000

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905
_DAYS = "mon tue wed thu fri sat sun".split()  # noqa: SIM905
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_OFFSETS = {
    "utc": 0, "gmt": 0, "z": 0, "bst": 1, "cet": 1, "cest": 2, "est": -5, "edt": -4, "cst": -6,
    "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "jst": 9, "kst": 9,
}  # fmt: skip

_ZONE = (
    r"(?:\s*\(?\s*(?P<zone>[A-Z][A-Za-z]+(?:/[A-Za-z_+\-0-9]+)+"
    r"|UTC[+-]\d{1,2}(?::?\d\d)?|[A-Z]{1,4})\b\s*\)?)?"
)
_CLOCK = r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?(?::\d\d)?\s*(?P<half>[ap]\.?m\.?)?"
_DATE = (
    r"(?:(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+"
    r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(?P<year>\d{4}))?,?\s+(?:at\s+)?)?"
)
_WEEKDAY = r"(?:(?P<weekday>mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+(?:at\s+)?)?"
_AGAIN = r"(?:resets?|try again|retry|available again|reset time)\b\s*:?\s*(?:at|on|after)?\s*"

_EPOCH = re.compile(r"limit reached\|\s*(\d{9,13}(?:\.\d+)?)\b", re.IGNORECASE)
_ISO = re.compile(
    r"(?:reset|again|retry|until)\D{0,24}?"
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s*(Z|UTC|[+-]\d\d:?\d\d)?",
    re.IGNORECASE,
)
_UNIT = r"(?:milliseconds?|ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)"
_DELAY = re.compile(
    r"(?:again|retry|resets?|wait|retry[-_ ]?after|retry[-_ ]?delay)[\"']?"
    r"\s*(?:in|after|for)?\s*[:=]?\s*[\"']?"
    rf"(?P<delay>(?:\d+(?:\.\d+)?\s*{_UNIT}\b[\s,]*(?:and\s+)?"
    r"|\d+(?:\.\d+)?[hmsd](?=\d))+)",
    re.IGNORECASE,
)
_PIECE = re.compile(r"(\d+(?:\.\d+)?)\s*(milliseconds?|ms|d|h|m|s)", re.IGNORECASE)
_BARE = re.compile(
    r"retry[-_ ]?after[\"']?\s*[:=]\s*[\"']?(\d+(?:\.\d+)?)(?![\d.]*\s*[a-z])", re.IGNORECASE
)
_WHEN = re.compile(_AGAIN + _WEEKDAY + _DATE + _CLOCK + _ZONE, re.IGNORECASE)


def from_field(value: float | None) -> float | None:
    """Read a timestamp field, in seconds or milliseconds; None if it is not usable."""
    if value is None or not math.isfinite(value) or value <= 0:
        return None
    moment = value / 1000 if value > _MILLISECONDS else value
    return moment if moment <= _MILLISECONDS else None


def from_text(text: str | None, *, now: float, local: tzinfo) -> float | None:
    """Find the time that a final error names; None if it names none."""
    if not text:
        return None
    head = text[:_LONGEST_TEXT].replace("\u202f", " ").replace("\u00a0", " ")
    for read in _FORMS:
        if (moment := read(head, now, local)) is not None:
            return moment if moment <= _MILLISECONDS else None
    return None


def _epoch(text: str, _now: float, _local: tzinfo) -> float | None:
    match = _EPOCH.search(text)
    return from_field(float(match[1])) if match else None


def _iso(text: str, _now: float, local: tzinfo) -> float | None:
    match = _ISO.search(text)
    if match is None:
        return None
    try:
        moment = datetime.fromisoformat(match[1].replace(" ", "T"))
        zone = _zone_named((match[2] or "").upper(), local) if match[2] else local
    except ValueError:
        return None
    return _latest(moment, zone)


def _delay(text: str, now: float, _local: tzinfo) -> float | None:
    if (bare := _BARE.search(text)) is not None:
        return now + float(bare[1])
    match = _DELAY.search(text)
    if match is None:
        return None
    seconds = 0.0
    for number, unit in _PIECE.findall(match["delay"]):
        factor = 0.001 if unit.lower().startswith("mil") or unit.lower() == "ms" else None
        seconds += float(number) * (factor or _UNITS[unit[0].lower()])
    return now + seconds


def _clock(text: str, now: float, local: tzinfo) -> float | None:
    for match in _WHEN.finditer(text):
        if match["half"] is None and match["minute"] is None and match["month"] is None:
            continue  # "retry 3 times" does not name an hour
        zone = _zone_named(match["zone"], local)
        hour = _hour(int(match["hour"]), match["half"])
        minute = int(match["minute"] or 0)
        if hour is None or minute > 59:
            continue
        today = datetime.fromtimestamp(now, zone).date()
        day = _day(match, today)
        if day is None:
            continue
        moment = _latest(datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone), zone)
        if match["month"] is None and moment <= now - _JUST_PASSED_S:
            step = 7 if match["weekday"] else 1
            day += timedelta(days=step)
            moment = _latest(
                datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone), zone
            )
        return moment
    return None


_FORMS: tuple[Callable[[str, float, tzinfo], float | None], ...] = (_epoch, _iso, _clock, _delay)


def _hour(hour: int, half: str | None) -> int | None:
    if half is None:
        return hour if hour < 24 else None
    if not 1 <= hour <= 12:
        return None
    return hour % 12 + (12 if half[0].lower() == "p" else 0)


def _day(match: re.Match[str], today: date) -> date | None:
    if match["month"] is not None:
        month = _MONTHS.index(match["month"][:3].lower()) + 1
        try:
            day = date(int(match["year"] or today.year), month, int(match["day"]))
        except ValueError:
            return None
        if match["year"] is None and day < today - timedelta(days=180):
            return day.replace(year=day.year + 1) if (month, day.day) != (2, 29) else None
        return day
    if match["weekday"] is not None:
        wanted = _DAYS.index(match["weekday"][:3].lower())
        return today + timedelta(days=(wanted - today.weekday()) % 7)
    return today


def _zone_named(name: str | None, local: tzinfo) -> tzinfo:
    """Look up a time zone; an unknown name is taken for the local zone."""
    if not name:
        return local
    if (offset := re.fullmatch(r"(?:UTC)?([+-]\d{1,2}):?(\d\d)?", name, re.IGNORECASE)) is not None:
        hours, minutes = int(offset[1]), int(offset[2] or 0)
        return timezone(timedelta(hours=hours, minutes=math.copysign(minutes, hours)))
    if name.lower() in _OFFSETS:
        return (
            UTC if not _OFFSETS[name.lower()] else timezone(timedelta(hours=_OFFSETS[name.lower()]))
        )
    try:
        return ZoneInfo(name)
    except (LookupError, OSError, ValueError):  # unknown zone, or no zone database
        return local


def _latest(wall: datetime, zone: tzinfo) -> float:
    """Return when a clock shows this time; if it does so twice, the later one: never early."""
    return max(wall.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1))


class SystemZone(tzinfo):
    """The zone of this machine with its daylight saving time, which a fixed offset would miss."""

    def utcoffset(self, wall: datetime | None) -> timedelta:
        """The offset of local time from UTC."""
        if wall is None:
            return timedelta(0)
        return timedelta(seconds=time.localtime(_system_moment(wall)).tm_gmtoff)

    def dst(self, _wall: datetime | None) -> timedelta:
        """Always zero: `utcoffset` includes it."""
        return timedelta(0)

    def tzname(self, _wall: datetime | None) -> str:
        """The name that the system uses."""
        return time.tzname[0]

    def fromutc(self, moment: datetime) -> datetime:
        """Convert UTC to local time."""
        seconds = (moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
        return moment + timedelta(seconds=time.localtime(seconds).tm_gmtoff)


def _system_moment(wall: datetime) -> float:
    """Return when a clock shows this time; if it does so twice, the one that `fold` selects."""
    parts = (wall.year, wall.month, wall.day, wall.hour, wall.minute, wall.second, 0, 0)
    moments = sorted(time.mktime((*parts, summer)) for summer in (0, 1, -1))
    fitting = [m for m in moments if time.localtime(m)[3:5] == (wall.hour, wall.minute)] or moments
    return fitting[-1] if wall.fold else fitting[0]
