"""`rook answer`: asks the open questions of other processes' agents at this terminal."""

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import click
import msgspec

from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.terminal.keys import terminal_path
from nightrook.cli.terminal.remote_prompts import RemotePrompts
from nightrook.cli.terminal.shared_screen import SharedScreen
from nightrook.config.command_options import AnswerOptions
from nightrook.display.console import columns, look_of
from nightrook.display.numbers import moment
from nightrook.display.table import table
from nightrook.model.errors import NightrookError
from nightrook.model.questions import OpenQuestion
from nightrook.model.safe import safe_line
from nightrook.model.text import one_line, suggested
from nightrook.runs.asking import client
from nightrook.store.file_names import VERDICT
from nightrook.store.home import home_folder
from nightrook.store.list import chosen_run, newest_first
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import RunInfo

_HEAD = ("RUN", "AGENT", "ASKED", "WHAT")
_LONGEST = 200
_EXAMPLES = """\b
Examples:
  rook answer                 what all agents ask, one question after another
  rook answer k7f3            what the agent of one run asks
  rook answer --list          only list what is asked
"""


@click.command("answer", epilog=_EXAMPLES)
@takes("answer", AnswerOptions)
@argument("run", required=False, completes="running")
def command(options: AnswerOptions, run: str | None) -> None:
    """Answer the questions of agents that run in the background or at another terminal.

    Each question is shown as in rook run, and leaves the screen if it is answered elsewhere. The
    command ends when every question that was open has its answer. Without a terminal it lists the
    questions. An agent cannot use it to answer for you.
    """
    asking = list(_asking(run))
    path = terminal_path()
    if options.list or options.json or path is None:
        asyncio.run(_list(asking, as_json=options.json))
    elif not asyncio.run(_ask(path, asking)):
        click.echo("[rook] nothing is asked", err=True)


def _asking(name: str | None) -> Iterator[tuple[RunFolder, RunInfo]]:
    """The runs whose agents may ask, oldest first; an error if the named one does not."""
    named = None if name is None else chosen_run(home_folder(), name)
    folders = [named] if named else _unfinished()
    for folder in folders:
        with suppress(NightrookError):  # a damaged run does not ask
            info = folder.info()
            if info is not None and client.is_asking(folder):
                yield folder, info
                continue
        if named is not None:
            raise client.NotAskingError(
                f"run {named.name!r} does not ask: it is over, or was not started with "
                f"--permission ask; details: {suggested('show', named.name)}"
            )


def _unfinished() -> list[RunFolder]:
    """The runs without a verdict, oldest first."""
    newest = newest_first(home_folder())
    return [folder for folder in newest if not (folder.path / VERDICT).exists()][::-1]


async def _ask(path: str, asking: list[tuple[RunFolder, RunInfo]]) -> int:
    """Ask the open questions of each run; return how many there were."""
    count = 0
    for folder, info in asking:
        with suppress(client.NotAskingError):  # it has ended meanwhile
            if questions := await client.open_questions(folder):
                what = one_line(info.prompt or "", _LONGEST)
                click.echo(f"[rook] run {folder.name} · {safe_line(what)}", err=True)
                await RemotePrompts(path, folder, info, SharedScreen()).ask_open()
                count += len(questions)
    return count


class _Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A question of a run, as JSON."""

    run: str
    question: OpenQuestion


async def _list(asking: list[tuple[RunFolder, RunInfo]], *, as_json: bool) -> None:
    rows = []
    for folder, info in asking:
        with suppress(client.NotAskingError):
            for question in await client.open_questions(folder):
                if as_json:
                    listed = _Listed(run=folder.name, question=question)
                    click.echo(msgspec.json.encode(listed).decode())
                rows.append(_row(folder, info, question))
    if not as_json:
        paint, width = look_of(sys.stdout, os.environ).paint(), columns(sys.stdout)
        shown = table(_HEAD, rows, width=width, paint=paint) if rows else ["nothing is asked"]
        click.echo("\n".join(shown))


def _row(folder: RunFolder, info: RunInfo, question: OpenQuestion) -> tuple[str, ...]:
    ask = question.ask
    title = ask.title or (ask.questions[0].text if ask.questions else "") or ask.about
    what = f"{ask.name}: {title}" if ask.name else title
    asked = moment(question.opened_at, time.time())
    return folder.name, info.label or "", asked, one_line(what, _LONGEST)
