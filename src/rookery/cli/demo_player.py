"""The scripted agent that plays the demo; its runs cannot be resumed."""

import sys
from collections.abc import Sequence
from pathlib import Path

import rookery

PLAYER = Path(rookery.__file__).parent / "testing" / "scripted_agent.py"


def player_command() -> tuple[str, ...]:
    """The command that starts it."""
    return (sys.executable, "-I", "-S", str(PLAYER))


def is_played(program: Sequence[str] | None) -> bool:
    """Whether a run was played by it, so that no real agent has the session."""
    return program is not None and tuple(program[1:]) == player_command()[1:]
