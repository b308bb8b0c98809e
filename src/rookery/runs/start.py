"""Makes runs: from a prompt, or from a command line as it is."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rookery import agents
from rookery.adapter.agent import Agent, Invocation, Permission, Task, Way
from rookery.model.errors import RookeryError, UnsupportedError
from rookery.runs.dialogue import Answer
from rookery.runs.home import home_folder
from rookery.runs.limits import Limits
from rookery.runs.resume import Earlier, earlier_run
from rookery.runs.run import Run


class CannotAskError(RookeryError):
    """An agent that cannot ask while it works, or not in the way it is called."""


def run(
    agent: str,
    prompt: str,
    *,
    cwd: str | os.PathLike[str] = ".",
    model: str | None = None,
    permission: Permission = "agent",
    via: str | None = None,
    answer: Answer | None = None,
    ask_timeout: float | None = None,
    allow: Sequence[str] = (),
    max_cost: float | None = None,
    max_tokens: int | None = None,
    max_turns: int | None = None,
    timeout: float | None = None,
    idle_timeout: float | None = None,
    resume: str | None = None,
    env: Mapping[str, str] | None = None,
    args: Sequence[str] = (),
    stream: bool = True,
    partial: bool | None = None,
    program: str | Sequence[str] | None = None,
    called: str | None = None,
    home: Path | None = None,
    loop: tuple[str, int] | None = None,
) -> Run:
    """Make a run of an agent; `async with` starts it.

    `resume` names an earlier run of the agent, and goes on in its way with its program, unless
    another program is named. `env` is added to our environment, less what would confuse a
    nested agent. Without `stream` the agent writes plain text, which is shown as it comes and
    judged by its exit code. `partial` asks for messages in pieces; by default a budget decides.
    With permission `ask`, `answer` is an async function that decides on what the agent asks: it
    takes an `Ask` and gives a `Decision`. Whatever it does not decide in `ask_timeout` seconds is
    not allowed, and without it nothing is.
    `via` is one of the agent's ways to be run; to be asked, one in which it asks is taken.
    `program` is what to call instead of the agent found on PATH, and `called` the name under which
    it is shown then. `loop` names the loop that asks for the run, and which of its runs it is.
    """
    known = agents.agent(agent)
    # An argument that is not UTF-8 comes as surrogates, which nobody can write.
    prompt = prompt.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    where = home or home_folder()
    before = earlier_run(where, resume) if resume is not None else None
    if before is not None:
        before.check(known.name)
        if known.capabilities.resume == "no":
            raise UnsupportedError(known.name, "goes on with no session", "start a new run")
        if program is None:
            before.check_program()
            program, called = before.program, called or before.called
    task = Task(
        prompt=prompt,
        model=model,
        permission=permission,
        allow=tuple(allow),
        max_cost=max_cost,
        max_turns=max_turns,
        resume=before.session if before else None,
        partial=max_cost is not None or max_tokens is not None if partial is None else partial,
        args=tuple(args),
        stream=stream,
        via=_chosen_way(known, via, before, stream=stream, asked=permission == "ask"),
    )
    call = known.invoke(task)
    words, folder = _words(program, call.command[0]), _absolute(cwd)
    return Run(
        msgspec.structs.replace(
            call,
            command=(*words, *call.command[1:]),
            environment={**_inherited(known), **call.environment, **(env or {})},
        ),
        agent=known if stream else None,
        called=called,
        program=_lasting(words, folder),
        cwd=folder,
        limits=Limits(
            max_cost=max_cost,
            max_tokens=max_tokens,
            max_turns=max_turns,
            timeout_s=timeout,
            idle_s=idle_timeout,
        ),
        home=where,
        task=task,
        answer=answer,
        ask_timeout_s=ask_timeout,
        before=before,
        continues=before is not None or known.continues(call.command),
        loop=loop,
    )


def _chosen_way(
    agent: Agent, via: str | None, before: Earlier | None, *, stream: bool, asked: bool
) -> str | None:
    """The way to run an agent: the one that was named, else that of the run it goes on with."""
    if asked:
        return _asking_way(agent, via or _way_that_asked(agent, before), stream=stream)
    if via is not None:
        return _way(agent, via).name
    return before.via if before is not None else None


def _way(agent: Agent, name: str) -> Way:
    """The way to run an agent that has this name."""
    for way in agent.ways:
        if way.name == name:
            return way
    if not agent.ways:
        raise UnsupportedError(agent.name, "has only one way to be run", "leave out --via")
    words = ", ".join(way.name for way in agent.ways)
    raise UnsupportedError(agent.name, f"has no way {name!r}", f"take one of {words}")


def _asking_way(agent: Agent, via: str | None, *, stream: bool) -> str | None:
    """The way in which an agent can ask: the one that was chosen, or the first that can."""
    ways = [_way(agent, via)] if via is not None else agent.ways
    found = next((way.name for way in ways if way.asks), None)
    can_ask = found is not None or agent.asking is not None
    if can_ask and stream:
        return found
    so = f" via {via}" if via is not None else ""
    what = "plain text cannot be answered" if can_ask else f"{agent.name} cannot ask{so}"
    raise CannotAskError(f"{what}: choose another --permission")


def _way_that_asked(agent: Agent, before: Earlier | None) -> str | None:
    """The way of the run that is gone on with, if the agent can ask in it."""
    asking = (way.name for way in agent.ways if way.asks)
    return next((name for name in asking if before and name == before.via), None)


def _words(program: str | Sequence[str] | None, usual: str) -> Sequence[str]:
    if program is None:
        return (usual,)
    return (program,) if isinstance(program, str) else program


def _lasting(words: Sequence[str], cwd: str) -> Sequence[str]:
    """Words that call a program from any folder; a bare one is looked for on PATH."""
    first, *rest = words
    return (os.path.join(cwd, first) if "/" in first else first, *rest)


def run_command(
    command: Sequence[str],
    *,
    raw: bool = False,
    cwd: str | os.PathLike[str] = ".",
    max_cost: float | None = None,
    max_tokens: int | None = None,
    timeout: float | None = None,
    idle_timeout: float | None = None,
    env: Mapping[str, str] | None = None,
    home: Path | None = None,
) -> Run:
    """Make a run of a command line as it is; what no adapter knows, or `raw`, is not decoded."""
    known = agents.agent_for(command[0])
    folder = _absolute(cwd)
    return Run(
        Invocation(
            command=tuple(command),
            ask_signal=known.invoke(Task(prompt="")).ask_signal if known else signal.SIGTERM,
            environment={**_inherited(known), **(env or {})},
        ),
        agent=None if raw else known,
        program=_lasting(command[:1], folder),
        cwd=folder,
        limits=Limits(
            max_cost=max_cost, max_tokens=max_tokens, timeout_s=timeout, idle_s=idle_timeout
        ),
        home=home or home_folder(),
        continues=known is not None and known.continues(command),
    )


def run_sync(agent: str, prompt: str, **options: Any) -> Run:
    """Run an agent to its end, without an event loop of yours; takes what `run` takes."""

    async def whole() -> Run:
        async with run(agent, prompt, **options) as going:
            await going.wait()
        return going

    return asyncio.run(whole())


def _inherited(agent: Agent | None) -> dict[str, str]:
    """Our environment, less what would confuse a nested agent."""
    return {k: v for k, v in os.environ.items() if agent is None or agent.keeps_variable(k)}


def _absolute(cwd: str | os.PathLike[str]) -> str:
    try:
        return os.path.abspath(cwd)
    except FileNotFoundError as error:
        raise RookeryError("the folder to work in is gone: go to another one") from error
