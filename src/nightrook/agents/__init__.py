"""The known agents, by name, command or stream. They do not import each other.

An agent is a module here, or known by an entry in the table of those that speak the Agent Client
Protocol, or both: then it can also be run by that protocol.

Another package adds an agent with an entry point in the group `nightrook.agents` that names an
`Agent`. Such packages are searched only when none of our own agents matches. In the same way it
adds the stored sessions of an agent: an entry point in the group `nightrook.histories` that names a
`History`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nightrook.adapter.history import History, Transcript
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.model.errors import NightrookError, UnknownAgentError

if TYPE_CHECKING:  # reports of what was used import only this module and the histories
    from importlib.metadata import EntryPoint

    from nightrook.adapter.agent import Agent
    from nightrook.model.records import Decoder

NAMES = (
    *("claude", "codex", "opencode", "gemini", "qwen", "amp", "kilo", "droid"),
    *("goose", "cline", "copilot", "kimi"),
    "acp",
)
"""The names of our own agents; each is a package here with `adapter.AGENT`."""

HISTORIES = (
    *("claude", "codex", "gemini", "qwen", "opencode"),
    *("copilot", "droid", "kimi", "kilo", "goose"),
)
"""The agents whose stored sessions are read: each has `history.HISTORY` and `TRANSCRIPT`."""

FORKS = {"kilo": "opencode"}
"""Agents that are in the package of the agent that they are a fork of, as `KILO_AGENT` there."""

_LOOKED_AT = 8
"""The number of first lines by which a stored session is detected."""

_IMITATED = ("claude", "opencode")
"""Agents whose messages others imitate: they are checked last when a stream is detected."""

GROUP = "nightrook.agents"
"""The group of entry points with which a package adds an agent."""

HISTORY_GROUP = "nightrook.histories"
"""The group of entry points with which a package adds the stored sessions of an agent."""


def names() -> tuple[str, ...]:
    """The names of all agents, those of other packages last."""
    return tuple(dict.fromkeys((*NAMES, *speaker_names(), *_plugins())))


def speaker_names() -> tuple[str, ...]:
    """The names of the agents that are known only by the protocol they speak."""
    from nightrook.agents.acp.dialects import DIALECTS

    return tuple(name for name in DIALECTS if name not in NAMES)


def history_names() -> tuple[str, ...]:
    """The names of the agents whose stored sessions are read, those of other packages last."""
    return (*HISTORIES, *_plugin_histories())


def history(name: str) -> History:
    """Return the history of the agent of that name; an UnknownAgentError lists the known ones."""
    if name in HISTORIES:
        known: History = _own(name, "history", "HISTORY")
        return known
    if name not in _plugin_histories():
        raise UnknownAgentError(name, history_names())
    loaded = _plugin_histories()[name].load()
    if not isinstance(loaded, History) or loaded.agent != name:
        raise NightrookError(f"{name!r} in {HISTORY_GROUP!r} isn't a history; remove its package")
    return loaded


def transcript(name: str) -> Transcript:
    """Return how stored sessions of the agent of that name are read as events."""
    if name not in HISTORIES:
        raise UnknownAgentError(name, HISTORIES)
    known: Transcript = _own(name, "history", "TRANSCRIPT")
    return known


def is_known(name: object) -> bool:
    """True if an agent has that name; other packages are searched only if none of ours has it."""
    return name in NAMES or name in names()


def agent(name: str) -> Agent:
    """Return the agent of that name; an UnknownAgentError lists the known ones."""
    if name in NAMES:
        return _with_acp(name)
    if name in _plugins():
        return _load(_plugins()[name])
    if name in speaker_names():
        from nightrook.agents.acp import adapter as acp

        return acp.of_dialect(name)
    raise UnknownAgentError(name, names())


@cache
def _with_acp(name: str) -> Agent:
    from nightrook.agents.acp import adapter as acp

    return acp.with_acp(_own(name, "adapter", "AGENT"))


def _own(name: str, module: str, description: str) -> Any:
    """Return the `AGENT`, `HISTORY` or `TRANSCRIPT` of a module in an agent's package."""
    package = import_module(f"{__name__}.{FORKS.get(name, name)}.{module}")
    return getattr(package, f"{name.upper()}_{description}" if name in FORKS else description)


