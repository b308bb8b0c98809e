"""What a report does not include, in sentences that say what to do about it."""

import sqlite3
from collections.abc import Iterator

from rookery import agents
from rookery.archive.report.query import CostQuery, matching_models, matching_projects
from rookery.archive.report.totals import names_of, totals
from rookery.model.errors import RookeryError
from rookery.model.safe import safe_line
from rookery.model.text import count, cut

_MOST_SHOWN = 5
_LONGEST_NAME = 100


def notes(connection: sqlite3.Connection, query: CostQuery) -> Iterator[str]:
    """Yield what was not read, not found, not priced, and not reported."""
    yield from _unread(connection)
    yield from _unmatched(connection, query)
    unpriced: dict[str | None, int] = {}
    names = names_of(connection, "model")
    used = totals(connection, query, ("agent", "model"))
    for (_, model), amounts in used.items():
        name = names.get(model)
        unpriced[name] = unpriced.get(name, 0) + amounts.unpriced_tokens
    yield from _unpriced({name: number for name, number in unpriced.items() if number})
    for agent in sorted({str(agent) for agent, _ in used}):
        yield from _unreported(agent)


def _unread(connection: sqlite3.Connection) -> Iterator[str]:
    rows = connection.execute(
        "SELECT path, problem FROM sources WHERE state = 'unreadable' ORDER BY path"
    ).fetchall()
    if rows:
        shown = _listed([f"{path} ({problem})" if problem else path for path, problem in rows])
        yield f"{count(len(rows), 'file')} could not be read, and may be missing here: {shown}"


def _unmatched(connection: sqlite3.Connection, query: CostQuery) -> Iterator[str]:
    """Yield which filter excludes everything, and what there is instead."""
    if query.project is not None:
        projects = sorted(names_of(connection, "project").values())
        if not matching_projects(query.project, projects):
            yield f"no project is or ends in {query.project!r}; projects: {_listed(projects)}"
    if query.model is not None:
        models = sorted(names_of(connection, "model").values())
        if not matching_models(query.model, models):
            yield f"no model is named {query.model!r}; models: {_listed(models)}"


def _unpriced(tokens: dict[str | None, int]) -> Iterator[str]:
    named = {name: number for name, number in tokens.items() if name is not None}
    if named:
        dearest = sorted(named, key=lambda name: (-named[name], name))
        shown = _listed([f"{name} ({named[name]:,} tokens)" for name in dearest])
        yield (
            f"no price is known for {shown}; set one in prices.toml beside your rookery.toml, "
            "or in the file that [prices] file names there"
        )
    if None in tokens:
        yield f"{tokens[None]:,} tokens are without a price because their model is not reported"


def _unreported(agent: str) -> Iterator[str]:
    try:
        known = agents.history(agent)
    except RookeryError:  # an agent that has only runs, or whose package was removed
        return
    yield from (f"{agent}: {note}" for note in known.notes)


def _listed(names: list[str]) -> str:
    shown = [safe_line(cut(name, _LONGEST_NAME)) for name in names[:_MOST_SHOWN]]
    more = len(names) - len(shown)
    return ", ".join([*shown, *([f"{more} more"] if more else ())]) or "none"
