"""An agent whose messages are the neutral events; a package of its own, as users add agents."""

from collections.abc import Sequence
from typing import Any, get_args

import msgspec

from nightrook import adapter
from nightrook.adapter import Agent, Ask, Capabilities, ControlChannel, Memory, Replacement, Task
from nightrook.events import Event, PermissionRequested, StreamClosed, ToolStarted, Unreadable

_OURS = (StreamClosed, Unreadable)  # what the decoder itself reports


def _same(_memory: Memory, event: Any, _line: bytes) -> Sequence[Event]:
    return [event]


def _replaced(started: ToolStarted) -> tuple[Replacement, ...]:
    if started.kind != "edit" or started.title is None:
        return ()
    return (Replacement(started.title, started.title + "\n" + started.title),)


def _asked(line: bytes) -> Ask | None:
    """What a `permission_requested` asks: its input is the whole question."""
    event = msgspec.json.decode(line, type=PermissionRequested)
    return msgspec.json.decode(event.input, type=Ask) if event.input else None


def _invoke(task: Task) -> adapter.Invocation:
    return adapter.Invocation(
        command=("mirror",), stdin=task.prompt.encode() + b"\n", keep_stdin_open=True
    )


TABLE: adapter.Table[Memory] = {kind: _same for kind in get_args(Event) if kind not in _OURS}
AGENT = Agent(
    name="mirror",
    programs=("mirror",),
    install="it is part of the tests",
    output_flags=(),
    checked_versions=(),
    capabilities=Capabilities(
        deltas="yes",
        thinking="yes",
        subagents="yes",
        usage="yes",
        cost="yes",
        denials="yes",
        exit_codes="yes",
        resume="yes",
        end_event="yes",
    ),
    evidence="documentation",
    decoder=adapter.decoder_of("mirror", TABLE, Memory),
    recognises=lambda message: False,
    invoke=_invoke,
    with_output_flags=list,
    keeps_variable=lambda name: True,
    replacements=_replaced,
    control=ControlChannel(
        read=_asked, answer=lambda line, decision: b"answered\n", interrupt=lambda: b""
    ),
)
