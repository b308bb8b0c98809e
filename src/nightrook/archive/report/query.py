"""Query of a report: selects calls, groups them and adds them up.

A report reads the sums of whole quarters of an hour, in UTC: offsets of local time are multiples of
a quarter, and clocks are changed at the begin of one. Single calls are read only for the quarters
in which a period begins and ends.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any, Literal, get_args

import msgspec

from nightrook.archive.report.figures import Amounts
from nightrook.archive.report.local_time import DAY_S, QUARTER_S, Zone
from nightrook.model.errors import OptionError
from nightrook.store.filters import is_project, read_project

Key = Literal[
    "hour",
    "day",
    "week",
    "month",
    "agent",
    "model",
    "project",
    "branch",
    "session",
    "subagent",
    "run",
    "loop",
]
"""Fields by which calls can be grouped."""

KEYS: tuple[Key, ...] = get_args(Key)


class CostQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Filter and grouping of a report."""

    by: tuple[Key, ...]
    zone: Zone
    since: int | None = None
    """Milliseconds since 1970, UTC."""

    until: int | None = None
    """The first millisecond that does not count any more."""

    agent: str | None = None
    project: str | None = None
    """A path, or the last parts of one."""

    model: str | None = None
    """A name; `*` stands for any characters."""


def keys_of(by: str | Sequence[str]) -> tuple[Key, ...]:
    """Read the fields to group by: words, or one text with commas between them."""
    words = by.split(",") if isinstance(by, str) else list(by)
    wanted = [word.strip() if isinstance(word, str) else str(word) for word in words]
    wrong = [word for word in wanted if word not in KEYS]
    if wrong or not wanted:
        known = ", ".join(KEYS)
        near = _nearest(wrong[0]) if wrong else ""
        raise OptionError("by", f"words out of {known}{near}", wrong[0] if wrong else by)
    return tuple(key for key in dict.fromkeys(wanted) if key in KEYS)


def matching_projects(wanted: str, projects: Iterable[str]) -> list[str]:
    """The projects with that path, or whose path ends in these parts."""
    project = read_project(wanted)
    return [each for each in projects if is_project(each, project)]


def matching_models(wanted: str, models: Iterable[str]) -> list[str]:
    """The models of that name; `*` stands for any characters."""
    from fnmatch import fnmatchcase  # slow to import, and rarely needed

    pattern = wanted.replace("[", "[[]").replace("?", "[?]")
    return [each for each in models if fnmatchcase(each, pattern)]


