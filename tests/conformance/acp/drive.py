"""Runs an agent with the library and decides what it asks; prints what came of it as JSON.

A program of its own, so that its environment is all that the agent has. What contains `forbidden`
is denied, what contains `always` is always allowed, everything else is allowed once.
"""

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

import nightrook
from nightrook import Run
from nightrook.model.questions import Ask, Decision


async def _drive(agent: str, prompt: str, options: dict[str, Any]) -> dict[str, Any]:
    asks: list[dict[str, Any]] = []
    at_tool = options.pop("at_tool", None)  # stop the run or kill the agent at its first command

    async def decide(ask: Ask) -> Decision:
        asks.append(msgspec.to_builtins(ask))
        text = " ".join([ask.title or "", *ask.detail, ask.purpose or ""])
        return Decision(allow="forbidden" not in text, always="always" in text)

    async with nightrook.run(agent, prompt, on_permission=decide, **options) as run:
        if at_tool is not None:
            await _first_command(run, Path(options["cwd"], "running"))
            run.stop() if at_tool == "stop" else _kill_children(run)
        begun = time.monotonic()
        verdict = await run.wait()
    return {
        "status": verdict.status,
        "code": verdict.exit_code,
        "sentence": verdict.sentence,
        "asks": asks,
        "took_s": time.monotonic() - begun,
        "folder": str(run.folder.path),
        "name": run.folder.name,
    }


async def _first_command(run: Run, file: Path) -> None:
    """Wait until the first command of the agent runs, which writes this file."""
    while not file.exists() and not run.feed.is_over:
        await asyncio.sleep(0.05)


def _kill_children(run: Run) -> None:
    """Kill the agent and all that it started, behind the back of rook."""
    info = run.folder.info()
    assert info is not None
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(") ")[2].split()[1])
    doomed = {info.recorder_pid}
    while more := {pid for pid, parent in parents.items() if parent in doomed} - doomed:
        doomed |= more
    for pid in sorted(pid for pid in doomed - {info.recorder_pid} if pid is not None):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    agent, prompt, options = sys.argv[1:]
    sys.stdout.write(json.dumps(asyncio.run(_drive(agent, prompt, json.loads(options)))))
