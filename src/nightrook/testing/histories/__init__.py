"""Writes agents' files on disk for demos and tests: `write` puts sessions into a made-up home.

The files have the form that the real programs write, with the repetitions that make totals wrong
if they are added up: lines of one message, copies in forks, sums of subagents.
"""

from pathlib import Path

from nightrook.testing.histories import claude, codex, gemini, opencode, qwen
from nightrook.testing.histories.demo import month_of_work
from nightrook.testing.histories.sessions import StoredCall, StoredCommand, StoredSession

__all__ = ["StoredCall", "StoredCommand", "StoredSession", "month_of_work", "write"]

_WRITERS = {
    "claude": claude.write,
    "codex": codex.write,
    "gemini": gemini.write,
    "opencode": opencode.write,
    "qwen": qwen.write,
}

AGENTS = tuple(_WRITERS)
"""The agents whose files can be written."""


def write(home: Path, session: StoredSession) -> None:
    """Write a session below a home, as its agent would."""
    _WRITERS[session.agent](home, session)
