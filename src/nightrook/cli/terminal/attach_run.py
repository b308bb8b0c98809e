"""`rook attach RUN`: follows a run that another process started."""

import asyncio
import os
import sys

import click

from nightrook.cli.options.defaults import print_project_settings
from nightrook.cli.options.view_options import hold_messages
from nightrook.cli.terminal.ending import print_end, print_result
from nightrook.cli.terminal.following import follow, report_log
from nightrook.cli.terminal.foreground import command_line
from nightrook.cli.terminal.keys import terminal_path
from nightrook.cli.terminal.remote_prompts import RemotePrompts
from nightrook.cli.terminal.screen_turns import Turns
from nightrook.cli.terminal.view import View
from nightrook.config.command_options import AttachOptions
from nightrook.config.options import ViewOptions
from nightrook.config.user_settings import fleet_credentials
from nightrook.display.console import look_of
from nightrook.display.event_lines import ShownTexts
from nightrook.display.reports.ended_run import EndedRun
from nightrook.model.errors import UnknownRunError
from nightrook.runs.attached import AttachedRun
from nightrook.runs.heal import ask_to_stop
from nightrook.store.home import home_folder
from nightrook.store.list import chosen_run
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import VerdictInfo
from nightrook.story.feed import START


def attach_run(name: str | None, options: AttachOptions, view_options: ViewOptions) -> int:
    """Show a run to its end; return its exit code."""
    attached = AttachedRun(_found(name))
    hold_messages(view_options)
    print_project_settings()
    following = _follow(attached, view_options, from_now=options.from_now)
    if attached.info.fleet is not None:
        from nightrook.cli.fleet_runs import kept_up  # an extra

        following = kept_up(attached.folder, following, stop=options.stop)
    elif options.stop:
        ask_to_stop(attached.folder)
    verdict, texts = follow(following, what="run", name=attached.folder.name)
    feed, folder = attached.feed, attached.folder
    ended = EndedRun(folder.ending(verdict.verdict), feed.state, feed.agent, folder)
    print_result(sys.stdout, view_options, ended, texts)
    print_end(view_options, ended)
    report_log(attached.folder.path)
    return verdict.exit_code


def _found(name: str | None) -> RunFolder:
    """The run of that name here, or on the user's fleet."""
    try:
        return chosen_run(home_folder(), name)
    except UnknownRunError:
        if name is None or fleet_credentials() is None:
            raise
    from nightrook.cli.fleet_runs import adopted  # an extra

    return adopted(name)


async def _follow(
    attached: AttachedRun, view_options: ViewOptions, *, from_now: bool
) -> tuple[VerdictInfo, ShownTexts | None]:
    is_terminal = look_of(sys.stdout, os.environ).terminal
    shows_command = view_options.lively and (view_options.verbose or not is_terminal)
    if attached.info.command and shows_command:
        click.echo(f"[rook] Agent command: {command_line(attached.info.command)}")
    return await show_attached(attached, view_options, from_now=from_now)


async def show_attached(
    attached: AttachedRun, view_options: ViewOptions, *, from_now: bool
) -> tuple[VerdictInfo, ShownTexts | None]:
    """Show the run to its end; BrokenPipeError if the output is gone before.

    Return the verdict, and the texts that were shown.
    """
    if from_now:
        await attached.read_now()
    turns, path = Turns(), terminal_path() if view_options.lively else None
    view = View(
        sys.stdout,
        view_options,
        attached.feed,
        look=look_of(sys.stdout, os.environ),
        started_at=attached.info.started_at,
        folder=lambda: attached.folder,
        turns=turns,
        start=attached.position if from_now else START,
    )
    following = asyncio.create_task(view.during(attached.follow()))
    leaving = asyncio.create_task(view.until_muted())
    prompts = RemotePrompts(path, attached.folder, attached.info, turns) if path else None
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
