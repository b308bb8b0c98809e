"""The public functions that start something; each spells out every option that it takes."""

import asyncio
import os
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

from nightrook.adapter.agent import Permission
from nightrook.config.option import checked
from nightrook.config.options import RunOptions
from nightrook.runs.dialogue import OnPermission
from nightrook.runs.run import Run
from nightrook.runs.start import start

Duration = float | str | timedelta
"""A length of time: seconds, a `timedelta`, or a text such as "90s", "5m" or "2h"."""

StrPath = str | os.PathLike[str]


def run(
    agent: str,
    prompt: str,
    *,
    stdin: str | None = None,
    cwd: StrPath = ".",
    worktree: bool = False,
    model: str | None = None,
    permission: Permission = "agent",
    via: str | None = None,
    on_permission: OnPermission | None = None,
    ask_timeout: Duration | None = None,
    allow: Sequence[str] = (),
    allow_denials: bool = False,
    max_cost: float | None = None,
    max_cost_unchecked: bool = False,
    max_tokens: int | None = None,
    max_turns: int | None = None,
    timeout: Duration | None = None,
    idle_timeout: Duration | None = None,
    max_log_size: int | str | None = 10_000_000_000,
    resume: str | None = None,
    env: Mapping[str, str] | None = None,
    args: Sequence[str] = (),
    stream: bool = True,
    partial: bool | None = None,
    program: StrPath | Sequence[str] | None = None,
    called: str | None = None,
    home: StrPath | None = None,
    loop: tuple[str, int] | None = None,
) -> Run:
    """Make a run of an agent; `async with` starts it.

    Args:
        agent: The name of the agent, as `rook agents` lists it.
        prompt: What the agent is asked to do.
        stdin: Text to add to the prompt, as the agent itself adds what is piped to it.
        cwd: The folder to work in.
        worktree: Work in a separate git worktree, on a new branch; `run.cwd` is the folder in it.
        model: The model to use; by default the agent's own choice.
        permission: What the agent may do without asking. With `ask`, `on_permission` decides.
        via: One of the agent's ways to be run. With permission `ask` it must be one that can ask.
        on_permission: An async function that takes an `Ask` and returns a `Decision`. Without it,
            everything that the agent asks for is denied.
        ask_timeout: Deny what `on_permission` has not decided within this time.
        allow: Tools to allow, as rules of the agent.
        allow_denials: Count the run as a success even if tool calls were denied.
        max_cost: Stop the run when it has cost more dollars than this.
        max_cost_unchecked: Run even if `max_cost` cannot stop the run, because its cost is not
            known in time. Otherwise that is an `UnheldBudgetError`.
        max_tokens: Stop the run when it has used more tokens than this.
        max_turns: Stop the run after so many turns of the model.
        timeout: Stop the run after this long.
        idle_timeout: Stop the run after this long without any sign of life.
        max_log_size: Record at most this many bytes of output, or a text such as "500MB"; the
            agent continues.
        resume: The name of an earlier run whose session to continue, with its program unless
            `program` names another one; "last" for the newest in `cwd`, or the agent's own id of a
            session that was recorded.
        env: Variables to add to our environment. Variables that would confuse a nested agent are
            left out of it.
        args: Further arguments for the agent.
        stream: Without it the agent writes plain text, and only its exit code says how it ended.
        partial: Whether to ask for messages in pieces; by default only if a budget needs them.
        program: What to call instead of the agent found on PATH: a path, or a list of words.
        called: The name under which that program is shown.
        home: The folder that holds all runs; by default $ROOK_HOME or the user's data folder.
        loop: The loop that asks for the run, and which of its runs it is.

    Times are seconds, a `timedelta` or a text such as "5m". A value of the wrong type is refused
    with an `OptionError` before anything starts.
    """
    values = locals()
    on_permission = values.pop("on_permission")
    return start(run_options(values), on_permission)


def run_sync(
    agent: str,
    prompt: str,
    *,
    stdin: str | None = None,
    cwd: StrPath = ".",
    worktree: bool = False,
    model: str | None = None,
    permission: Permission = "agent",
    via: str | None = None,
    on_permission: OnPermission | None = None,
    ask_timeout: Duration | None = None,
    allow: Sequence[str] = (),
    allow_denials: bool = False,
    max_cost: float | None = None,
    max_cost_unchecked: bool = False,
    max_tokens: int | None = None,
    max_turns: int | None = None,
    timeout: Duration | None = None,
    idle_timeout: Duration | None = None,
    max_log_size: int | str | None = 10_000_000_000,
    resume: str | None = None,
    env: Mapping[str, str] | None = None,
    args: Sequence[str] = (),
    stream: bool = True,
    partial: bool | None = None,
    program: StrPath | Sequence[str] | None = None,
    called: str | None = None,
    home: StrPath | None = None,
    loop: tuple[str, int] | None = None,
) -> Run:
    """Run an agent to its end and return the finished run; takes what `run` takes.

    It also works where an event loop is running, such as in a notebook: the run then has a thread
    and an event loop of its own, and `on_permission` is called there.
    """
    values = locals()
    on_permission = values.pop("on_permission")
    options = run_options(values)

    async def whole() -> Run:
        async with start(options, on_permission) as started:
            await started.wait()
        return started

    return _completed(whole())


def run_options(values: dict[str, Any]) -> RunOptions:
    """Check the arguments of `run`, under their own names."""
    env = values["env"] or {}
    return checked(RunOptions, {**values, "program": _words(values["program"]), "env": env})


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
