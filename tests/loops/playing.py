"""A scripted agent that plays another part each time it is run."""

import asyncio
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from nightrook.loops.events import LoopEvent
from nightrook.loops.loop import Loop
from nightrook.loops.plan import Goal, LoopPlan, make_plan
from nightrook.loops.start import new_loop
from nightrook.testing import AGENT


def install(folder: Path, plays: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a `claude` first on PATH that plays these one after the other, and the last for ever."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    (folder / "plays").write_text("".join(f"{play}\n" for play in plays))
    calls, listed = shlex.quote(str(folder / "calls")), shlex.quote(str(folder / "plays"))
    program = programs / "claude"
    program.write_text(
        "#!/bin/sh\n"
        f"echo run >> {calls}\n"
        f"n=$(wc -l < {calls})\n"
        f"most=$(wc -l < {listed})\n"
        '[ "$n" -gt "$most" ] && n=$most\n'
        f'ROOK_SCRIPT=$(sed -n "${{n}}p" {listed}); export ROOK_SCRIPT\n'
        f'exec {shlex.quote(sys.executable)} -I -S {shlex.quote(str(AGENT))} "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("ROOK_HOME", str(folder / "home"))
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return work


def calls(folder: Path) -> int:
    """How often the agent was run."""
    file = folder / "calls"
    return len(file.read_text().split()) if file.exists() else 0


def plan(work: Path, **options: Any) -> LoopPlan:
    goal = options.pop("goal", Goal(until="DONE"))
    return make_plan(agent="claude", cwd=str(work), prompt="Fix it.", goal=goal, **options)


def play(asked: LoopPlan) -> tuple[Loop, list[LoopEvent]]:
    """Run a loop to its end; give it and its events."""

    async def whole() -> tuple[Loop, list[LoopEvent]]:
        async with new_loop(asked) as loop:
            events = [event async for event in loop]
        return loop, events

    return asyncio.run(whole())


async def to_the_end(loop: Loop) -> Loop:
    """Run a loop to its end, without reading its events."""
    async with loop:
        await loop.wait()
    return loop


CHILD = """
import asyncio, sys
from nightrook.loops.start import resumed_loop

async def main():
    async with resumed_loop(sys.argv[1]) as loop:
        async for event in loop:
            print(type(event).__name__, flush=True)
    sys.exit(loop.exit_code)

asyncio.run(main())
"""
"""A program that runs a loop and prints a line for each of its events."""


def repository(work: Path) -> None:
    """Make a folder a repository with one commit."""
    for words in (
        ["init", "-q"],
        ["config", "user.email", "dev@example.com"],
        ["config", "user.name", "Dev"],
        ["commit", "-q", "--allow-empty", "-m", "Begin"],
    ):
        subprocess.run(["git", *words], cwd=work, check=True)
