"""Runs an agent in the foreground: shows it, passes Ctrl-C to it, reports how it ended."""

import asyncio
import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

from msgspec.structs import replace

from nightrook.cli.ci_output import CiOutput
from nightrook.cli.end_actions import EndActions
from nightrook.cli.terminal.ending import print_end, print_result
from nightrook.cli.terminal.interrupts import on_interrupts
from nightrook.cli.terminal.output import put
from nightrook.cli.terminal.shared_screen import SharedScreen
from nightrook.cli.terminal.view import View
from nightrook.config.options import ViewOptions
from nightrook.display.console import look_of
from nightrook.display.event_lines import ShownTexts
from nightrook.display.reports.report import Report
from nightrook.display.screen import Echo
from nightrook.model.safe import safe_line
from nightrook.prices import price_file_problem
from nightrook.process.systems.this_system import system
from nightrook.runs.limits import late_limits, missing_permission, unheld_limits
from nightrook.runs.run import Run
from nightrook.store.home import home_folder, space_problem


def is_watched(view_options: ViewOptions) -> bool:
    """True if a status line shows the agent's work before a message is complete."""
    return view_options.lively and look_of(sys.stdout, os.environ).terminal


Alongside = Callable[[Run], AbstractAsyncContextManager[None]]
"""A context that lasts as long as a run."""


def watch(
    run: Run, view_options: ViewOptions, ends: EndActions, alongside: Alongside | None = None
) -> int:
    """Run to the end and show it; return the exit code."""
    system.become_subreaper()  # what a killed recorder leaves behind becomes ours
    code = asyncio.run(_watch(run, view_options, ends.ci, alongside))
    ends.finish(lambda: report_of(run))
    return code


def report_of(run: Run) -> Report:
    """The report of a run that has ended."""
    from nightrook.cli.reports import report_of_run  # rarely needed, and it imports a lot

    return report_of_run(run.story)


class _Stops:
    """Stops a run at signals; those that come before it has started count when it has."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._early: list[signal.Signals] | None = []

    def __call__(self, number: signal.Signals) -> None:
        """Stop the run, now or once it has started."""
        if self._early is None:
            self._run.stop(by=number.name)
        else:
            self._early.append(number)

    def pass_on(self) -> None:
        """Handle the start of the run: stop it if that was requested."""
        early, self._early = self._early or [], None
        for number in early:
            self(number)


async def _watch(
    run: Run, view_options: ViewOptions, ci: CiOutput, alongside: Alongside | None
) -> int:
    screen = SharedScreen()
    if run.asks and run.agent:
        _ask_here(run, screen)
    stops, echo = _Stops(run), Echo(sys.stdout)
    on_interrupts(stops, echo)
    async with run, alongside(run) if alongside else nullcontext():
        stops.pass_on()
        for warning in (*warnings(run), *_unasked(run)):
            put(sys.stderr, f"[rook] WARNING: {safe_line(warning)}")
        ci.open_group(f"{run.label}: {run.options.prompt or shlex.join(run.command)}")
        if view_options.lively and (view_options.verbose or not is_watched(view_options)):
            put(sys.stdout, f"[rook] Agent command: {command_line(run.command)}")
        texts = await show_run(run, view_options, screen, echo)
        verdict = await run.wait()
        ci.close_group()
    print_result(sys.stdout, view_options, run.story, texts)
    if unheld := unheld_limits(run.state, run.options):
        put(sys.stderr, f"[rook] WARNING: {unheld}")
    print_end(view_options, run.story)
    return verdict.exit_code


def _ask_here(run: Run, screen: SharedScreen) -> None:
    """Ask for permissions at this terminal, if there is one."""
    from nightrook.cli.terminal.keys import terminal_path  # most runs don't ask
    from nightrook.cli.terminal.permission_prompt import TerminalAsker

    path = terminal_path()
    if path is not None:
        run.on_permission = TerminalAsker(
            path,
            run.label,
            screen,
            cwd=run.cwd,
            limit_s=run.options.ask_timeout,
            settlement=run.others,
        )
        run.options = replace(run.options, ask_timeout=None)  # a key restarts the asker's own timer


def warnings(run: Run) -> list[str]:
    """The warnings before a run starts: promises that rook cannot keep for it here."""
    late = late_limits(run.agent, run.options, via=run.via)
    home = Path(run.options.home) if run.options.home else home_folder()
    unpermitted = missing_permission(run.agent, run.options)
    problems = (late, unpermitted, price_file_problem(), space_problem(home))
    return [*system.problems(), *(problem for problem in problems if problem)]


def _unasked(run: Run) -> Iterator[str]:
    """Warnings that the agent's questions can't be answered, or only at this terminal."""
    if run.others.problem is not None:
        yield f"only this terminal can answer what the agent asks: {run.others.problem}"
    if run.asks and run.on_permission is None and not run.others.are_there():
        yield (
            "there is no terminal to ask on: what needs approval is denied; to answer it from "
            "elsewhere, start rook web, or use --detach and rook answer"
        )


async def show_run(
    run: Run, view_options: ViewOptions, screen: SharedScreen | None, echo: Echo
) -> ShownTexts | None:
    """Show a run that has been started, until it is over; return the texts that were shown."""
    view = View(
        sys.stdout,
        view_options,
        run.story,
        look=look_of(sys.stdout, os.environ),
        started_at=time.time(),
        screen=screen,
        echo=echo,
    )
    await view.show()
    return view.texts


def command_line(command: tuple[str, ...] | list[str]) -> str:
    """A command as one would type it."""
    return safe_line(shlex.join(command))
