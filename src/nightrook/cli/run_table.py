"""The table of runs: its columns, which of them fit a terminal, and its total."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence

import click

from nightrook.display import cells
from nightrook.display.console import columns, look_of, style_of
from nightrook.display.numbers import moment, price, total_cost
from nightrook.display.table import table
from nightrook.model.durations import duration
from nightrook.model.ledger import Money, least_certain
from nightrook.model.price import dollars, nano
from nightrook.model.status import ListedStatus
from nightrook.model.text import from_home, one_line
from nightrook.runs.listing import ListedRun

HEAD = ("RUN", "WHEN", "AGENT", "MODEL", "STATUS", "TIME", "COST", "FOLDER", "WHAT")
_LESS_NEEDED = ("FOLDER", "SIZE", "MODEL")
"""The columns that a narrow terminal does without, the least needed first."""

_LEAST_WHAT = 20  # columns for the prompt, else there are fewer others
_WIDEST = {"MODEL": 20, "FOLDER": 24}
_WIDTH_IN_A_PIPE = 140


def print_rows(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, styles: Sequence[str], total: str
) -> None:
    """Print rows as a table that fits the terminal, each status in its style, and a total."""
    look = look_of(sys.stdout, os.environ)
    width = columns(sys.stdout) if look.terminal else _WIDTH_IN_A_PIPE
    shown = _fitting(head, rows, width) if look.terminal else list(range(len(head)))
    paint, status = look.paint(), head.index("STATUS")

    def painted(row: int, column: int, text: str) -> str:
        if row < 0:
            return paint("strong", text)
        return paint(styles[row] if shown[column] == status else "text", text)

    chosen = [[row[column] for column in shown] for row in (head, *rows)]
    for line in table(chosen[0], chosen[1:], width=width, paint=painted):
        click.echo(line)
    click.echo(f"{paint('prefix', '[rook]')} {total}")


def run_cells(run: ListedRun, now: float) -> list[str]:
    """A run as a row under `HEAD`."""
    spent = spent_on(run)
    return [
        run.name,
        moment(run.started_at, now),
        run.called or run.agent or "raw",
        short_model(run.model),
        run.status.replace("_", " "),
        duration(run.seconds),
        price(spent) if spent is not None else "",
        short_folder(run.cwd),
        one_line(run.what, 200),
    ]


def short_model(model: str | None) -> str:
    """A model's name in a column."""
    return cells.fit(one_line(model or "", 100), _WIDEST["MODEL"])


def short_folder(path: str | None) -> str:
    """A folder in a column: the end of a long path says more than its beginning."""
    shown, most = from_home(path or "", os.path.expanduser("~")), _WIDEST["FOLDER"]
    return shown if len(shown) <= most else f"…{shown[-most + 1 :]}"


def _fitting(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """The columns that leave enough of a terminal's width for the prompt."""
    shown = list(range(len(head)))
    wide = [max(cells.width(row[column]) for row in (head, *rows)) for column in shown]
    for name in filter(head.__contains__, _LESS_NEEDED):
        if sum(wide[column] + 2 for column in shown[:-1]) + _LEAST_WHAT <= width:
            break
        shown.remove(head.index(name))
    return shown


def spent_on(run: ListedRun) -> Money | None:
    """What a run has cost; None if it never started."""
    return None if run.status == "not_started" else run.spent


def total_parts(costs: Iterable[Money | None], more: int, what: str) -> Iterator[str]:
    """Yield what runs, or other things, have cost together, and how many more there are."""
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


def style(status: ListedStatus) -> str:
    """The style in which the status of a run is shown."""
    match status:
        case "running":
            return "tool"
        case "damaged" | "not kept":
            return "bad"
        case _:
            return style_of(status)
