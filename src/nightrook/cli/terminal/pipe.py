"""`agent … | rook`: shows what is piped to it, stores it, and passes it on."""

import asyncio
import os
import select
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import click

from nightrook import agents
from nightrook.cli.terminal.ending import print_end, print_result
from nightrook.cli.terminal.view import View
from nightrook.cli.terminal.writer import Writer
from nightrook.config.options import PipeOptions, ViewOptions
from nightrook.display.console import look_of
from nightrook.model.safe import safe_line
from nightrook.model.text import suggested
from nightrook.model.verdict import Verdict
from nightrook.runs.pipe import PipedRun
from nightrook.store.home import home_folder


def pipe(options: PipeOptions, view_options: ViewOptions) -> int:
    """Read standard input to its end; return the exit code that says how the agent ended."""
    agent, tee = options.agent, options.tee
    if agent is not None:
        agents.agent(agent)
    if tee and sys.stdout.isatty():  # raw bytes must not reach a terminal
        _say("WARNING: --tee passes nothing on to a terminal:  … | rook --tee > FILE")
        tee = False
    out = sys.stderr if tee else sys.stdout  # stdout is for the copy of the stream

    def warn(message: str) -> None:
        view.say(f"WARNING: {message}")

    home = None if options.no_record else home_folder()
    piped = PipedRun(sys.stdin.fileno(), home=home, agent=agent, warn=warn)
    view = View(
        out,
        view_options,
        piped.story,
        look=look_of(out, os.environ),
        started_at=time.time(),
    )
    verdict = asyncio.run(_read(piped, view, tee=tee))
    print_result(out, view_options, piped.story, view.texts)
    print_end(view_options, piped.story)
    if verdict.status == "not_started":
        _explain(piped)
    return verdict.exit_code


async def _read(piped: PipedRun, view: View, *, tee: bool) -> Verdict:
    passing = asyncio.create_task(_pass_on(piped.feed.chunks("stdout"), view)) if tee else None
    with _signals(piped, view, passing):
        verdict = await view.during(piped.record())
        if passing is not None:
            await asyncio.wait([passing])
    return verdict


async def _pass_on(chunks: AsyncIterator[bytes], view: View) -> None:
    """Write the stream to stdout; its reader may leave before the end."""

    def write(pieces: list[bytes]) -> None:
        data = memoryview(b"".join(pieces))
        while data:
            try:
                data = data[os.write(1, data) :]
            except BlockingIOError:  # another program made the pipe non-blocking
                select.select([], [1], [])

    try:
        async with Writer(write) as out:
            async for chunk in chunks:
                await out.put([chunk])
    except BrokenPipeError:
        return
    except OSError as error:
        view.say(f"WARNING: the stream could not be passed on: {error.strerror}")


@contextmanager
def _signals(piped: PipedRun, view: View, passing: "asyncio.Task[None] | None") -> Iterator[None]:
    """Wait for the agent after the first Ctrl-C, which it got too; leave after the second."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in _HANDLED}

    def interrupt() -> None:
        piped.interrupt()
        view.say("waiting for the agent to end; Ctrl-C again leaves it")
        loop.add_signal_handler(signal.SIGINT, stop)

    def stop() -> None:
        view.muted = True
        view.echo.keep_on()
        piped.stop()
        if passing is not None:
            passing.cancel()
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a third one ends even a stalled screen

    if before[signal.SIGINT] is not signal.SIG_IGN:  # as it is in a background job
        loop.add_signal_handler(signal.SIGINT, interrupt)
    loop.add_signal_handler(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # what comes is stored, terminal or not
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


_HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _explain(piped: PipedRun) -> None:
    """Explain how to pipe an agent's messages to rook."""
    if piped.folder is not None:
        _say(f"its output was recorded: {suggested('show', piped.folder.name)}")
    first = agents.agent(agents.NAMES[0])
    command = " ".join((first.programs[0], "-p", '"…"', *first.output_flags))
    _say(f"pipe an agent's messages to rook:  {command} | rook   ·   or see rook --help")


def _say(message: str) -> None:
    click.echo(f"[rook] {safe_line(message)}", err=True)
