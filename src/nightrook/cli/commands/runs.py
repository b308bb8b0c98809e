"""`rook runs`: the list of runs."""

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

import click
import msgspec

from nightrook.cli.options.parameters import takes
from nightrook.cli.terminal.output import guarded, put_json
from nightrook.config.command_options import RunsOptions
from nightrook.display import cells
from nightrook.display.console import columns, look_of, style_of
from nightrook.display.numbers import moment, price, size, total_cost
from nightrook.display.table import table
from nightrook.model.durations import duration
from nightrook.model.errors import NightrookError
from nightrook.model.ledger import Money, least_certain
from nightrook.model.price import dollars, nano
from nightrook.model.status import EXIT_CODES
from nightrook.model.text import count, from_home, one_line
from nightrook.runs.listing import listed_runs
from nightrook.store.filters import Filter
from nightrook.store.home import home_folder
from nightrook.store.list import Row

_EXAMPLES = """\b
Examples:
  rook runs
  rook runs --since 7d --status failed --all
  rook runs --cwd . --agent codex
  rook runs --json | jq -r .name
  rook runs --sessions --since 7d
"""
_HEAD = ("RUN", "WHEN", "AGENT", "MODEL", "STATUS", "TIME", "COST", "FOLDER", "WHAT")
_HEAD_OF_ALL = ("KIND", "NAME", *_HEAD[1:-2], "SIZE", *_HEAD[-2:])
_LESS_NEEDED = ("FOLDER", "SIZE", "MODEL")
"""The columns that a narrow terminal does without, the least needed first."""

_LEAST_WHAT = 20  # columns for the prompt, else there are fewer others
_WIDEST = {"MODEL": 20, "FOLDER": 24}
_LONGEST_WHAT = 200
_ID = 8  # characters of a session's id
_WIDTH_IN_A_PIPE = 140
_STYLES: dict[str, str] = {"running": "tool"} | {each: style_of(each) for each in EXIT_CODES}


@click.command("runs", epilog=_EXAMPLES)
@takes("runs", RunsOptions)
def command(options: RunsOptions) -> None:
    """List the runs, newest first, with what each has cost; below them, the cost of all listed.

    With --sessions, loops and the sessions that you had with agents are listed too. The total does
    not count loops, whose runs are listed, nor what runs did in a session.
    """
    wanted = Filter(
        agent=options.agent,
        status=options.status,
        cwd=None if options.cwd is None else os.path.abspath(options.cwd),
        since=None if options.since is None else time.time() - options.since,
    )
    limit = None if options.all else options.limit
    if options.sessions:
        _list_everything(wanted, limit, as_json=options.json)
        return
    found = listed_runs(wanted, limit)
    if options.json:
        for row in found.runs:
            put_json(sys.stdout, msgspec.json.encode(row))
    elif found.runs:
        _print(found.runs, _HEAD, found.more, "run")
    elif wanted == Filter():
        click.echo('There are no runs yet. Start one:  rook run "Fix the tests"   or  rook demo')
    else:
        click.echo("No runs match. See all of them with:  rook runs --all")


def _list_everything(wanted: Filter, limit: int | None, *, as_json: bool) -> None:
    """List the newest runs, loops and sessions; those without a status only if none is wanted."""
    from nightrook.display.loops import loop_json  # these import a lot
    from nightrook.loops.storage import LOOP_FOLDERS

    runs = listed_runs(wanted, limit)
    every: list[tuple[Row, msgspec.Struct]] = [(row, row) for row in runs.runs]
    if wanted.status is None:
        every += [*((row, row) for row in _loops(wanted)), *_sessions(wanted)]
    every.sort(key=lambda pair: -(pair[0].started_at or 0.0))
    listed = every[:limit]
    if as_json:
        for row, details in listed:
            fields = msgspec.structs.asdict(details)
            if row.kind == "loop":
                fields = loop_json(LOOP_FOLDERS.find(home_folder(), row.name))
            put_json(sys.stdout, msgspec.json.encode({"kind": row.kind, **fields}))
    elif listed:
        rows = [row for row, _ in listed]
        _print(rows, _HEAD_OF_ALL, runs.more + len(every) - len(listed), "row")
    else:
        click.echo("No runs, loops or sessions match. See all:  rook runs --sessions --all")


