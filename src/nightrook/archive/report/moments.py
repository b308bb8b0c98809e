"""Local hours, days, weeks and months: how calls are grouped by them, and what they are called."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta

from nightrook.archive.report.query import Key
from nightrook.archive.report.zone import DAY_S, QUARTER_S, Zone

TIMES: tuple[Key, ...] = ("hour", "day", "week", "month")

_HOUR_S = 3600
_FIRST_DAY = date(1970, 1, 1)
_LAST_DAY = (date.max - _FIRST_DAY).days


class Moments:
    """Groups quarters of an hour by local time."""

    def __init__(self, zone: Zone, by: Iterable[Key], quarters: tuple[int, int]) -> None:
        self._zone = zone
        self._hours = "hour" in by
        offset = _offset(zone.offsets(*quarters))
        local = f"(quarter * {QUARTER_S} + {offset})"
        self.sql = f"{local} / {DAY_S}"
        """What to group by: the local day, or the time at which a local hour begins."""

        if self._hours:
            self.sql = f"{local} / {_HOUR_S} * {_HOUR_S} - {offset}"

    def names(self, group: int) -> dict[Key, str]:
        """What the hour, the day, the week and the month of a group are called."""
        names: dict[Key, str] = {}
        day = group
        if self._hours:
            offset = self._offset_of_hour(group)
            day = (group + offset) // DAY_S
            names["hour"] = _hour(group + offset, offset)
        shown = _FIRST_DAY + timedelta(days=max(0, min(day, _LAST_DAY)))
        monday = shown - timedelta(days=shown.weekday())
        names |= {"day": f"{shown}", "week": f"{monday}", "month": f"{shown}"[: len("2026-11")]}
        return names

    def _offset_of_hour(self, begin: int) -> int:
        """The offset of an hour; clocks that are changed by half an hour are so within one."""
        offset = self._zone.offset(begin)
        return offset if (begin + offset) % _HOUR_S == 0 else self._zone.offset(begin + _HOUR_S - 1)


def _hour(wall: int, offset: int) -> str:
    """The begin of an hour, with its offset: an hour that clocks show twice is two."""
    shown = datetime(1970, 1, 1) + timedelta(  # noqa: DTZ001
        seconds=max(0, min(wall, (_LAST_DAY - 1) * DAY_S))
    )
    sign, minutes = "-+"[offset >= 0], abs(offset) // 60
    return f"{shown.isoformat(timespec='minutes')}{sign}{minutes // 60:02}:{minutes % 60:02}"


def _offset(offsets: list[tuple[int, int]]) -> str:
    """An expression of SQL for the offset of a quarter."""
    (_, first), *later = offsets
    if not later:
        return f"({first})"
    cases = " ".join(f"WHEN quarter >= {start} THEN {seconds}" for start, seconds in later[::-1])
    return f"(CASE {cases} ELSE {first} END)"
