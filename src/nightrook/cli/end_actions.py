"""The actions at the end of a run, a loop or a batch: --on-end, --notify, desktop, CI."""

import os
import sys
import time
from collections.abc import Callable, Iterator

from nightrook.cli.ci_output import CiOutput
from nightrook.cli.terminal.output import put, put_control
from nightrook.config.options import EndOptions
from nightrook.display.console import look_of
from nightrook.display.reports.report import ENDED, Report
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe, safe_line


class EndActions:
    """The actions that the options ask for at the end; none of them changes the exit code.

    A rook that a command of `--on-end` calls runs no command and sends no message.
    """

    def __init__(self, options: EndOptions, *, lively: bool, quiet: bool = False) -> None:
        self.ci = CiOutput(options, lively=lively, quiet=quiet)
        calls = ENDED not in os.environ  # guards: end-command-not-nested
        self._command = options.on_end if calls else None
        self._urls = options.notify if calls else ()
        self._desktop_after = None if options.no_desktop or quiet else options.desktop_after
        self._quiet = quiet
        self._started = time.monotonic()

    def warn(self) -> None:
        """Report before the start which actions are impossible at the end."""
        if self._urls:
            from nightrook.notify.services import MISSING, is_installed  # rarely needed

            if not is_installed():
                _warn(MISSING)

    def finish(self, make_report: Callable[[], Report], *, detached: bool = False) -> None:
        """Do it, with a report that is made only if it is needed.

        What is detached has no terminal, and the step of its CI job is over.
        """
        due = [*self._due(detached=detached)]
        if not due:
            return
        try:
            report = make_report()
            for act in due:
                act(report)
        except (NightrookError, OSError) as error:
            _warn(f"the end could not be reported: {error}")
        except KeyboardInterrupt:  # what has ended keeps its exit code
            _warn("interrupted while the end was reported")

    def _due(self, *, detached: bool) -> Iterator[Callable[[Report], None]]:
        """Yield the actions to take with a report at the end, in this order."""
        if self.ci.is_used and not detached:
            yield self.ci.finish
        if not detached and self._is_on_desktop():
            yield _notify_desktop
        if self._command:
            yield self._run_command
        if self._urls:
            yield self._send

    def _run_command(self, report: Report) -> None:
        from nightrook.notify.command import run_command  # rarely needed

        output, problem = run_command(self._command or "", report)
        if output.strip() and not self._quiet and problem is None:
            put(sys.stderr, safe(output.rstrip("\n")))
        if problem is not None:
            _warn(f"--on-end: {problem}")

    def _send(self, report: Report) -> None:
        from nightrook.notify.services import send  # rarely needed

        if problem := send(self._urls, report):
            _warn(problem)

    def _is_on_desktop(self) -> bool:
        """True if a person at a terminal has waited long enough."""
        if self._desktop_after is None or time.monotonic() - self._started < self._desktop_after:
            return False
        return look_of(sys.stderr, os.environ).terminal


def _notify_desktop(report: Report) -> None:
    """Notify, unless the user has just pressed Ctrl-C."""
    if report.status == "interrupted":
        return
    from nightrook.notify.desktop import notification  # rarely needed

    put_control(sys.stderr, notification(report, os.environ))


def _warn(message: str) -> None:
    put(sys.stderr, f"[rook] WARNING: {safe_line(message)}")
