"""Shows a run while it goes on: its lines to stdout, ours to stderr, Ctrl-C to the run."""

import asyncio
import os
import shlex
import signal
import sys
import time
from collections.abc import AsyncIterator
from functools import partial

from msgspec.structs import replace

from rookery.cli.live.ending import EndedRun, print_end, print_result
from rookery.cli.live.keys import terminal_path
from rookery.cli.live.output import FRAME_S, go_unseen, put
from rookery.cli.live.permission_prompt import TerminalAsker
from rookery.cli.live.raw_text import beside
from rookery.cli.live.screen_turns import Turns
from rookery.cli.live.writer import Writer
from rookery.cli.options.view_options import display_on, reports_starts
from rookery.config.options import ViewOptions
from rookery.display.console.look import Look, look_of
from rookery.display.context import RunContext
from rookery.display.outputs import Display
from rookery.display.plain import PlainDisplay
from rookery.display.terminal import TerminalDisplay
from rookery.feed.tail import Tail
from rookery.model.records import dump
from rookery.model.safe import safe, safe_line, uncoloured
from rookery.process import trees
from rookery.runs.limits import late_limits, unheld_limits
from rookery.runs.run import Run
from rookery.store.file_names import STDOUT


def is_watched(view_options: ViewOptions) -> bool:
    """Whether a status line tells what the agent does before a message of it is whole."""
    return view_options.lively and look_of(sys.stdout, os.environ).terminal


def watch(run: Run, view_options: ViewOptions) -> int:
    """Run to the end, showing it; give the exit code that tells how it ended."""
    return asyncio.run(_watch(run, view_options))


async def _watch(run: Run, view_options: ViewOptions) -> int:
    loop = asyncio.get_running_loop()
    look = look_of(sys.stdout, os.environ)
    turns = Turns()
    if run.asks and run.agent and (path := terminal_path()):
        limit_s = run.options.ask_timeout
        run.on_permission = TerminalAsker(path, run.label, turns, cwd=run.cwd, limit_s=limit_s)
        run.options = replace(run.options, ask_timeout=None)  # a key restarts the asker's own timer
    async with run:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, partial(run.stop, by=number.name))
        for words in warnings(run):
            _say(f"[rook] WARNING: {words}")
        if view_options.lively and (view_options.verbose or not look.terminal):
            _say(f"[rook] Agent command: {command_line(run)}", err=False)
        await _show(run, view_options, look, turns)
        verdict = await run.wait()
    agent = run.agent.name if run.agent else None
    ended = EndedRun(verdict, run.state, agent, run.folder)
    print_result(sys.stdout, view_options, ended)
    if unheld := unheld_limits(run.state, run.options):
        _say(f"[rook] WARNING: {unheld}")
    print_end(view_options, ended)
    return verdict.exit_code


def warnings(run: Run) -> list[str]:
    """What is to be told of a run before it begins: what rook cannot do for it here."""
    late = late_limits(run.agent, run.options, via=run.via)
    return [*trees.promises(), *([late] if late else ())]


async def show_run(run: Run, view_options: ViewOptions) -> None:
    """Show a run that somebody else began, until it is over."""
    await _show(run, view_options, look_of(sys.stdout, os.environ), Turns())


async def _show(run: Run, view_options: ViewOptions, look: Look, turns: Turns) -> None:
    """Show all that comes until the run is over; nothing of a status line is left."""
    display = _display_of(run, view_options)
    try:
        async with Writer(partial(_put, display)) as out, asyncio.TaskGroup() as group:
            group.create_task(_pass_on_stderr(run, out if look.terminal else None))
            if view_options.format != "text":
                group.create_task(_pass_on(run, view_options, look))
            elif run.agent is None:
                if not view_options.json:
                    group.create_task(_pass_on_stdout(run, out))
            elif isinstance(display, TerminalDisplay):
                turns.share(display.pause, display.resume, out.written)
                drawing = group.create_task(_draw(display, out))
                await _tell(run, display, out, turns)
                drawing.cancel()
            elif view_options.lively:
                await _tell(run, display, out, turns)
    finally:
        display.close()


def _display_of(run: Run, view_options: ViewOptions) -> Display:
    if not view_options.lively or run.agent is None:
        return PlainDisplay(sys.stdout, run.label)
    return display_on(
        sys.stdout,
        run.label,
        view_options,
        context=RunContext(
            run=run.name,
            cwd=run.state.cwd,
            began=time.time(),
            reports_starts=reports_starts(run.agent.name),
            snapshot=run.state.snapshot,
        ),
    )


async def _tell(run: Run, display: Display, out: Writer[str], turns: Turns) -> None:
    async for record in run:
        await out.put(list(display.lines(record)))
        turns.told(record.seq)


async def _draw(display: TerminalDisplay, out: Writer[str]) -> None:
    """Keep the status line true, some ten times a second."""
    while True:
        await out.put(list(display.released()))
        out.frame(display.frame(time.time()))
        await asyncio.sleep(FRAME_S)


async def _pass_on(run: Run, view_options: ViewOptions, look: Look) -> None:
    """Pass on records as JSON, or the agent's own bytes; made safe only for a terminal's sake."""
    async with Writer(_put_bytes) as out:
        if view_options.format == "raw":
            async for data in _chunks(run):
                await out.put(
                    [safe(data.decode("utf-8", "replace")).encode()] if look.terminal else [data]
                )
        elif run.agent is not None:
            async for record in run:
                line = dump(record)
                await out.put([(safe(line.decode()).encode() if look.terminal else line) + b"\n"])


async def _chunks(run: Run) -> AsyncIterator[bytes]:
    """Give what the agent writes, as it is."""
    with Tail(run.folder.path, STDOUT, b"o") as tail:
        while True:
            over, seen = run.is_over, run.news
            pieces = tail.read()
            for data, _ in pieces:
                yield data
            if over and not pieces:
                return
            if not pieces:
                await run.next_news(seen)


async def _pass_on_stdout(run: Run, out: Writer[str]) -> None:
    """Show what a command wrote that no adapter knows, line by line and safe."""
    async for line in run.lines("stdout"):
        await out.put([safe(uncoloured(line))])


async def _pass_on_stderr(run: Run, out: Writer[str] | None) -> None:
    """Show what the agent writes beside its messages, above the status line if there is one."""
    name = run.agent.name if run.agent else None
    if out is not None and sys.stderr.isatty():
        async for line in run.lines("stderr"):
            await out.put(beside(name, [line]))
        return
    async with Writer(_put_errors) as errors:
        async for line in run.lines("stderr"):
            await errors.put(beside(name, [line]))


def _put(display: Display, lines: list[str]) -> None:
    try:
        display.put(lines)
        sys.stdout.flush()
    except OSError as error:
        go_unseen(sys.stdout, error)


def _put_errors(lines: list[str]) -> None:
    put(sys.stderr, "\n".join(lines))


def _put_bytes(pieces: list[bytes]) -> None:
    try:
        sys.stdout.buffer.write(b"".join(pieces))
        sys.stdout.buffer.flush()
    except OSError as error:
        go_unseen(sys.stdout, error)


def command_line(run: Run) -> str:
    """The command as one would type it."""
    return safe_line(shlex.join(run.command))


def _say(words: str, *, err: bool = True) -> None:
    put(sys.stderr if err else sys.stdout, words)
