"""Shows a run of another process, until it ends or the user leaves."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import click

from nightrook.cli.terminal.keys import terminal_path
from nightrook.cli.terminal.output import put
from nightrook.cli.terminal.remote_prompts import RemotePrompts
from nightrook.cli.terminal.shared_screen import SharedScreen
from nightrook.cli.terminal.view import View
from nightrook.config.options import ViewOptions
from nightrook.display.console import look_of
from nightrook.display.event_lines import ShownTexts
from nightrook.model.safe import safe_line
from nightrook.model.text import suggested
from nightrook.runs.attached import AttachedRun
from nightrook.store.file_names import RUNNER_LOG
from nightrook.store.run_formats import VerdictInfo
from nightrook.story.feed import START


async def show_attached(
    attached: AttachedRun, view_options: ViewOptions, *, from_now: bool
) -> tuple[VerdictInfo, ShownTexts | None]:
    """Show the run to its end; BrokenPipeError if the output is gone before.

    Return the verdict, and the texts that were shown.
    """
    if from_now:
        await attached.read_now()
    screen, path = SharedScreen(), terminal_path() if view_options.lively else None
    view = View(
        sys.stdout,
        view_options,
        attached.story,
        look=look_of(sys.stdout, os.environ),
        started_at=attached.info.started_at,
        screen=screen,
        start=attached.position if from_now else START,
    )
    following = asyncio.create_task(view.during(attached.follow()))
    leaving = asyncio.create_task(view.until_muted())
    prompts = RemotePrompts(path, attached.folder, attached.info, screen) if path else None
    asking = asyncio.create_task(prompts.follow(view.say)) if prompts else None
    try:
        await asyncio.wait([following, leaving], return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            return await following, view.texts
        raise BrokenPipeError  # without an output there is nothing to do
    finally:
        leaving.cancel()
        following.cancel()
        await asyncio.wait([following])
        if asking is not None:
            asking.cancel()
            await asyncio.wait([asking])


_INTERRUPTED = 130

Result = TypeVar("Result")


def follow(work: Coroutine[Any, Any, Result], *, what: str, name: str) -> Result:
    """Do the work; Ctrl-C, SIGTERM and SIGHUP end it, but not the run that it follows."""
    try:
        return asyncio.run(_until_signal(work))
    except (KeyboardInterrupt, asyncio.CancelledError):
        commands = f"{suggested('attach', name)} · {suggested('stop', name)}"
        put(sys.stderr, f"[rook] {what} {name} continues: {commands}")
        raise click.exceptions.Exit(_INTERRUPTED) from None


async def _until_signal(work: Coroutine[Any, Any, Result]) -> Result:
    working = asyncio.ensure_future(work)
    for number in (signal.SIGTERM, signal.SIGHUP):  # SIGINT is asyncio's
        asyncio.get_running_loop().add_signal_handler(number, working.cancel)
    return await working


def report_log(folder: Path) -> None:
    """Point to the errors of a background runner, if there are any."""
    log = folder / RUNNER_LOG
    if log.exists() and log.stat().st_size:
        click.echo(f"[rook] errors of its background runner: {safe_line(str(log))}", err=True)
