"""The agents we know, found by name, by command or by what they wrote. None imports another."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from rookery.core.agent import Agent
from rookery.core.decoder import Decoder
from rookery.core.errors import UnknownAgentError
from rookery.core.lines import DEFAULT_CAP
from rookery.core.salvage import Mended, parse

NAMES = (
    "claude",
    "codex",
)
"""The names of all agents; each is a module here with an `AGENT`."""


def agent(name: str) -> Agent:
    """Give the agent of that name; an UnknownAgentError names those there are."""
    if name not in NAMES:
        raise UnknownAgentError(name, NAMES)
    found: Agent = import_module(f"{__name__}.{name}").AGENT
    return found


def agent_for(command: str) -> Agent | None:
    """Give the agent that a command runs, by the name of its program; None if we know none."""
    program = command.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    return next((known for known in map(agent, NAMES) if program in known.programs), None)


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
    for message in _messages(head):
        for name in NAMES:
            if agent(name).recognises(message):
                return agent(name)
    return None


def _messages(head: bytes) -> Iterator[dict[str, Any]]:
    for line in head.split(b"\n"):
        if line.strip()[:1] not in (b"{", b"[", b"\xef"):
            continue
        mended = parse(line)
        values = mended.value if isinstance(mended, Mended) else None
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, dict):
                yield value
