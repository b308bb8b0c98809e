"""`rook runs`: the list of runs."""

import os
import sys
import time
from typing import Literal

import click
import msgspec

from rookery.cli.options.parameters import takes
from rookery.config.options import ListOptions
from rookery.display.console.look import columns, look_of
from rookery.display.console.table import table
from rookery.display.ending import style_of
from rookery.display.numbers import moment, price
from rookery.model.errors import RookeryError
from rookery.model.ledger import Money
from rookery.model.text import duration, one_line
from rookery.model.verdict import Outcome
from rookery.runs.heal import healed, is_cared_for
from rookery.runs.home import home_folder
from rookery.store import runs
from rookery.store.run_folder import RunFolder
from rookery.store.run_formats import RunInfo

_EXAMPLES = """\b
Examples:
  rook runs
  rook runs --json | jq -r .name
"""


_HEAD = ("RUN", "WHEN", "AGENT", "STATUS", "TIME", "COST", "WHAT")


_Status = Outcome | Literal["running", "damaged", "not kept"]


_WIDTH_IN_A_PIPE = 120


@click.command("runs", epilog=_EXAMPLES)
@takes("runs", ListOptions)
def runs_(options: ListOptions) -> None:
    """List the runs, newest first."""
    folders = runs.runs(home_folder())[: options.limit]
    rows = [_row(folder) for folder in folders]
    if options.json:
        for row in rows:
            click.echo(msgspec.json.encode(row))
        return
    if not rows:
        click.echo('There are no runs yet. Start one:  rook run "Fix the tests"   or  rook demo')
        return
    look = look_of(sys.stdout, os.environ)
    now, paint = time.time(), look.paint()
    width = columns(sys.stdout) if look.terminal else _WIDTH_IN_A_PIPE

    def painted(row: int, column: int, text: str) -> str:
        if row < 0:
            return paint("strong", text)
        return paint(_style(rows[row].status) if column == 3 else "text", text)

    for line in table(_HEAD, [row.cells(now) for row in rows], width=width, paint=painted):
        click.echo(line)


class _Row(msgspec.Struct, kw_only=True):
    """A run in a list."""

    name: str
    agent: str | None
    called: str | None
    """What the user calls the agent; None if by its own name."""

    status: _Status
    started_at: float | None
    seconds: float | None
    cost_usd: float | None
    """As its agent tells it: of a resumed session, maybe with what earlier runs spent."""

    spent_usd: float | None
    cost_source: str
    what: str

    @classmethod
    def of(cls, folder: RunFolder) -> "_Row":
        info, verdict = folder.info(), folder.verdict()
        started = info.started_at if info else None
        ended = verdict.ended_at if verdict else time.time()
        return cls(
            name=folder.name,
            agent=info.agent if info else None,
            called=info.called if info else None,
            status=verdict.status if verdict else _without_verdict(folder, info),
            started_at=started,
            seconds=None if started is None else max(0.0, ended - started),
            cost_usd=verdict.cost_usd if verdict else None,
            spent_usd=verdict.spent_usd if verdict else None,
            cost_source=verdict.cost_source if verdict else "unknown",
            what=_what(info) if info else "it has no run.json",
        )

    def cells(self, now: float) -> list[str]:
        """The run as a row for people."""
        money = Money(self.spent_usd, "native" if self.cost_source == "native" else "estimated")
        return [
            self.name,
            moment(self.started_at, now),
            self.called or self.agent or "raw",
            self.status.replace("_", " "),
            duration(self.seconds),
            price(money),
            one_line(self.what, 200),
        ]


def _without_verdict(folder: RunFolder, info: RunInfo | None) -> _Status:
    """The status of a run without a verdict: its processes may have died on a full disk."""
    if info is None:
        return "damaged"
    return "running" if is_cared_for(folder) else "not kept"


def _style(status: _Status) -> str:
    match status:
        case "running":
            return "tool"
        case "damaged" | "not kept":
            return "bad"
        case _:
            return style_of(status)


def _what(info: RunInfo) -> str:
    return "(piped)" if info.piped else info.prompt or " ".join(info.command)


def _row(folder: RunFolder) -> _Row:
    """A run in a list; one that cannot be read does not hide the others."""
    try:
        return _Row.of(healed(folder))
    except RookeryError as error:
        return _Row(
            name=folder.name,
            agent=None,
            called=None,
            status="damaged",
            started_at=None,
            seconds=None,
            cost_usd=None,
            spent_usd=None,
            cost_source="unknown",
            what=str(error),
        )
