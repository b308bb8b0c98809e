"""Makes a report of the ledger: rows with names, in order, a total, and notes."""

import sqlite3
from collections.abc import Mapping, Sequence
from functools import cache

from nightrook.archive.report.amounts import Amounts
from nightrook.archive.report.figures import CostReport
from nightrook.archive.report.moments import TIMES
from nightrook.archive.report.notes import notes
from nightrook.archive.report.query import CostQuery, Key
from nightrook.archive.report.totals import Group, totals
from nightrook.model.price import dollars

_NAME = "SELECT text FROM names WHERE id = ?"
_LOOK_UPS: dict[Key, str] = {
    "model": _NAME,
    "project": _NAME,
    "branch": _NAME,
    "subagent": _NAME,
    "session": "SELECT session FROM sessions WHERE id = ?",
    "run": "SELECT name FROM runs WHERE id = ?",
}
_TITLE = "SELECT title FROM sessions WHERE id = ?"


def build(connection: sqlite3.Connection, query: CostQuery) -> CostReport:
    """Make the report that a query asks for, of the ledger as it is."""
    groups = totals(connection, query, query.by)
    total = Amounts()
    for amounts in groups.values():
        total = total.plus(amounts)
    names = _Names(connection, query.by)
    named = {group: names.of(group) for group in groups}
    rows = (
        groups[group].row(dict(zip(query.by, named[group], strict=True)), names.title(group))
        for group in _ordered(groups, named, query.by)
    )
    return CostReport(
        timezone=query.zone.name,
        by=query.by,
        total=total.figures,
        rows=tuple(rows),
        saved_usd=dollars(total.saved_nano),
        notes=tuple(notes(connection, query, has_unpriced=total.unpriced_tokens != 0)),
    )


class _Names:
    """Looks up the names of groups, each id once."""

    def __init__(self, connection: sqlite3.Connection, by: Sequence[Key]) -> None:
        self._by = by

        @cache
        def text(sql: str, number: int) -> str | None:
            row: tuple[str | None] | None = connection.execute(sql, (number,)).fetchone()
            return row[0] if row else None

        self._text = text

    def of(self, group: Group) -> tuple[str | None, ...]:
        return tuple(
            self._text(_LOOK_UPS[key], value) if key in _LOOK_UPS and value is not None else value
            for key, value in zip(self._by, group, strict=True)
        )

    def title(self, group: Group) -> str | None:
        if "session" not in self._by:
            return None
        return self._text(_TITLE, group[self._by.index("session")])


def _ordered(
    groups: Mapping[Group, Amounts],
    named: Mapping[Group, Sequence[str | None]],
    by: Sequence[Key],
) -> list[Group]:
    """Groups in their order: times as they come, everything else by its weight in what it is in."""
    weights: dict[Group, Amounts] = {}
    for group, amounts in groups.items():
        for end in range(1, len(group)):
            weights[group[:end]] = weights.get(group[:end], Amounts()).plus(amounts)

    def place(group: Group) -> list[tuple[object, ...]]:
        keys: list[tuple[object, ...]] = []
        for at, (key, name) in enumerate(zip(by, named[group], strict=True), start=1):
            whole = groups[group] if at == len(by) else weights[group[:at]]
            money, tokens = whole.weight
            keys.append((name,) if key in TIMES else (-money, -tokens, name or ""))
        return keys

    return sorted(groups, key=place)
