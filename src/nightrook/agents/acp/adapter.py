"""The agents that speak the Agent Client Protocol: those known by a dialect, and any other.

`acp` is the agent whose command the user types, and the way to run others by the protocol.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import msgspec

from nightrook.adapter.agent import Agent, Capabilities, Invocation, Task, Way
from nightrook.adapter.decoder import ChoosingDecoder
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.agents.acp.dialects import DIALECTS, Dialect, dialect_of
from nightrook.model.records import Decoder

NAME = "acp"
"""The name of the agent whose command the user types, and of the way to run others."""

_VERSIONS = ("1",)  # of the protocol


def decoder(*, agent: str = NAME, cap: int = DEFAULT_CAP) -> Decoder:
    """Return a decoder for what an agent writes in the protocol."""
    from nightrook.agents.acp import reader  # every command imports this module; few decode

    return reader.decoder(agent=agent, cap=cap)


def is_message(message: Mapping[str, Any]) -> bool:
    """True if a message is one of JSON-RPC 2.0."""
    return message.get("jsonrpc") == "2.0"


def introduces(message: Mapping[str, Any]) -> bool:
    """True for an agent's first message: its protocol version and its name."""
    result = message.get("result")
    if not is_message(message) or not isinstance(result, dict) or "protocolVersion" not in result:
        return False
    # The servers of another protocol introduce themselves in almost the same way.
    return "agentInfo" in result or "agentCapabilities" in result or "authMethods" in result


def name_in(message: Mapping[str, Any]) -> str:
    """Our name of the agent that introduces itself in a message."""
    info = message["result"].get("agentInfo")
    name = info.get("name") if isinstance(info, dict) else None
    found = dialect_of(name) if isinstance(name, str) else None
    return found.name if found else NAME


def speaker(name: str, command: Sequence[str] = (), dialect: Dialect | None = None) -> Agent:
    """Return the agent that a command starts; without one, the user names its program."""
    return Agent(
        name=name,
        programs=tuple(command[:1]),
        install=dialect.install if dialect else "",
        output_flags=tuple(command[1:]),
        checked_versions=dialect.checked if dialect else _VERSIONS,
        capabilities=_capabilities(dialect),
        evidence=dialect.evidence if dialect else "recordings",
        decoder=partial(decoder, agent=name),
        recognises=lambda message: introduces(message) and name_in(message) == name,
        invoke=_invoker(name, command, dialect),
        with_output_flags=_unchanged,
        keeps_variable=_keeps_all,
        login=dialect.login if dialect else None,
        unbudgeted=_unbudgeted(name, dialect),
        ways=(_way(dialect),),
    )


@cache
def of_dialect(name: str) -> Agent:
    """Return the agent that is known by a dialect only."""
    dialect = DIALECTS[name]
    return speaker(name, dialect.command, dialect)


def with_acp(native: Agent) -> Agent:
    """Return an agent that can be run by the protocol, too, if its dialect is known."""
    dialect = DIALECTS.get(native.name)
    if dialect is None:
        return native
    invoke = _invoker(native.name, dialect.command, dialect)
    usual = native.ways or (
        Way(
            name="native",
            usage=native.capabilities.usage,
            asks=native.control is not None,
            unbudgeted=native.unbudgeted,
        ),
    )
    return msgspec.structs.replace(
        native,
        decoder=_both(native),
        recognises=lambda message: (
            native.recognises(message) or (introduces(message) and name_in(message) == native.name)
        ),
        invoke=lambda task: invoke(task) if task.via == NAME else native.invoke(task),
        serves=lambda way, task: way == NAME or native.serves(way, task),
        ways=(*usual, _way(dialect)),
    )


def _both(native: Agent) -> Callable[..., Decoder]:
    """Return a function that makes decoders for the native stream and that of the protocol."""

    def make(*, cap: int = DEFAULT_CAP) -> Decoder:
        return ChoosingDecoder(
            native.name,
            is_message,
            partial(decoder, agent=native.name, cap=cap),
            partial(native.decoder, cap=cap),
            cap=cap,
        )

    return make


def _invoker(
    name: str, command: Sequence[str], dialect: Dialect | None
) -> Callable[[Task], Invocation]:
    def invoke(task: Task) -> Invocation:
        from nightrook.agents.acp import client

        client.refuse(name, task, dialect)
        return client.invoke(task, command or (NAME,), dialect)

    return invoke


def _unchanged(command: Sequence[str]) -> list[str] | None:
    """Return None: a command that the user typed is not led through the protocol."""
    return None


def _keeps_all(name: str) -> bool:
    """Return True: no variable is known to confuse a nested agent."""
    return True


def _unbudgeted(name: str, dialect: Dialect | None) -> str | None:
    if dialect is not None and (dialect.usage == "request" or dialect.cost is not None):
        return None
    return f"{name} reports over ACP neither tokens nor cost while it works"


def _way(dialect: Dialect | None) -> Way:
    name = dialect.title if dialect else "the agent"
    return Way(
        name=NAME,
        asks=True,
        usage="yes" if dialect is not None and dialect.usage == "request" else "partly",
        unbudgeted=_unbudgeted(name, dialect),
        install=dialect.install if dialect else None,
        notes=(
            f"Runs {' '.join(dialect.command)}." if dialect else "Runs the command after --.",
            *(dialect.notes if dialect else ()),
        ),
    )


def _capabilities(dialect: Dialect | None) -> Capabilities:
    usage = dialect.usage if dialect else None
    return Capabilities(
        deltas="yes",
        thinking="yes",
        subagents="yes" if dialect and dialect.parent else "no",
        usage="no" if usage is None else "partly" if usage == "last_request" else "yes",
        cost="yes" if dialect and dialect.cost else "no",
        denials="partly",
        exit_codes="partly",
        resume="partly",
        end_event="yes",
        notes=dialect.notes if dialect else (),
    )


AGENT = speaker(NAME)
"""Any agent that speaks the protocol, started by the command that the user types."""
