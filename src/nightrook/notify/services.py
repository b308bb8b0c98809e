"""Sends a message to the user's services with apprise, an extra, in a separate process."""

import asyncio
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec

from nightrook.display.reports.report import ENDED, Report
from nightrook.model.text import first_line
from nightrook.notify.message import body, title
from nightrook.process.guarded_command import run_guarded

MESSAGE = "ROOK_MESSAGE"
"""The variable by which the sender gets its message: arguments could be read by other users."""

MISSING = "notify needs apprise: pip install 'nightrook[notify]'"
_MOST_S = 30.0
_LONGEST_PROBLEM = 200


class Message(msgspec.Struct, frozen=True):
    """A message, and the addresses that it is sent to."""

    urls: tuple[str, ...]
    title: str
    body: str


def is_installed() -> bool:
    """Return whether messages can be sent."""
    return find_spec("apprise") is not None


def send(urls: Sequence[str], report: Report) -> str | None:
    """Send the end of a run to every address; return why that failed."""
    if not is_installed():
        return MISSING
    message = Message(tuple(urls), title(report), body(report))
    ended = asyncio.run(  # guards: sender-imports
        run_guarded(
            # Without -P, Python would import from the project's folder.
            [sys.executable, "-P", "-m", "nightrook.notify.sender"],
            cwd=str(Path.cwd()),
            marker=f"notify-{os.getpid()}",
            timeout_s=_MOST_S,
            environment={MESSAGE: msgspec.json.encode(message).decode(), ENDED: report.name},
        )
    )
    if ended.timed_out:
        return f"notify: no answer in {_MOST_S:g}s"
    said = first_line(ended.output.decode("utf-8", "replace"), _LONGEST_PROBLEM)
    return None if ended.exit_code == 0 else f"notify: {said or 'the sender failed'}"
