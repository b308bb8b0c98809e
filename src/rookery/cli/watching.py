"""Shows a run while it goes on: its lines to stdout, ours to stderr, Ctrl-C to the run."""

import asyncio
import shlex
import signal
import sys
from typing import TextIO

from rookery.cli.asking import TerminalAsker
from rookery.cli.ending import Ended, Manner, tell_end, tell_result
from rookery.cli.keys import terminal_path
from rookery.cli.screens import put
from rookery.cli.turns import Turns
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
    lines = Lines()
    turns = Turns()
    turns.share(lines.pause, lines.resume)
    if run.asks and run.agent and (path := terminal_path()):
        run.answer = TerminalAsker(
            path, run.agent.name, turns, cwd=run.cwd, limit_s=manner.ask_timeout_s
        )
    async with run:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, run.stop)
        late = late_limits(run.agent, run.limits) if run.agent else None
        for words in (*contain.promises(), *([late] if late else ())):
            _say(f"[rook] WARNING: {words}")
        if not silent:
            _say(f"[rook] Agent command: {command_line(run)}", err=False)
        async with asyncio.TaskGroup() as group:
            group.create_task(_pass_on_stderr(run, lines))
            group.create_task(_show(run, manner, lines, turns, silent=silent))
        verdict = await run.wait()
    ended = Ended(verdict, run.state, run.agent.name if run.agent else None, run.folder)
    tell_result(sys.stdout, manner, ended)
    tell_end(manner, ended)
    return verdict.exit_code


async def _show(run: Run, manner: Manner, out: "Lines", turns: Turns, *, silent: bool) -> None:
    if run.agent is None:
        if not manner.json:
            await _pass_on_stdout(run, out)
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
            await out.write(sys.stdout, "\n".join(lines))
        turns.told(record.seq)


async def _pass_on_stdout(run: Run, lines: "Lines") -> None:
    """Show what a command wrote that no adapter knows, line by line and safe."""
    async for line in run.lines("stdout"):
        await lines.write(sys.stdout, safe(line))


async def _pass_on_stderr(run: Run, lines: "Lines") -> None:
    async for line in run.lines("stderr"):
        await lines.write(sys.stderr, safe_line(line))


class Lines:
    """Writes the lines of a run, unless it is paused."""

    def __init__(self) -> None:
        self._free = asyncio.Event()
        self._free.set()
        self.pause = self._free.clear
        self.resume = self._free.set

    async def write(self, out: TextIO, words: str) -> None:
        """Write a line apart from the loop: a reader that is stalled must not stall the run."""
        await self._free.wait()
        await asyncio.to_thread(put, out, words)


def command_line(run: Run) -> str:
    """The command as one would type it."""
    return safe_line(shlex.join(run.command))


def _say(words: str, *, err: bool = True) -> None:
    put(sys.stderr if err else sys.stdout, words)
