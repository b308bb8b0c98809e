"""Runs the user's own command at the end, contained like a check."""

import asyncio
import os
from pathlib import Path
from typing import NamedTuple

from nightrook.display.reports.report import ENDED, Report, variables
from nightrook.model.text import first_line
from nightrook.process.guarded_command import GuardedEnd, run_guarded

MOST_S = 60.0
"""The time that the command may take."""

_LONGEST_PROBLEM = 200


class CommandEnd(NamedTuple):
    """The output of the command, and its error."""

    output: str
    problem: str | None


def run_command(command: str, report: Report) -> CommandEnd:
    """Run a command with the shell, since it is the user's own text; wait for its end."""
    try:
        ended = asyncio.run(_guarded(command, report))
    except OSError as error:
        return CommandEnd("", f"it cannot run: {error.strerror or error}")
    output = ended.output.decode("utf-8", "replace")
    if ended.timed_out:  # guards: end-command-timeout
        return CommandEnd(output, f"it was stopped after {MOST_S:g}s")
    if ended.exit_code == 0:
        return CommandEnd(output, None)
    code = "was killed" if ended.exit_code is None else f"exited with code {ended.exit_code}"
    said = first_line(output, _LONGEST_PROBLEM)
    return CommandEnd(output, f"it {code}" + (f": {said}" if said else ""))


def environment(report: Report) -> dict[str, str]:
    """Return the variables of the command's environment, in addition to ours."""
    took = report.duration_s
    return {
        **variables(report),
        "ROOK_SENTENCE": report.sentence,
        "ROOK_DURATION_S": "" if took is None else f"{took:.1f}",
        ENDED: report.name,
    }


async def _guarded(command: str, report: Report) -> GuardedEnd:
    return await run_guarded(
        ["/bin/sh", "-c", command],
        cwd=str(Path.cwd()),
        marker=f"on-end-{os.getpid()}",
        timeout_s=MOST_S,
        environment=environment(report),
    )
