"""The public functions that start a run; its options (`config/options.py`) are their keywords."""

import asyncio
import os
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Unpack

from nightrook.config.option import checked
from nightrook.config.options import RunOptions
from nightrook.keywords import RunKeywords
from nightrook.runs.dialogue import OnPermission
from nightrook.runs.run import Run
from nightrook.runs.start import start


def run(
    agent: str,
    prompt: str,
    *,
    on_permission: OnPermission | None = None,
    **options: Unpack[RunKeywords],
) -> Run:
    """Make a run of an agent; `async with` starts it.

    Args:
        agent: The name of the agent, as `rook agents` lists it.
        prompt: What the agent is asked to do.
        on_permission: With the permission `ask`, an async function that takes an `Ask` and returns
            a `Decision`. Without it, everything that the agent asks for is denied.
        **options: See `help(nightrook.RunKeywords)`. The permission is `agent` by default, and
            nothing is denied for lack of an answer in time unless `ask_timeout` is given.

    Times are seconds, a `timedelta` or a text such as "5m". A value of the wrong type is refused
    with an `OptionError` before anything starts, and so is a limit on the cost that cannot hold.
    """
    return start(run_options("run", {"agent": agent, "prompt": prompt, **options}), on_permission)


def run_sync(
    agent: str,
    prompt: str,
    *,
    on_permission: OnPermission | None = None,
    **options: Unpack[RunKeywords],
) -> Run:
    """Run an agent to its end and return the finished run; takes what `run` takes.

    It also works where an event loop is running, such as in a notebook: the run then has a thread
    and an event loop of its own, and `on_permission` is called there.
    """
    asked = run_options("run_sync", {"agent": agent, "prompt": prompt, **options})

    async def whole() -> Run:
        async with start(asked, on_permission) as started:
            await started.wait()
        return started

    return _completed(whole())


def run_options(function: str, values: Mapping[str, Any]) -> RunOptions:
    """Check the keywords of a public function; the defaults are those of the library."""
    known = {"agent", "prompt", *RunKeywords.__annotations__}
    if unknown := next((name for name in values if name not in known), None):
        raise TypeError(f"{function}() got an unexpected keyword argument {unknown!r}")
    given = {"permission": "agent", "ask_timeout": None, **values}
    program, env = _words(given.get("program")), given.get("env") or {}
    return checked(RunOptions, {**given, "program": program, "env": env})


def _words(program: object) -> object:
    """A program as words: a path is one word."""
    return (os.fspath(program),) if isinstance(program, (str, os.PathLike)) else program


def _completed(work: Coroutine[Any, Any, Run]) -> Run:
    """Run to the end; in a thread if this one has a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Run] | None]] = []

    async def noted() -> Run:
        running.append((asyncio.get_running_loop(), asyncio.current_task()))
        return await work

    with ThreadPoolExecutor(1) as thread:
        result = thread.submit(asyncio.run, noted())
        try:
            return result.result()
        except KeyboardInterrupt:  # stop the run; leaving the block waits for its end
            for loop, task in running:
                loop.call_soon_threadsafe(task.cancel if task else loop.stop)
            raise
