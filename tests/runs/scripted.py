"""Runs the scripted agent through the runner: what most tests of running need."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

import nightrook
import nightrook.testing
from nightrook.runs.run import Run

AGENT = Path(nightrook.testing.__file__).with_name("scripted_agent.py")


def program(folder: Path) -> str:
    """A program called `claude` that is the scripted agent."""
    path = folder / "claude"
    if not path.exists():
        path.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {AGENT} "$@"\n')
        path.chmod(0o755)
    return str(path)


def make(folder: Path, script: str, **options: Any) -> Run:
    """Make a run of the scripted agent; `script` are its faults, as words."""
    environment = {"ROOK_SCRIPT": script, **options.pop("env", {})}
    made: Run = nightrook.run(
        "claude",
        options.pop("prompt", "Fix the tests"),
        cwd=folder,
        home=folder / "home",
        program=program(folder),
        env=environment,
        **options,
    )
    return made


def play(
    folder: Path,
    script: str,
    during: Callable[[Run], Awaitable[None]] | None = None,
    *,
    grace_s: float | None = None,
    **options: Any,
) -> Run:
    """Run the scripted agent to its end, doing something meanwhile."""

    async def whole() -> Run:
        run = make(folder, script, **options)
        if grace_s is not None:
            run.options = msgspec.structs.replace(run.options, grace=grace_s)
        async with run:
            if during is not None:
                await during(run)
            await run.wait()
        return run

    return asyncio.run(whole())
