"""The agents we know, found by name, by command or by what they wrote. None imports another.

A package from outside makes an agent known by an entry point in the group `rookery.agents` that
names an `Agent`. Such packages are looked for only when none of our own agents fits.
"""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rookery.adapter.agent import Agent
from rookery.adapter.lines import DEFAULT_CAP
from rookery.adapter.salvage import Repaired, parse
from rookery.model.errors import RookeryError, UnknownAgentError
from rookery.model.records import Decoder

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

NAMES = ("claude", "codex", "opencode", "gemini", "qwen", "amp")
"""The names of our own agents; each is a module here with an `AGENT`."""

_IMITATED = ("claude",)
"""Agents whose messages others imitate: they are asked last whether a stream is theirs."""

GROUP = "rookery.agents"
"""The group of entry points by which a package makes an agent known."""


def names() -> tuple[str, ...]:
    """The names of all agents, those of other packages last."""
    return (*NAMES, *_plugins())


def is_known(name: object) -> bool:
    """Whether an agent has that name; other packages are asked only if it is not one of ours."""
    return name in NAMES or name in names()


def agent(name: str) -> Agent:
    """Give the agent of that name; an UnknownAgentError names those there are."""
    if name in NAMES:
        own: Agent = import_module(f"{__name__}.{name}").AGENT
        return own
    if name not in _plugins():
        raise UnknownAgentError(name, names())
    return _load(_plugins()[name])


@cache
def _plugins() -> "dict[str, EntryPoint]":
    from importlib.metadata import entry_points  # slow to import, and rarely needed

    found = {point.name: point for point in entry_points(group=GROUP)}
    return {name: point for name, point in sorted(found.items()) if name not in NAMES}


def _load(point: "EntryPoint") -> Agent:
    try:
        found = point.load()
    except Exception as error:  # whatever a stranger's package does when it is imported
        raise RookeryError(
            f"the agent {point.name!r} of {point.value!r} cannot be loaded: {error!r}; "
            "mend or remove its package"
        ) from error
    if not isinstance(found, Agent) or found.name != point.name:
        raise RookeryError(
            f"{point.value!r} is no agent called {point.name!r}; mend or remove its package"
        )
    return found


def _all() -> Iterator[Agent]:
    """All agents that can be loaded, our own first."""
    for name in sorted(NAMES, key=_IMITATED.__contains__):
        yield agent(name)
    for point in _plugins().values():
        try:
            yield _load(point)
        except RookeryError:
            continue  # who names it is told


def agent_for(command: str) -> Agent | None:
    """Give the agent that a command runs, by the name of its program; None if we know none."""
    program = command.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    return next((known for known in _all() if program in known.programs), None)


def decoder(name: str, *, cap: int = DEFAULT_CAP) -> Decoder:
    """Make a decoder for one stream of the agent of that name."""
    return agent(name).decoder(cap=cap)


def parser_for(command: str) -> Decoder | None:
    """Make a decoder for what a command will write; None if its output is not structured."""
    found = agent_for(command)
    return None if found is None else found.decoder()


def output_flags(command: str) -> list[str] | None:
    """Give the flags that make a command write structured output; None if we know none."""
    found = agent_for(command)
    return None if found is None else list(found.output_flags)


def detect(head: bytes) -> Agent | None:
    """Give the agent that wrote the first lines of a stream; None if none of them tells."""
    messages = list(_messages(head))
    for known in _all():
        if any(known.recognises(message) for message in messages):
            return known
    return None


def _messages(head: bytes) -> Iterator[dict[str, Any]]:
    for line in head.split(b"\n"):
        if line.strip()[:1] not in (b"{", b"[", b"\xef"):
            continue
        mended = parse(line)
        values = mended.value if isinstance(mended, Repaired) else None
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, dict):
                yield value
