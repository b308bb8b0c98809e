"""The scripted agent that plays the demo: nobody can go on with what it played."""

import sys
from collections.abc import Sequence
from pathlib import Path

import rookery

PLAYER = Path(rookery.__file__).parent / "testing" / "scripted_agent.py"


def player_command() -> tuple[str, ...]:
    """The words that call it."""
    return (sys.executable, "-I", "-S", str(PLAYER))


def is_played(program: Sequence[str] | None) -> bool:
    """Tell whether a run called it by itself: no real agent has that session."""
    return program is not None and tuple(program[1:]) == player_command()[1:]