def _plugins() -> dict[str, EntryPoint]:
    return _entry_points(GROUP, NAMES)


def _plugin_histories() -> dict[str, EntryPoint]:
    return _entry_points(HISTORY_GROUP, HISTORIES)


@cache
def _entry_points(group: str, ours: tuple[str, ...]) -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # slow to import, and rarely needed

    points = {point.name: point for point in entry_points(group=group)}
    return {name: point for name, point in sorted(points.items()) if name not in ours}


def _load(point: EntryPoint) -> Agent:
    from nightrook.adapter.agent import Agent

    try:
        loaded = point.load()
    except Exception as error:  # importing another package can raise anything
        raise NightrookError(
            f"the agent {point.name!r} of {point.value!r} cannot be loaded: {error!r}; "
            "fix or remove its package"
        ) from error
    if not isinstance(loaded, Agent) or loaded.name != point.name:
        raise NightrookError(
            f"{point.value!r} isn't an agent called {point.name!r}; fix or remove its package"
        )
    return loaded


def _all() -> Iterator[Agent]:
    """All agents that can be loaded, our own first."""
    yield from own_agents()
    yield from _added_agents()


def own_agents() -> Iterator[Agent]:
    """Yield the agents of this package, in the order in which they are detected."""
    for name in sorted(NAMES, key=_IMITATED.__contains__):
        yield agent(name)
    for name in speaker_names():
        yield agent(name)


def _added_agents() -> Iterator[Agent]:
    """The agents of other packages that can be loaded."""
    for point in _plugins().values():
        try:
            yield _load(point)
        except NightrookError:
            continue  # a command that names it reports the error


def agent_for(command: str) -> Agent | None:
    """Return the agent that a command runs, by the name of its program; None if unknown."""
    from nightrook.agents.known_programs import KNOWN_PROGRAMS

    program = command.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    name = KNOWN_PROGRAMS.get(program)
    if name is not None:
        return agent(name)
    added = (known for known in _added_agents() if program in (*known.programs, *known.forks))
    return next(added, None)


def decoder(name: str, *, cap: int = DEFAULT_CAP) -> Decoder:
    """Return a decoder for one stream of the agent of that name."""
    return agent(name).decoder(cap=cap)


def parser_for(command: str) -> Decoder | None:
    """Return a decoder for the output of a command; None if its output is not structured."""
    known = agent_for(command)
    return None if known is None else known.decoder()


def output_flags(command: str) -> list[str] | None:
    """Return the flags that make a command write structured output; None if unknown."""
    known = agent_for(command)
    return None if known is None else list(known.output_flags)


def detect(head: bytes) -> Agent | None:
    """Return the agent that wrote the first lines of a stream; None if it cannot be detected."""
    from nightrook.agents.acp import adapter as acp

    messages = list(_messages(head))
    for message in messages:
        if acp.introduces(message):
            return agent(acp.name_in(message))
    for known in _all():
        if any(known.recognises(message) for message in messages):
            return known
    return None


def detect_transcript(head: bytes) -> Transcript | None:
    """Return how to read a stored session by its first lines; None if they are not of one."""
    known = [transcript(name) for name in sorted(HISTORIES, key=_IMITATED.__contains__)]
    first = b"\n".join(head.split(b"\n", _LOOKED_AT)[:_LOOKED_AT])
    for message in _messages(first):
        found = next((one for one in known if one.recognises(message)), None)
        if found is not None:
            return found
    return None


def _messages(head: bytes) -> Iterator[dict[str, Any]]:
    from nightrook.adapter.salvage import Repaired, parse

    for line in head.split(b"\n"):
        if line.strip()[:1] not in (b"{", b"[", b"\xef"):
            continue
        parsed = parse(line)
        values = parsed.value if isinstance(parsed, Repaired) else None
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, dict):
                yield value
