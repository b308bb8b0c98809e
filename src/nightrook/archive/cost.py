"""`nightrook.cost`: the usage of agents on this machine, from a ledger that is up to date."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from nightrook import agents
from nightrook.archive.importer import Progress, bring_up_to_date, is_gone
from nightrook.archive.ledger.ledger import FILE, Ledger
from nightrook.archive.report.figures import CostReport
from nightrook.archive.report.local_time import Moment, period, zone_of
from nightrook.archive.report.query import CostQuery, keys_of
from nightrook.archive.report.report import build
from nightrook.archive.session_files import history_names, user_homes
from nightrook.model.errors import UnknownAgentError
from nightrook.store.file_names import RUNS
from nightrook.store.home import home_folder


def cost(
    by: str | Sequence[str] = "day",
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    agent: str | None = None,
    project: str | None = None,
    model: str | None = None,
    timezone: str | None = None,
    home: str | os.PathLike[str] | None = None,
) -> CostReport:
    """Report the usage of agents on this machine: runs of rook, and sessions that people had.

    First reads what agents wrote since the last report. `by` is one or several of hour, day, week,
    month, agent, model, project, branch, session, subagent, run and loop, separated by commas.

    `since` and `until` are a day or a month (`2026-11-02`, `2026-11`), a time (`2026-11-02T14:00`,
    a `datetime`, seconds since 1970), `today`, `yesterday`, or a length of time before now (`7d`).
    A day or month that is `until` is included.

    `project` is a path or the last part of one. `model` is a name, in which `*` stands for any
    characters. `timezone` is a name such as `Europe/Berlin`; by default the system's. `home` is the
    folder that holds all runs and the ledger; by default $ROOK_HOME or the user's data folder.
    """
    query = cost_query(
        by,
        since=since,
        until=until,
        agent=agent,
        project=project,
        model=model,
        timezone=timezone,
    )
    with up_to_date(home) as archive:
        return report(archive, query)


def cost_query(
    by: str | Sequence[str],
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    agent: str | None = None,
    project: str | None = None,
    model: str | None = None,
    timezone: str | None = None,
) -> CostQuery:
    """Read the query of a report; raise an OptionError if it is invalid."""
    zone = zone_of(timezone)
    start, end = period(since, until, zone, time.time())
    return CostQuery(
        by=keys_of(by),
        zone=zone,
        since=start,
        until=end,
        agent=agent,
        project=None if project is None else os.fspath(project),
        model=model,
    )


class Archive(NamedTuple):
    """The ledger after an import."""

    ledger: Ledger
    notes: tuple[str, ...] = ()
    """Reason why the import is not complete; None if it is."""


@contextmanager
def up_to_date(
    home: str | os.PathLike[str] | None = None, progress: Progress | None = None
) -> Iterator[Archive]:
    """Read what agents wrote since the last time, and open the ledger."""
    path = Path(home or home_folder()) / FILE
    homes = user_homes()
    done = bring_up_to_date(path, homes, progress=progress)
    own = (str(path), str(path.parent / RUNS))  # files of agents have notes in the ledger
    notes = [problem.reason for problem in done.problems if problem.path in own]
    notes += (
        f"{root} does not exist and is not read; the setting archive_roots names it"
        for root in homes[1:]
        if is_gone(str(root))
    )
    with Ledger.open(path) as ledger:
        yield Archive(ledger, tuple(notes))


def report(archive: Archive, query: CostQuery) -> CostReport:
    """Report what the ledger has; an agent that is not known is an UnknownAgentError."""
    check_agent(archive.ledger, query.agent)
    made = build(archive.ledger.connection, query)
    return msgspec.structs.replace(made, notes=(*archive.notes, *made.notes))


def check_agent(ledger: Ledger, name: str | None) -> None:
    """Refuse the name of an agent that has neither runs nor sessions, and could not have any."""
    if name is None or name in history_names() or agents.is_known(name):
        return
    used = [row[0] for row in ledger.connection.execute("SELECT DISTINCT agent FROM sessions")]
    if name not in used:
        known = dict.fromkeys((*history_names(), *agents.names(), *sorted(used)))
        raise UnknownAgentError(name, known)
