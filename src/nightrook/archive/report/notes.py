"""What a report does not include, in sentences that say what to do about it."""

import sqlite3
from collections.abc import Iterator

from nightrook import agents
from nightrook.archive.report.query import CostQuery, matching_models, matching_projects
from nightrook.archive.report.totals import names_of, select
from nightrook.archive.session_files import history_names
from nightrook.model.safe import safe_line
from nightrook.model.text import count, cut
from nightrook.prices import price_file_problem

_MOST_SHOWN = 5
_LONGEST_NAME = 100


def notes(connection: sqlite3.Connection, query: CostQuery, *, has_unpriced: bool) -> Iterator[str]:
    """Yield what was not read, not found, not priced, and not reported."""
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
    """Yield which filter excludes everything, and what there is instead."""
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
