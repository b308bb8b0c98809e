"""`rook runs`, `show` and `replay`: what was run, and what is running."""

import math
import os
import shlex
import sys
import time
from collections.abc import Iterator

import click
import msgspec

from rookery import agents
from rookery.adapter.agent import no_replacements
from rookery.cli.demo_player import is_played
from rookery.cli.live.ending import can_resume
from rookery.cli.live.pager import paged
from rookery.cli.live.playback import Pace, ended_by_signals
from rookery.cli.live.raw_text import last_words, raw_lines
from rookery.cli.options.types import Count
from rookery.cli.options.view_options import (
    Form,
    Manner,
    display_on,
    format_option,
    no_text_option,
    verbose_option,
)
from rookery.display.asking import decided
from rookery.display.ending import End, summary
from rookery.display.look import Look, columns, look_of
from rookery.display.outputs import Display
from rookery.display.page import Heading, Page
from rookery.display.paint import Paint
from rookery.display.screen import Screen
from rookery.display.table import table
from rookery.display.terminal import TerminalDisplay
from rookery.display.words import duration, from_home, price, when
from rookery.feed.tail import Tail
from rookery.model.completion import final_text
from rookery.model.errors import RookeryError
from rookery.model.fold import Fold
from rookery.model.ledger import Money
from rookery.model.records import Record, dump
from rookery.model.safe import safe
from rookery.model.state import RunState
from rookery.model.text import one_line
from rookery.prices import PriceBook
from rookery.runs.home import home_folder
from rookery.runs.others import healed, is_seen_to
from rookery.store import decisions, runs
from rookery.store.output import has_output
from rookery.store.runs import RunFolder, RunInfo

_RUNS_EXAMPLES = """\b
Examples:
  rook runs
  rook runs --json | jq -r .name
"""
_SHOW_EXAMPLES = """\b
Examples:
  rook show
  rook show k7f3 --full
  rook show k7f3 | grep ERROR
"""
_REPLAY_EXAMPLES = """\b
Examples:
  rook replay k7f3 --speed 10
  rook replay k7f3 --instant --format jsonl
"""
_HEAD = ("RUN", "WHEN", "AGENT", "STATUS", "TIME", "COST", "WHAT")
_STYLES = {"success": "cost", "failed": "removed", "incomplete": "removed", "damaged": "removed"}
_WIDTH_IN_A_PIPE = 120
_WIDEST_PAGE = 100


@click.command("runs", epilog=_RUNS_EXAMPLES)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a run.")
@click.option("--limit", "-n", type=Count(), default=20, show_default=True, help="At most so many.")
def runs_(as_json: bool, limit: int) -> None:
    """List the runs, the newest first."""
    folders = runs.runs(home_folder())[:limit]
    rows = [_row(folder) for folder in folders]
    if as_json:
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
        return paint(_STYLES.get(rows[row].status, "tool") if column == 3 else "text", text)

    for line in table(_HEAD, [row.cells(now) for row in rows], width=width, paint=painted):
        click.echo(line)


@click.command("show", epilog=_SHOW_EXAMPLES)
@click.option("--full", is_flag=True, help="Everything: texts, inputs, outputs, differences.")
@verbose_option
@click.option("--no-pager", is_flag=True, help="Straight to the terminal.")
@click.argument("run", required=False)
def show(run: str | None, full: bool, verbose: bool, no_pager: bool) -> None:
    """Show what a run did and how it ended; without a name, the last one.

    On a terminal it is a page in your pager ($PAGER, else less). In a pipe it is the lines of the
    run, as they were shown; with --full the page, without colours.
    """
    look = look_of(sys.stdout, os.environ)
    if run is not None and run.startswith("loop-"):
        from rookery.cli.commands.loops import show_loop  # few ask for it, and it imports a lot

        show_loop(run, full=full)
        return
    folder = healed(find_run(run))
    if look.terminal and not no_pager:
        paged(_page(folder, look, verbose=verbose, full=full), os.environ)
    elif look.terminal or full:
        for line in _page(folder, look, verbose=verbose, full=full):
            click.echo(line)
    else:
        _show_lines(folder, Manner(verbose=verbose))


@click.command("replay", epilog=_REPLAY_EXAMPLES)
@click.option("--speed", type=float, default=1.0, show_default=True, help="How many times as fast.")
@click.option("--instant", is_flag=True, help="Without any pause.")
@verbose_option
@no_text_option
@format_option
@click.argument("run", required=False)
def replay(
    run: str | None, speed: float, instant: bool, verbose: bool, no_text: bool, form: Form
) -> None:
    """Show a run again as it happened."""
    if not speed > 0:
        raise click.UsageError("--speed must be more than 0")
    look = look_of(sys.stdout, os.environ)
    with ended_by_signals():
        folder = find_run(run)
        pace = Pace(math.inf if instant else speed)
        manner = Manner(verbose=verbose, text=not no_text)
        if form != "text":
            for data in _passed_on(folder, form, pace):
                sys.stdout.buffer.write(safe(data.decode()).encode() if look.terminal else data)
                sys.stdout.buffer.flush()
            return
        fold = Fold(_records(folder), PriceBook(), runs.beginning_of(folder.info()))
        with _display(folder, fold.state, manner) as display:
            display.put(list(raw_lines(folder)))
            made = decisions.read(folder)
            for record in fold:
                pace.wait(record.at, display.tick)
                display.show(record)
                display.say(*decided(record, made))
                sys.stdout.flush()
            display.put(list(last_words(folder, fold.state, look.paint())))
        _say_end(folder, fold.state)


