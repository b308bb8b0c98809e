"""`rook runs`, `show` and `replay`: what was run, and what is running."""

import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import msgspec

from rookery import agents
from rookery.cli.run import errors_as_usage
from rookery.core.errors import RookeryError
from rookery.core.fold import Fold
from rookery.core.ledger import Money
from rookery.core.records import Record
from rookery.core.safe import safe, safe_line
from rookery.core.state import RunState
from rookery.core.text import cut, one_line
from rookery.display.asking import decided
from rookery.display.plain import PlainDisplay, price
from rookery.folder import decisions, runs
from rookery.folder.decisions import Decided
from rookery.folder.output import read_output
from rookery.folder.runs import RunFolder, RunInfo, VerdictInfo
from rookery.prices import PriceBook
from rookery.run.others import healed
from rookery.run.places import home_folder
from rookery.run.tail import Tail

_LONGEST_PAUSE_S = 5.0  # of a replay: nobody wants to watch an agent wait


@click.command("runs", epilog="Examples:\n  rook runs\n  rook runs --json | jq -r .name")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a run.")
@click.option("--limit", "-n", type=int, default=20, show_default=True, help="At most so many.")
def runs_(as_json: bool, limit: int) -> None:
    """List the runs, the newest first."""
    with errors_as_usage():
        folders = runs.runs(home_folder())[:limit]
        rows = [_row(folder) for folder in folders]
    if as_json:
        for row in rows:
            click.echo(msgspec.json.encode(row))
        return
    if not rows:
        click.echo('There are no runs yet. Start one:  rook run "Fix the tests"   or  rook demo')
        return
    click.echo(f"{'RUN':6}{'WHEN':13}{'AGENT':8}{'STATUS':13}{'TIME':8}{'COST':10}WHAT")
    for row in rows:
        click.echo(row.line())


@click.command("show", epilog="Examples:\n  rook show\n  rook show k7f3 --verbose")
@click.option("--verbose", "-v", is_flag=True, help="Outputs, retries, limits, notices.")
@click.argument("run", required=False)
def show(run: str | None, verbose: bool) -> None:
    """Show what a run did and how it ended; without a name, the last one."""
    with errors_as_usage():
        folder = healed(find_run(run))
        fold = Fold(_records(folder), PriceBook(), runs.beginning_of(folder.info()))
        display = _display(folder, fold.state, verbose=verbose)
        made = decisions.read(folder)
        for record in fold:
            display.show(record)
            _tell_decisions(record, made)
        _say_end(folder, fold.state)


@click.command(
    "replay", epilog="Examples:\n  rook replay k7f3 --speed 10\n  rook replay k7f3 --instant"
)
@click.option("--speed", type=float, default=1.0, show_default=True, help="How many times as fast.")
@click.option("--instant", is_flag=True, help="Without any pause.")
@click.option("--verbose", "-v", is_flag=True, help="Outputs, retries, limits, notices.")
@click.argument("run", required=False)
def replay(run: str | None, speed: float, instant: bool, verbose: bool) -> None:
    """Show a run again as it happened."""
    if not speed > 0:
        raise click.UsageError("--speed must be more than 0")
    with errors_as_usage():
        folder = find_run(run)
        fold = Fold(_records(folder), PriceBook(), runs.beginning_of(folder.info()))
        display = _display(folder, fold.state, verbose=verbose)
        made = decisions.read(folder)
        before: float | None = None
        for record in fold:
            if not instant and before is not None and record.at is not None:
                time.sleep(min(max(0.0, record.at - before) / speed, _LONGEST_PAUSE_S))
            before = record.at if record.at is not None else before
            display.show(record)
            _tell_decisions(record, made)
            sys.stdout.flush()
        _say_end(folder, fold.state)