def _loops(wanted: Filter) -> Iterator[Row]:
    from nightrook.loops.storage import LOOP_FOLDERS, loop_row  # imports a lot

    for folder in LOOP_FOLDERS.all(home_folder()):
        with suppress(NightrookError):  # `rook loops` says what is wrong with it
            row = loop_row(folder)
            if row.started_at is not None and row.is_wanted(wanted):
                yield row


def _sessions(wanted: Filter) -> Iterator[tuple[Row, msgspec.Struct]]:
    """The sessions, each with the object that programs get."""
    from nightrook.archive.report.sessions import listed_sessions  # these import a lot
    from nightrook.cli.import_bar import current_archive

    with current_archive() as archive:
        sessions = listed_sessions(archive.ledger.connection)
    yield from ((each.row, each) for each in sessions if each.row.is_wanted(wanted))


def _print(rows: Sequence[Row], head: Sequence[str], more: int, what: str) -> None:
    """Print rows as a table that fits the terminal, each status in its style, and their total."""
    now = time.time()
    cells = [_cells(row, now, head) for row in rows]
    look = look_of(sys.stdout, os.environ)
    width = columns(sys.stdout) if look.terminal else _WIDTH_IN_A_PIPE
    shown = _fitting(head, cells, width) if look.terminal else list(range(len(head)))
    paint, status = look.paint(), head.index("STATUS")

    def painted(number: int, column: int, text: str) -> str:
        return paint(_style(rows[number]) if shown[column] == status else "text", text)

    chosen = [[row[column] for column in shown] for row in (head, *cells)]
    for line in table(chosen[0], chosen[1:], width=width, paint=paint, cell=painted):
        click.echo(line)
    parts = [count(number, kind) for kind, number in Counter(row.kind for row in rows).items()]
    parts += _total([_spent(row) for row in rows if row.kind != "loop"], more, what)
    click.echo(f"{paint('prefix', '[rook]')} {' · '.join(parts)}")


def _cells(row: Row, now: float, head: Sequence[str]) -> list[str]:
    """A row under a head."""
    spent = _spent(row)
    what = guarded(sys.stdout).redacted(row.what) if row.kind == "session" else row.what
    folder, most = from_home(row.cwd or "", os.path.expanduser("~")), _WIDEST["FOLDER"]
    cells_of = {
        "KIND": row.kind,
        "NAME": row.name[:_ID] if row.kind == "session" else row.name,
        "RUN": row.name,
        "WHEN": moment(row.started_at, now),
        "AGENT": row.called or row.agent or "raw",
        "MODEL": cells.fit(one_line(row.model or "", 100), _WIDEST["MODEL"]),
        "STATUS": row.status.replace("_", " "),
        "TIME": duration(row.seconds),
        "COST": price(spent) if spent is not None else "",
        "SIZE": "" if row.size is None else size(row.size),
        # The end of a long path says more than its beginning.
        "FOLDER": folder if len(folder) <= most else f"…{folder[-most + 1 :]}",
        "WHAT": one_line(what, _LONGEST_WHAT),
    }
    return [cells_of[name] for name in head]


def _fitting(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """The columns that leave enough of a terminal's width for the prompt."""
    shown = list(range(len(head)))
    wide = [max(cells.width(row[column]) for row in (head, *rows)) for column in shown]
    for name in filter(head.__contains__, _LESS_NEEDED):
        if sum(wide[column] + 2 for column in shown[:-1]) + _LEAST_WHAT <= width:
            break
        shown.remove(head.index(name))
    return shown


def _spent(row: Row) -> Money | None:
    """The cost of a run, loop or session; None if it never started."""
    return None if row.status == "not_started" and row.kind == "run" else row.spent


def _total(costs: Sequence[Money | None], more: int, what: str) -> Iterator[str]:
    """Yield the total cost of the listed rows, and the number of further ones."""
    started = [cost for cost in costs if cost is not None]
    known = [cost for cost in started if cost.usd is not None]
    if known:
        spent = Money(
            dollars(sum(nano(cost.usd or 0.0) for cost in known)),
            least_certain(cost.source for cost in known),
            any(cost.at_least for cost in known),
        )
        yield total_cost(spent, len(started) - len(known), what)
    elif started:
        yield price(Money(None, "unknown"))
    if more:
        yield f"{more} more: use --all or --limit N"


def _style(row: Row) -> str:
    """The style in which a status is shown."""
    if row.kind == "loop":
        return "good" if row.status in ("running", "done") else "bad"
    return _STYLES.get(row.status, "bad")
