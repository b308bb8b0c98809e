"""The scripted agent that plays the demo; its runs cannot be resumed, and cost nothing."""

import sys
from collections.abc import Sequence
from pathlib import Path

_PLAYER = ("nightrook", "testing", "scripted_agent.py")


def player_command() -> tuple[str, ...]:
    """The command that starts it."""
    return (sys.executable, "-I", "-S", str(Path(__file__).parents[2].joinpath(*_PLAYER)))


def is_played(program: Sequence[str] | None) -> bool:
    """Return whether a run was played by it, in this installation or another one."""
    return Path(program[-1]).parts[-len(_PLAYER) :] == _PLAYER if program else False
