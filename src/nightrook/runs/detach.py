"""Puts a run into the background: its runner becomes a process that outlives the terminal."""

import asyncio
import signal
import sys
from collections.abc import Callable

import msgspec

from nightrook.model.verdict import Verdict
from nightrook.process.background import in_background, write_errors_to
from nightrook.runs.run import Run
from nightrook.store.file_names import RUNNER_LOG

PATIENCE_S = 5.0
"""The longest wait for the first message: an agent that cannot start has failed by then."""

_MOST_LINES = 20  # of stderr


class RunStart(msgspec.Struct, frozen=True, kw_only=True):
    """The start of a run in the background: its name, and its verdict if it is over already."""

    name: str = ""
    verdict: Verdict | None = None
    stderr: list[str] = []
    """The last lines on stderr of an agent that has exited already."""


def detach(run: Run, at_end: Callable[[], None] = lambda: None) -> RunStart:
    """Start a run in its own session; return when its agent works, or has failed to start.

    `at_end` is called once in that session when the run has its verdict.
    A NightrookError says why the run could not start. Later errors are in the run folder.
    """

    def work(report: Callable[[RunStart], None]) -> None:
        asyncio.run(_run(run, report))
        at_end()

    return in_background(work, RunStart)


async def _run(run: Run, report: Callable[[RunStart], None]) -> None:
    stop_at_signals(lambda signal_name: run.stop(by=signal_name))
    run.others.waited_for = run.asks
    async with run:
        with run.folder.opened() as folder:
            write_errors_to(folder.append(RUNNER_LOG))
        await first_message(run)
        stderr = [line async for line in run.lines("stderr")] if run.feed.is_over else []
        report(RunStart(name=run.name, verdict=run.verdict, stderr=stderr[-_MOST_LINES:]))
        await run.wait()
    if run.verdict is not None and run.verdict.facts.recorder.unsaved is not None:
        sys.stderr.write(f"{run.verdict.facts.recorder.unsaved}\n")


def stop_at_signals(stop: Callable[[str], None]) -> None:
    """Call `stop` with its name whenever a signal asks a process in the background to end."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number.name)


async def first_message(run: Run) -> None:
    """Wait until the agent has written a message or has ended, but not too long."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            feed = run.feed
            while not (feed.is_over or run.state.heard or (run.agent is None and feed.count)):
                await feed.more(feed.count)
    except TimeoutError:
        return
