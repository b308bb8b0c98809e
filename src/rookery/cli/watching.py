"""Shows a run while it goes on: its lines to stdout, ours to stderr, Ctrl-C to the run."""

import asyncio
import shlex
import signal
import sys
from typing import TextIO

from rookery.cli.ending import Ended, Manner, tell_end, tell_result
from rookery.cli.screens import put
from rookery.core.safe import safe, safe_line
from rookery.display.plain import PlainDisplay
from rookery.run import contain
from rookery.run.runner import Run
from rookery.run.watch import late_limits


def watch(run: Run, manner: Manner) -> int:
    """Run to the end, showing it; give the exit code that tells how it ended."""
    return asyncio.run(_watch(run, manner))


async def _watch(run: Run, manner: Manner) -> int:
    loop = asyncio.get_running_loop()
    silent = manner.quiet or manner.json
    async with run:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, run.stop)
        late = late_limits(run.agent, run.limits) if run.agent else None
        for words in (*contain.promises(), *([late] if late else ())):
            _say(f"[rook] WARNING: {words}")
        if not silent:
            _say(f"[rook] Agent command: {command_line(run)}", err=False)
        async with asyncio.TaskGroup() as group:
            group.create_task(_pass_on_stderr(run))
            group.create_task(_show(run, manner, silent=silent))
        verdict = await run.wait()
    ended = Ended(verdict, run.state, run.agent.name if run.agent else None, run.folder)
    tell_result(sys.stdout, manner, ended)
    tell_end(manner, ended)
    return verdict.exit_code


async def _show(run: Run, manner: Manner, *, silent: bool) -> None:
    if run.agent is None:
        if not manner.json:
            await _pass_on_stdout(run)
        return
    display = PlainDisplay(
        sys.stdout,
        run.agent.name,
        state=run.state,
        verbose=manner.verbose,
        text=manner.text,
    )
    async for record in run:
        lines = [] if silent else list(display.lines(record))
        if lines:
            await _write(sys.stdout, "\n".join(lines))


async def _pass_on_stdout(run: Run) -> None:
    """Show what a command wrote that no adapter knows, line by line and safe."""
    async for line in run.lines("stdout"):
        await _write(sys.stdout, safe(line))


async def _pass_on_stderr(run: Run) -> None:
    async for line in run.lines("stderr"):
        await _write(sys.stderr, safe_line(line))


async def _write(out: TextIO, words: str) -> None:
    """Write a line apart from the loop: a reader that is stalled must not stall the run."""
    await asyncio.to_thread(put, out, words)


def command_line(run: Run) -> str:
    """The command as one would type it."""
    return safe_line(shlex.join(run.command))


def _say(words: str, *, err: bool = True) -> None:
    put(sys.stderr if err else sys.stdout, words)
