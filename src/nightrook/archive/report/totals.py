"""Adds up the calls of the ledger that a query asks for, by what it groups them by."""

import sqlite3
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from nightrook.archive.report.amounts import Amounts
from nightrook.archive.report.moments import TIMES, Moments
from nightrook.archive.report.query import CostQuery, Key, matching_models, matching_projects

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
    """What the calls of each group used."""
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
    """Which of the rows count. Only ids are put into the text."""
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
    """All models, or all projects, that calls have, by their ids."""
    rows = connection.execute(
        f"SELECT id, text FROM names WHERE id IN (SELECT DISTINCT {kind} FROM sums)"
    )
    return dict(rows.fetchall())


def _among(column: str, names: dict[int, str], chosen: Iterable[str]) -> str:
    ids = ", ".join(str(number) for number, text in names.items() if text in chosen)
    return f"used.{column} IN ({ids})"
