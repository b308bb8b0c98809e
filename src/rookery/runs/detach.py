"""Puts a run into the background: its runner becomes a process that outlives the terminal."""

import asyncio
import os
import signal
import sys
import traceback
from typing import NoReturn

import msgspec

from rookery.model.errors import RookeryError
from rookery.model.verdict import Verdict
from rookery.process import proc
from rookery.runs.run import Run
from rookery.store.file_names import RUNNER_LOG

_PATIENCE_S = 5.0  # for the agent's first word: an agent that cannot start says so by then

_MOST_TOLD = 20  # lines


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of a run in the background: its name, and its verdict if it is over already."""

    name: str = ""
    verdict: Verdict | None = None
    stderr: list[str] = []
    """The last of what an agent complained of that is over already."""

    error: str | None = None


_DIED = Begun(error="the background runner died before it could tell of the run")


def detach(run: Run) -> Begun:
    """Start a run in a session of its own; come back when its agent works, or cannot.

    A RookeryError tells what kept it from starting. Whatever goes wrong later is in the run folder.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    runner = os.fork()
    if runner == 0:
        os.close(reading)
        _become_runner(run, _Teller(writing))
    os.close(writing)
    try:
        with open(reading, "rb") as pipe:
            told = pipe.read()
    except KeyboardInterrupt:  # nobody was told its name yet: it is not wanted
        os.kill(runner, signal.SIGTERM)
        os.waitpid(runner, 0)
        raise
    begun = msgspec.json.decode(told, type=Begun) if told else _DIED
    if begun.error is not None:
        raise RookeryError(begun.error)
    return begun


class _Teller:
    """Tells the process that the user waits for how the run began, once."""

    def __init__(self, pipe: int) -> None:
        self._pipe: int | None = pipe

    def tell(self, begun: Begun) -> None:
        """Say it and let go; if nobody listens any more, the run goes on all the same."""
        if self._pipe is None:
            return
        try:
            with open(self._pipe, "wb") as pipe:
                pipe.write(msgspec.json.encode(begun))
        except BrokenPipeError:
            return
        finally:
            self._pipe = None


def _become_runner(run: Run, teller: _Teller) -> NoReturn:
    """Run to the end, apart from the terminal; this process does nothing else ever."""
    code = 1
    try:
        os.setsid()
        _let_go()
        asyncio.run(_run(run, teller))
        code = 0
    except RookeryError as error:
        teller.tell(Begun(error=str(error)))
        sys.stderr.write(f"{error}\n")
    except BaseException as error:
        teller.tell(Begun(error=f"the background runner failed: {error!r}"))
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


async def _run(run: Run, teller: _Teller) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, run.stop)
    async with run:
        _complain_in(run)
        await _first_word(run)
        said = [line async for line in run.lines("stderr")] if run.feed.is_over else []
        teller.tell(Begun(name=run.name, verdict=run.verdict, stderr=said[-_MOST_TOLD:]))
        await run.wait()
    if run.verdict is not None and run.verdict.facts.unsaved is not None:
        sys.stderr.write(f"{run.verdict.facts.unsaved}\n")


async def _first_word(run: Run) -> None:
    """Wait until the agent has said something, has ended, or has had time enough for either."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            feed = run.feed
            while not (feed.is_over or run.state.heard or (run.agent is None and feed.count)):
                await feed.more(feed.count)
    except TimeoutError:
        return


def _let_go() -> None:
    """Let go of the terminal and of all that was opened by others: nobody may wait for us."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    for number in proc.open_files():  # where they are not listed, what is inherited stays open
        if number > 2 and _is_inherited(number):
            os.close(number)


def _is_inherited(number: int) -> bool:
    """Whether a descriptor came from who started us: our own are closed in what we start."""
    try:
        return os.get_inheritable(number)
    except OSError:
        return False  # it was that of the listing


def _complain_in(run: Run) -> None:
    """Have our own errors kept beside the run."""
    with run.folder.opened() as folder:
        log = folder.append(RUNNER_LOG)
    os.dup2(log, 2)
    os.close(log)
