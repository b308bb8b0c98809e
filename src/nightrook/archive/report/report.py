"""Makes a report of the ledger: rows with names, in order, a total, and notes."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from nightrook import agents
from nightrook.archive.report.figures import Amounts, CostReport
from nightrook.archive.report.query import (
    TIMES,
    CostQuery,
    Group,
    Key,
    matching_models,
    matching_projects,
    names_of,
    select,
    totals,
)
from nightrook.archive.session_files import history_names
from nightrook.model.price import dollars
from nightrook.model.safe import safe_line
from nightrook.model.text import count, cut
from nightrook.prices import price_file_problem

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
    """Answer a query with a report on the ledger as it is."""
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


_MOST_SHOWN = 5
_LONGEST_NAME = 100


def notes(connection: sqlite3.Connection, query: CostQuery, *, has_unpriced: bool) -> Iterator[str]:
    """Yield notes on usage that was not read, found, priced or reported."""
    yield from _unread(connection)
    yield from _unmatched(connection, query)
    if has_unpriced:
        yield from _unpriced(connection, query)
    for agent in history_names():
        of_agent = "AND sessions.agent = :name LIMIT 1"
        if select(connection, query, "1", of_agent, name=agent).fetchone():
            yield from (f"{agent}: {note}" for note in agents.history(agent).notes)


def _unread(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute(
        "SELECT path, problem FROM sources WHERE state = 'unreadable' ORDER BY path"
    ).fetchall()
    if rows:
        shown = _listed([f"{path} ({problem})" if problem else path for path, problem in rows])
        yield f"{count(len(rows), 'file')} could not be read, and may be missing here: {shown}"


def _unmatched(connection: sqlite3.Connection, query: CostQuery) -> Iterator[str]:
    """Yield notes on the filter that excludes everything, with the values that exist."""
    if query.project is not None:
        projects = sorted(names_of(connection, "project").values())
        if not matching_projects(query.project, projects):
            yield f"no project is or ends in {query.project!r}; projects: {_listed(projects)}"
    if query.model is not None:
        models = sorted(names_of(connection, "model").values())
        if not matching_models(query.model, models):
            yield f"no model is named {query.model!r}; models: {_listed(models)}"


def _unpriced(connection: sqlite3.Connection, query: CostQuery) -> Iterator[str]:
    """Yield the models without a price, those with the most tokens first."""
    problem = price_file_problem()
    if problem is not None:
        yield f"{problem}: mend that file of prices"
        return
    tokens = "sum(used.unpriced_tokens)"
    rest = f"AND used.unpriced_tokens != 0 GROUP BY used.model ORDER BY {tokens} DESC, used.model"
    unpriced = dict(select(connection, query, f"used.model, {tokens}", rest).fetchall())
    names = names_of(connection, "model")
    shown = [f"{names[model]} ({number:,} tokens)" for model, number in unpriced.items() if model]
    if shown:
        yield (
            f"no price is known for {_listed(shown)}; set one in prices.toml beside your "
            "rook.toml, or in the file that [prices] file names there"
        )
    if None in unpriced:
        yield f"{unpriced[None]:,} tokens are without a price because their model is not reported"


def _listed(names: list[str]) -> str:
    shown = [safe_line(cut(name, _LONGEST_NAME)) for name in names[:_MOST_SHOWN]]
    more = len(names) - len(shown)
    return ", ".join([*shown, *([f"{more} more"] if more else ())]) or "none"
