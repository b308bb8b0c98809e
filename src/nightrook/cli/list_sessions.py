"""`rook runs --sessions`: runs, loops, and the sessions that people had, in one list."""

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import click
import msgspec

from nightrook.archive.report.sessions import listed_sessions
from nightrook.cli.import_bar import current_archive
from nightrook.cli.run_table import (
    HEAD,
    print_rows,
    run_cells,
    short_folder,
    short_model,
    spent_on,
    style,
    total_parts,
)
from nightrook.cli.terminal.output import guarded, put_json
from nightrook.display.costs.table import spent
from nightrook.display.loops.objects import loop_json
from nightrook.display.loops.summary import read_loop
from nightrook.display.numbers import moment, price, size
from nightrook.loops.storage import newest_first
from nightrook.model.durations import duration, elapsed_s
from nightrook.model.errors import NightrookError
from nightrook.model.ledger import Money
from nightrook.model.text import count, one_line
from nightrook.runs.listing import ListedRun, RunFilter, is_below, listed_runs
from nightrook.store.home import home_folder

_HEAD = ("KIND", "NAME", *HEAD[1:-2], "SIZE", *HEAD[-2:])
_WITHOUT_SIZE = len(HEAD) - 2  # how many cells of a row come before the size
_ID = 8  # characters of a session's id
_LONGEST_WHAT = 200


class _Entry(NamedTuple):
    """A run, a loop or a session in the list."""

    kind: Literal["run", "loop", "session"]
    at: float
    cells: Sequence[str]
    style: str
    spent: Money | None
    """What counts in the total; None for a loop, whose runs count."""

    fields: object
    """The same for programs."""

    size: int | None = None
    """How many bytes the files of a session have."""


def list_everything(wanted: RunFilter, limit: int | None, *, as_json: bool) -> None:
    """List the newest runs, loops and sessions; those without a status only if none is wanted."""
    now = time.time()
    runs = listed_runs(wanted, limit)
    every = [_run(run, now) for run in runs.runs]
    if wanted.status is None:
        every += [*_loops(wanted, now), *_sessions(wanted, now)]
    every.sort(key=lambda entry: -entry.at)
    listed = every[:limit]
    if as_json:
        for entry in listed:
            fields = msgspec.to_builtins(entry.fields)
            put_json(sys.stdout, msgspec.json.encode({"kind": entry.kind, **fields}))
    elif listed:
        _print(listed, runs.more + len(every) - len(listed))
    else:
        click.echo("No runs, loops or sessions match. See all:  rook runs --sessions --all")


def _print(listed: Sequence[_Entry], more: int) -> None:
    kinds = Counter(entry.kind for entry in listed)
    parts = [count(number, kind) for kind, number in kinds.items()]
    parts += total_parts((entry.spent for entry in listed if entry.kind != "loop"), more, "row")
    print_rows(
        _HEAD,
        [_row(entry) for entry in listed],
        styles=[entry.style for entry in listed],
        total=" · ".join(parts),
    )


def _row(entry: _Entry) -> tuple[str, ...]:
    before, after = entry.cells[:_WITHOUT_SIZE], entry.cells[_WITHOUT_SIZE:]
    written = "" if entry.size is None else size(entry.size)
    return (entry.kind, *before, written, *after)


def _run(run: ListedRun, now: float) -> _Entry:
    return _Entry(
        "run", run.started_at or 0.0, run_cells(run, now), style(run.status), spent_on(run), run
    )


def _loops(wanted: RunFilter, now: float) -> Iterator[_Entry]:
    for folder in newest_first(home_folder()):
        try:
            view = read_loop(folder, home_folder())
        except NightrookError:
            continue  # `rook loops` says what is wrong with it
        state, run = view.state, view.plan.run
        if state is None or not _matches(wanted, state.agent, run.cwd, state.started_at):
            continue
        done = state.end == "done" or view.is_running
        row = (
            folder.name,
            moment(state.started_at, now),
            state.agent,
            short_model(run.model),
            view.status,
            duration(state.elapsed_s(view.now)),
            price(Money(state.spent_usd, state.cost_source)),
            short_folder(run.cwd),
            one_line(run.prompt or view.plan.prompt_file or "", _LONGEST_WHAT),
        )
        fields = loop_json(folder)
        yield _Entry("loop", state.started_at, row, "good" if done else "bad", None, fields)


def _sessions(wanted: RunFilter, now: float) -> Iterator[_Entry]:
    redact = guarded(sys.stdout).redacted  # before titles are cut
    with current_archive() as archive:
        sessions = listed_sessions(archive.ledger.connection)
    for session in sessions:
        at = session.started_at or 0.0
        if not _matches(wanted, session.agent, session.project, at):
            continue
        used = spent(session.used)
        lasted = elapsed_s(session.started_at, session.ended_at)
        row = (
            session.session[:_ID],
            moment(session.started_at, now),
            session.agent,
            short_model(session.model),
            "",
            duration(lasted),
            price(used),
            short_folder(session.project),
            one_line(redact(session.title or ""), _LONGEST_WHAT),
        )
        yield _Entry("session", at, row, "text", used, session, session.size)


def _matches(wanted: RunFilter, agent: str, cwd: str | None, at: float) -> bool:
    return (
        wanted.agent in (None, agent)
        and (wanted.cwd is None or is_below(cwd, wanted.cwd))
        and (wanted.since is None or at >= wanted.since)
    )
