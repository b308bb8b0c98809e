"""Puts a run into the background: its runner becomes a process that outlives the terminal."""

import asyncio
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

import msgspec

from rookery.model.errors import RookeryError
from rookery.model.verdict import Verdict
from rookery.process.systems.this_system import system
from rookery.runs.run import Run
from rookery.store.file_names import RUNNER_LOG

_PATIENCE_S = 5.0  # for the agent's first message: an agent that cannot start has failed by then

_MOST_LINES = 20  # of stderr


class RunStart(msgspec.Struct, frozen=True, kw_only=True):
    """How a run in the background started: its name, and its verdict if it is over already."""

    name: str = ""
    verdict: Verdict | None = None
    stderr: list[str] = []
    """The last lines on stderr of an agent that has exited already."""

    error: str | None = None


_DIED = RunStart(error="the background runner died before it could report the run")


def detach(run: Run, at_end: Callable[[], None] = lambda: None) -> RunStart:
    """Start a run in its own session; return when its agent works, or has failed to start.

    `at_end` is called once in that session when the run has its verdict.
    A RookeryError says why the run could not start. Later errors are in the run folder.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    runner = os.fork()
    if runner == 0:
        os.close(reading)
        _become_runner(run, _StartPipe(writing), at_end)
    os.close(writing)
    try:
        with open(reading, "rb") as pipe:
            report = pipe.read()
    except KeyboardInterrupt:  # its name was not printed yet, so stop it
        os.kill(runner, signal.SIGTERM)
        os.waitpid(runner, 0)
        raise
    start = msgspec.json.decode(report, type=RunStart) if report else _DIED
    if start.error is not None:
        raise RookeryError(start.error)
    return start


class _StartPipe:
    """Reports how the run started to the process that the user waits for, once."""

    def __init__(self, pipe: int) -> None:
        self._pipe: int | None = pipe

    def report(self, start: RunStart) -> None:
        """Send the report and close the pipe; if its reader is gone, the run continues."""
        if self._pipe is None:
            return
        try:
            with open(self._pipe, "wb") as pipe:
                pipe.write(msgspec.json.encode(start))
        except BrokenPipeError:
            return
        finally:
            self._pipe = None


def _become_runner(run: Run, starter: _StartPipe, at_end: Callable[[], None]) -> NoReturn:
    """Run to the end, without the terminal; this process does nothing else."""
    code = 1
    try:
        os.setsid()
        _leave_terminal()
        system.become_subreaper()  # what a killed recorder leaves behind becomes ours
        asyncio.run(_run(run, starter))
        at_end()
        code = 0
    except RookeryError as error:
        starter.report(RunStart(error=str(error)))
        sys.stderr.write(f"{error}\n")
    except BaseException as error:
        starter.report(RunStart(error=f"the background runner failed: {error!r}"))
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


async def _run(run: Run, starter: _StartPipe) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, run.stop)
    async with run:
        _write_errors_to(run)
        await _first_message(run)
        stderr = [line async for line in run.lines("stderr")] if run.feed.is_over else []
        starter.report(RunStart(name=run.name, verdict=run.verdict, stderr=stderr[-_MOST_LINES:]))
        await run.wait()
    if run.verdict is not None and run.verdict.facts.unsaved is not None:
        sys.stderr.write(f"{run.verdict.facts.unsaved}\n")


async def _first_message(run: Run) -> None:
    """Wait until the agent has written a message or has ended, but not too long."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            feed = run.feed
            while not (feed.is_over or run.state.heard or (run.agent is None and feed.count)):
                await feed.more(feed.count)
    except TimeoutError:
        return


def _leave_terminal() -> None:
    """Close the terminal and all inherited files, so that no other process waits for this one."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    for number in system.open_files():  # where they are not listed, inherited ones stay open
        if number > 2 and _is_inherited(number):
            os.close(number)


def _is_inherited(number: int) -> bool:
    """Whether a descriptor was inherited; those that Python opens are not inheritable."""
    try:
        return os.get_inheritable(number)
    except OSError:
        return False  # it was used for the listing itself


def _write_errors_to(run: Run) -> None:
    """Write our own errors to a file in the run folder."""
    with run.folder.opened() as folder:
        log = folder.append(RUNNER_LOG)
    os.dup2(log, 2)
    os.close(log)