class _Row(msgspec.Struct, kw_only=True):
    """A run in a list."""

    name: str
    agent: str | None
    called: str | None
    """What the user calls the agent; None if by its own name."""

    status: str
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
            when(self.started_at, now),
            self.called or self.agent or "raw",
            self.status.replace("_", " "),
            duration(self.seconds),
            price(money),
            one_line(self.what, 200),
        ]


def _without_verdict(folder: RunFolder, info: RunInfo | None) -> str:
    """What to call a run that nobody has judged: its processes may have died on a full disk."""
    if info is None:
        return "damaged"
    return "running" if is_seen_to(folder) else "not kept"


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


def find_run(name: str | None) -> RunFolder:
    """The run of that name, or whose name begins so; without a name, the last one."""
    home = home_folder()
    if name is not None and name.startswith("loop-"):
        raise RookeryError(f"{name} is a loop, not a run: see it with  rook show {name}")
    if name is not None:
        return runs.find(home, name)
    last = runs.last(home)
    if last is None:
        raise RookeryError('there are no runs yet; start one:  rook run "Fix the tests"')
    return last


def _display(folder: RunFolder, state: RunState, manner: Manner) -> Display:
    info = folder.info()
    label = info.label if info else None
    return display_on(
        sys.stdout,
        label or "agent",
        manner,
        agent=info.agent if info else None,
        state=state,
        run=folder.name,
    )


def _show_lines(folder: RunFolder, manner: Manner) -> None:
    fold = Fold(_records(folder), PriceBook(), runs.beginning_of(folder.info()))
    with _display(folder, fold.state, manner) as display:
        display.put(list(raw_lines(folder)))
        made = decisions.read(folder)
        for record in fold:
            display.show(record)
            display.say(*decided(record, made))
        display.put(list(last_words(folder, fold.state, look_of(sys.stdout, os.environ).paint())))
    _say_end(folder, fold.state)


def _page(folder: RunFolder, look: Look, *, verbose: bool, full: bool) -> Iterator[str]:
    """The lines of a run's page."""
    info = folder.info()
    agent = agents.agent(info.agent) if info and info.agent else None
    width, home = min(columns(sys.stdout), _WIDEST_PAGE), os.path.expanduser("~")
    fold, paint = (
        Fold(_records(folder), PriceBook(), runs.beginning_of(folder.info())),
        look.paint(),
    )
    display = TerminalDisplay(
        Screen(sys.stdout, lambda: width),
        (info.label if info else None) or "raw",
        columns=lambda: width,
        state=fold.state,
        verbose=verbose and not full,
        paint=paint,
        home=home,
    )
    page = Page(
        display,
        paint=paint,
        width=width,
        full=full,
        replacements=agent.replacements if agent else no_replacements,
    )
    yield from page.head(
        Heading(
            run=folder.name,
            prompt=info.prompt if info else None,
            started_at=info.started_at if info else None,
            command=shlex.join(info.command) if info else None,
        )
    )
    yield from raw_lines(folder)
    made = decisions.read(folder)
    for record in fold:
        yield from page.lines(record)
        yield from (f"{paint('prefix', '[rook]')} {words}" for words in decided(record, made))
    yield from page.close()
    yield from last_words(folder, fold.state, paint, full=full)
    yield from page.answer(None if full else final_text(fold.state))
    yield from _ending(folder, fold.state, paint, home)


def _passed_on(folder: RunFolder, form: Form, pace: Pace) -> Iterator[bytes]:
    """A run's records as JSON lines, or its bytes, at the pace at which they came."""
    if form == "jsonl":
        for record in _records(folder):
            pace.wait(record.at)
            yield dump(record) + b"\n"
        return
    for data, at in _pieces(folder):
        pace.wait(at)
        yield data


def _pieces(folder: RunFolder) -> Iterator[tuple[bytes, float | None]]:
    with Tail(folder.path, "stdout.raw", b"o") as tail:
        while pieces := tail.read():
            yield from pieces


def _records(folder: RunFolder) -> Iterator[Record]:
    """The records of a run; a command that no adapter knows has none."""
    info = folder.info()
    if info is None or info.agent is None:
        return
    decoder = agents.decoder(info.agent)
    for data, at in _pieces(folder):
        yield from decoder.feed(data, at)
    yield from decoder.close()


def _say_end(folder: RunFolder, state: RunState) -> None:
    for line in _ending(folder, state, look_of(sys.stderr, os.environ).paint()):
        click.echo(line, err=True)


def _ending(
    folder: RunFolder, state: RunState, paint: Paint, home: str | None = None
) -> Iterator[str]:
    """How a run ended, what to do next, and where its answer is."""
    verdict, info = folder.verdict(), folder.info()
    prefix = paint("prefix", "[rook]")
    if verdict is None:
        yield f"{prefix} run {folder.name} is going on"
        return
    ended = End(
        run=folder.name,
        status=verdict.status,
        sentence=verdict.sentence,
        seconds=verdict.ended_at - info.started_at if info else None,
        resumable=verdict.session is not None
        and not (info and is_played(info.program))
        and (info is None or can_resume(info.agent)),
    )
    yield from summary(ended, state, paint)
    if has_output(folder):
        yield f"{prefix} its answer: {from_home(str(folder.path / 'output.md'), home)}"