def _nearest(word: str) -> str:
    from difflib import get_close_matches  # only a typo needs it

    near = get_close_matches(word, KEYS, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


TIMES: tuple[Key, ...] = ("hour", "day", "week", "month")

_HOUR_S = 3600
_FIRST_DAY = date(1970, 1, 1)
_LAST_DAY = (date.max - _FIRST_DAY).days


class Moments:
    """Groups quarters of an hour by local time."""

    def __init__(self, zone: Zone, by: Iterable[Key], quarters: tuple[int, int]) -> None:
        self._zone = zone
        self._hours = "hour" in by
        offset = _offset_sql(zone.offsets(*quarters))
        local = f"(quarter * {QUARTER_S} + {offset})"
        self.sql = f"{local} / {DAY_S}"
        """SQL of the group: the local day, or the time at which a local hour begins."""

        if self._hours:
            self.sql = f"{local} / {_HOUR_S} * {_HOUR_S} - {offset}"

    def names(self, group: int) -> dict[Key, str]:
        """Return the names of a group's hour, day, week and month."""
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
    """The start of an hour, with its offset: an hour that clocks show twice is two."""
    shown = datetime(1970, 1, 1) + timedelta(  # noqa: DTZ001
        seconds=max(0, min(wall, (_LAST_DAY - 1) * DAY_S))
    )
    sign, minutes = "-+"[offset >= 0], abs(offset) // 60
    return f"{shown.isoformat(timespec='minutes')}{sign}{minutes // 60:02}:{minutes % 60:02}"


def _offset_sql(offsets: list[tuple[int, int]]) -> str:
    """An expression of SQL for the offset of a quarter."""
    (_, first), *later = offsets
    if not later:
        return f"({first})"
    cases = " ".join(f"WHEN quarter >= {start} THEN {seconds}" for start, seconds in later[::-1])
    return f"(CASE {cases} ELSE {first} END)"


Group = tuple[Any, ...]
"""The value of each key of a group: the name of a time, an id of the ledger, or None."""

_QUARTER_MS = 900_000
_EXPRESSIONS: dict[Key, str] = {
    "agent": "sessions.agent",
    "model": "used.model",
    "project": "used.project",
    "branch": "used.branch",
    "session": "used.session_id",
    "subagent": "used.subagent",
    "run": "used.run_id",
    "loop": "runs.loop",
}
_FIELDS = (
    "quarter",
    "session_id",
    "model",
    "project",
    "branch",
    "subagent",
    "run_id",
    *Amounts._fields,
)
_JOINS = {
    "sessions": " JOIN sessions ON sessions.id = used.session_id",
    "runs": " LEFT JOIN runs ON runs.id = used.run_id",
}
_CALLS = f"SELECT {', '.join(_FIELDS)} FROM counted WHERE"
_SUMS = f"SELECT {', '.join(_FIELDS)} FROM sums WHERE"


def totals(
    connection: sqlite3.Connection, query: CostQuery, by: Sequence[Key]
) -> dict[Group, Amounts]:
    """Return the usage of the calls of each group."""
    keys = [key for key in by if key not in TIMES]
    has_times = len(keys) < len(by)
    moments = Moments(query.zone, by, _quarters(connection) if has_times else (0, 0))
    wanted = [moments.sql if has_times else "NULL", *(_EXPRESSIONS[key] for key in keys)]
    sums = [f"sum(used.{field})" for field in Amounts._fields]
    grouped = f"GROUP BY {', '.join(wanted)}"
    names = cache(moments.names)
    found: dict[Group, Amounts] = {}
    for moment, *rest in select(connection, query, ", ".join((*wanted, *sums)), grouped):
        values = dict(zip(keys, rest, strict=False)) | (names(moment) if has_times else {})
        group = tuple(values[key] for key in by)
        amounts = rest[len(keys) :]
        found[group] = found[group].plus(amounts) if group in found else Amounts(*amounts)
    return found


def select(
    connection: sqlite3.Connection, query: CostQuery, columns: str, rest: str, **values: str
) -> sqlite3.Cursor:
    """Select from the calls that a query asks for, as `used`, joined with what the text names."""
    condition = _filter(connection, query)
    text = f"{columns} {condition} {rest}"
    joined = "".join(join for table, join in _JOINS.items() if f"{table}." in text)
    return connection.execute(
        f"SELECT {columns} FROM ({_source(query)}) AS used{joined} WHERE {condition} {rest}",
        {"agent": query.agent, **values},
    )


def _quarters(connection: sqlite3.Connection) -> tuple[int, int]:
    """The first and the last quarter of an hour with a call."""
    first, last = connection.execute("SELECT min(quarter), max(quarter) FROM sums").fetchone()
    return first or 0, last or 0


def _source(query: CostQuery) -> str:
    """The sums of the whole quarters of a period, and the calls of those that it begins and ends.

    Only numbers are put into the text.
    """
    if query.since is None and query.until is None:
        return f"{_SUMS} 1"
    first = None if query.since is None else -(-query.since // _QUARTER_MS)
    last = None if query.until is None else query.until // _QUARTER_MS
    if first is not None and last is not None and first > last:  # within one quarter
        return _calls(query.since, query.until)
    parts = [_between(_SUMS, "quarter", first, last)]
    if query.since is not None and first is not None and query.since % _QUARTER_MS:
        parts.append(_calls(query.since, first * _QUARTER_MS))
    if query.until is not None and last is not None and query.until % _QUARTER_MS:
        parts.append(_calls(last * _QUARTER_MS, query.until))
    return " UNION ALL ".join(parts)


def _calls(first: int | None, after: int | None) -> str:
    """The calls of a part of one quarter; the sums know in which sessions they are."""
    quarter = (first or 0) // _QUARTER_MS
    sessions = f"SELECT session_id FROM sums WHERE quarter = {quarter}"
    return f"{_between(_CALLS, 'at', first, after)} AND session_id IN ({sessions})"


def _between(select: str, column: str, first: int | None, after: int | None) -> str:
    ends = [f"{column} >= {first}"] if first is not None else []
    ends += [f"{column} < {after}"] if after is not None else []
    return f"{select} {' AND '.join(ends)}"


def _filter(connection: sqlite3.Connection, query: CostQuery) -> str:
    """Return the SQL condition that selects rows. Only ids are put into the text."""
    conditions = ["1"]
    if query.agent is not None:
        conditions.append("sessions.agent = :agent")
    if query.project is not None:
        projects = names_of(connection, "project")
        chosen = set(matching_projects(query.project, projects.values()))
        conditions.append(_among("project", projects, chosen))
    if query.model is not None:
        models = names_of(connection, "model")
        conditions.append(
            _among("model", models, set(matching_models(query.model, models.values())))
        )
    return " AND ".join(conditions)


def names_of(connection: sqlite3.Connection, kind: Key) -> dict[int, str]:
    """Return all models, or all projects, that calls have, by their ids."""
    rows = connection.execute(
        f"SELECT id, text FROM names WHERE id IN (SELECT DISTINCT {kind} FROM sums)"
    )
    return dict(rows.fetchall())


def _among(column: str, names: dict[int, str], chosen: Iterable[str]) -> str:
    ids = ", ".join(str(number) for number, text in names.items() if text in chosen)
    return f"used.{column} IN ({ids})"
