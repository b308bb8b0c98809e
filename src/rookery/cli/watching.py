"""Shows a run while it goes on: its lines to stdout, ours to stderr, Ctrl-C to the run."""

import asyncio
import shlex
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TextIO

import click

from rookery.cli.asking import TerminalAsker
from rookery.cli.ending import Ended, Manner, tell_end, tell_result
from rookery.cli.keys import terminal_path
from rookery.core.safe import safe, safe_line
from rookery.display.plain import PlainDisplay
from rookery.run import contain
from rookery.run.runner import Run


def watch(run: Run, manner: Manner) -> int:
    """Run to the end, showing it; give the exit code that tells how it ended."""
    try:
        return asyncio.run(_watch(run, manner))
    except BaseExceptionGroup as group:
        if isinstance(error := group.exceptions[0], BrokenPipeError):
            raise error from None  # whoever read what we show went away
        raise


async def _watch(run: Run, manner: Manner) -> int:
    loop = asyncio.get_running_loop()
    silent = manner.quiet or manner.json
    screen = PlainScreen()
    if run.asks and run.agent and (path := terminal_path()):
        run.answer = TerminalAsker(
            path, run.agent.name, screen, cwd=run.cwd, limit_s=manner.ask_timeout_s
        )
    async with run:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, run.stop)
        for words in contain.promises():
            _say(f"[rook] WARNING: {words}")
        if not silent:
            _say(f"[rook] Agent command: {command_line(run)}", err=False)
        async with asyncio.TaskGroup() as group:
            group.create_task(_pass_on_stderr(run, screen))
            group.create_task(_show(run, manner, screen, silent=silent))
        verdict = await run.wait()
    ended = Ended(verdict, run.state, run.agent.name if run.agent else None, run.folder)
    tell_result(sys.stdout, manner, ended)
    tell_end(manner, ended)
    return verdict.exit_code


async def _show(run: Run, manner: Manner, screen: "PlainScreen", *, silent: bool) -> None:
    if run.agent is None:
        if not manner.json:
            await _pass_on_stdout(run, screen)
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
            await screen.write(sys.stdout, "\n".join(lines))
        screen.told(record.seq)


async def _pass_on_stdout(run: Run, screen: "PlainScreen") -> None:
    """Show what a command wrote that no adapter knows, line by line and safe."""
    async for line in run.lines("stdout"):
        await screen.write(sys.stdout, safe(line))


async def _pass_on_stderr(run: Run, screen: "PlainScreen") -> None:
    async for line in run.lines("stderr"):
        await screen.write(sys.stderr, safe_line(line))


class PlainScreen:
    """Where a run is shown line by line, unless somebody is being asked."""

    def __init__(self) -> None:
        self._free = asyncio.Lock()
        self._moved = asyncio.Event()
        self._seq = -1

    async def write(self, out: TextIO, words: str) -> None:
        """Write a line apart from the loop: a reader that is stalled must not stall the run."""
        async with self._free:
            await asyncio.to_thread(_put, out, words)

    def told(self, seq: int) -> None:
        """Note that a record was shown."""
        self._seq = seq
        self._moved.set()

    @asynccontextmanager
    async def paused(self, seq: int | None) -> AsyncIterator[None]:
        """Wait until a record is shown, and show nothing while the block lasts."""
        while seq is not None and self._seq < seq:
            self._moved.clear()
            await self._moved.wait()
        async with self._free:
            yield


def _put(out: TextIO, words: str) -> None:
    out.write(f"{words}\n")
    out.flush()


def command_line(run: Run) -> str:
    """The command as one would type it."""
    return safe_line(shlex.join(run.command))


def _say(words: str, *, err: bool = True) -> None:
    click.echo(words, err=err)