class _Row(msgspec.Struct, kw_only=True):
    """A run in a list."""

    name: str
    agent: str | None
    status: str
    started_at: float | None
    seconds: float | None
    cost_usd: float | None
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
            status=verdict.status if verdict else "running" if info else "damaged",
            started_at=started,
            seconds=None if started is None else max(0.0, ended - started),
            cost_usd=verdict.cost_usd if verdict else None,
            cost_source=verdict.cost_source if verdict else "unknown",
            what=_what(info) if info else "it has no run.json",
        )

    def line(self) -> str:
        """The run as one line for people."""
        money = Money(self.cost_usd, "native" if self.cost_source == "native" else "estimated")
        return safe_line(
            f"{self.name:6}{_when(self.started_at):13}{self.agent or 'raw':8}{self.status:13}"
            f"{duration(self.seconds):8}{price(money):10}{cut(one_line(self.what, 200), 60)}"
        )


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
            status="damaged",
            started_at=None,
            seconds=None,
            cost_usd=None,
            cost_source="unknown",
            what=str(error),
        )


def duration(seconds: float | None) -> str:
    """A length of time as people write it."""
    if seconds is None:
        return "?"
    if seconds < 60:
        return f"{seconds:.1f}s" if seconds < 10 else f"{seconds:.0f}s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest:02d}s"
    return f"{minutes // 60}h{minutes % 60:02d}m"


def _when(moment: float | None) -> str:
    if moment is None:
        return "?"
    past = time.time() - moment
    if past < 60:
        return "just now"
    if past < 3600:
        return f"{past / 60:.0f} min ago"
    return time.strftime("%d %b %H:%M", time.localtime(moment))


def find_run(name: str | None) -> RunFolder:
    """The run of that name, or whose name begins so; without a name, the last one."""
    home = home_folder()
    if name is not None:
        return runs.find(home, name)
    last = runs.last(home)
    if last is None:
        raise RookeryError('there are no runs yet; start one:  rook run "Fix the tests"')
    return last


def _display(folder: RunFolder, state: RunState, *, verbose: bool) -> PlainDisplay:
    info = folder.info()
    name = info.agent if info and info.agent else "agent"
    return PlainDisplay(sys.stdout, name, state=state, verbose=verbose)


def _records(folder: RunFolder) -> Iterator[Record]:
    info = folder.info()
    if info is None or info.agent is None:
        _show_raw(folder.path)
        return
    decoder = agents.decoder(info.agent)
    with Tail(folder.path, "stdout.raw", b"o") as tail:
        while pieces := tail.read():
            for data, at in pieces:
                yield from decoder.feed(data, at)
    yield from decoder.close()


def _tell_decisions(record: Record, made: Mapping[str, Decided]) -> None:
    for words in decided(record, made):
        click.echo(f"[rook] {words}")


def _show_raw(path: Path) -> None:
    try:
        with (path / "stdout.raw").open("rb") as file:
            for line in file:
                click.echo(safe(line.decode("utf-8", "replace").rstrip("\n")))
    except FileNotFoundError:
        return  # it could not be started


def _say_end(folder: RunFolder, state: RunState) -> None:
    verdict = folder.verdict()
    if verdict is None:
        click.echo(f"[rook] run {folder.name} is going on", err=True)
        return
    click.echo(f"[rook] {ending(folder, verdict, state)}", err=True)
    if read_output(folder) is not None:
        click.echo(f"[rook] its answer: {folder.path / 'output.md'}", err=True)


def ending(folder: RunFolder, verdict: VerdictInfo, state: RunState) -> str:
    """How a run ended, in one line."""
    info = folder.info()
    parts = [verdict.status.replace("_", " ")]
    if verdict.status != "success":
        parts.append(safe_line(verdict.sentence))
    if info is not None:
        parts.append(duration(verdict.ended_at - info.started_at))
    if state.finished_tools:
        failed = f" ({state.failed_tools} failed)" if state.failed_tools else ""
        parts.append(f"{_count(len(state.finished_tools), 'tool')}{failed}")
    if state.files:
        parts.append(_count(len(state.files), "file"))
    return " · ".join(parts)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
