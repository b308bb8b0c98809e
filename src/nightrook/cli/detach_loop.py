"""`rook loop --detach`: starts a loop that survives the terminal, and says how to attach to it."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from nightrook.cli.started import print_started
from nightrook.loops.driver import Loop
from nightrook.loops.effects import RealEffects
from nightrook.model.status import LOOP_EXIT_CODES, LoopEnd
from nightrook.process.background import in_background, write_errors_to
from nightrook.runs.detach import PATIENCE_S, first_message, stop_at_signals
from nightrook.runs.run import Run


class LoopStart(msgspec.Struct, frozen=True, kw_only=True):
    """How a loop in the background started: how it ended, if it is over already."""

    end: LoopEnd | None = None
    reason: str = ""


def put_loop_away(loop: Loop, at_end: Callable[[], None], *, quiet: bool) -> int:
    """Start a loop in the background and print its name; return its exit code if it is over."""
    start = detach_loop(loop, at_end)
    code = 0 if start.end is None else LOOP_EXIT_CODES[start.end]
    ended = None if start.end is None else f"{start.end.replace('_', ' ')} · {start.reason}"
    print_started(loop.name, ended, quiet=quiet and not code)
    return code


def detach_loop(loop: Loop, at_end: Callable[[], None]) -> LoopStart:
    """Start a loop in its own session; return when its first agent works, or the loop has ended.

    `at_end` is called once in that session when the loop has ended. A NightrookError says why the
    loop could not start. Later errors are in the loop's folder.
    """

    def work(report: Callable[[LoopStart], None]) -> None:
        asyncio.run(_run(loop, report))
        at_end()

    return in_background(work, LoopStart)


async def _run(loop: Loop, report: Callable[[LoopStart], None]) -> None:
    stop_at_signals(lambda signal_name: loop.stop(by=signal_name))
    first_run: asyncio.Future[Run] = asyncio.get_running_loop().create_future()
    if isinstance(loop.effects, RealEffects):
        loop.effects.on_run = lambda run, _: _keep_first(first_run, run)
    async with loop:
        write_errors_to(loop.folder.runner_log())
        ending = asyncio.ensure_future(loop.wait())
        await _first_sign(first_run, ending)
        report(LoopStart(end=loop.end, reason=loop.state.reason))
        await ending


def _keep_first(first_run: asyncio.Future[Run], run: Run) -> None:
    if not first_run.done():
        first_run.set_result(run)


async def _first_sign(first_run: asyncio.Future[Run], ending: asyncio.Future[LoopEnd]) -> None:
    """Wait until the first agent has written a message or the loop has ended, but not too long."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            either: list[asyncio.Future[Any]] = [first_run, ending]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if ending.done():
                return
            await first_message(first_run.result())
            if not first_run.result().state.heard:
                await asyncio.wait([ending])  # an agent that cannot start ends the loop
    except TimeoutError:
        return
