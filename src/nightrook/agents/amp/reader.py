"""The table of Amp's message types, and the decoder built on it.

`adapter.stream_json` reads most of them; Amp's messages have neither an id nor a model.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from nightrook.adapter import salvage, stream_json
from nightrook.adapter.reader import Row, decoder_of, stream_of
from nightrook.adapter.stream_json import Memory, session_started
from nightrook.agents.amp import tools
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import Error, Event, PermissionDenied, Unknown
from nightrook.model.permissions import PERMIT_ALL

# Both sentences are in the program 0.0.1790142911.
_APPROVAL = re.compile(
    r"The following tools require user approval, which is not supported in stream JSON mode: (.*)",
    re.DOTALL,
)
_CANCELLED = "User cancelled"


class Result(stream_json.Result):
    """The end of a turn; a failed one has its error in words."""

    error: str | None = None


class Amp(stream_json.StreamJson):
    """The reader of Amp's messages."""

    def finish(self, memory: Any, block: stream_json.Block, parent: str | None) -> Sequence[Event]:
        """Read the result of a call."""
        id = block.tool_use_id or memory.new_id("call")
        call, ok = memory.tools.get(id), block.is_error is False
        error = None if ok else block.content
        events: list[Event] = memory.finish(
            id, "ok" if ok else "error", output=block.content, error=error, parent=parent
        )
        if ok and call is not None and call.kind in tools.CHANGING:
            events += tools.changes(call.name, id, call.input)
        return events


def system(memory: Memory, message: stream_json.System, line: bytes) -> Sequence[Event]:
    """Read the start of a thread, or of further work on it."""
    if message.subtype != "init":
        return (Unknown(name=f"system/{message.subtype}", raw=salvage.raw_copy(line)),)
    return session_started(memory, message)


def result(memory: Memory, message: Result, line: bytes) -> Sequence[Event]:
    """Read the end of a turn; a call that needs approval ends it, too."""
    events = memory.begin_turn()
    ok = message.subtype == "success" and message.is_error is False
    text = message.error or message.result
    reason = None if ok else _reason(message.subtype, text or "")
    if reason == "denied":
        events += _denials(memory, text or "")
    elif reason == "error":
        events.append(Error(kind="internal", message=text))
    seconds = None if message.duration_ms is None else message.duration_ms / 1000
    text = message.result if ok else text
    finished = memory.finish_turn(reason, text, duration_s=seconds, turns=message.num_turns)
    return [*events, finished]


_AMP = Amp(tools.TOOLS)

TABLE = (
    Row(stream_json.System, system),
    Row(stream_json.User, _AMP.user),
    Row(stream_json.Assistant, _AMP.assistant),
    Row(Result, result),
)

decoder = decoder_of("amp", stream_of(TABLE), partial(Memory, KNOWN_FIELDS["amp"]))
"""Returns a decoder for one stream of Amp."""


def _reason(subtype: str | None, text: str) -> str:
    if subtype == "error_max_turns":
        return "max_turns"
    if _APPROVAL.fullmatch(text):
        return "denied"
    return "interrupted" if text.startswith(_CANCELLED) else "error"


def _denials(memory: Memory, text: str) -> Sequence[Event]:
    """The calls that need approval: the sentence names their tools, and they are still open."""
    match = _APPROVAL.fullmatch(text)
    names = dict.fromkeys(name.strip() for name in match[1].split(",")) if match else {}
    calls = [call for call in memory.tools.values() if call.name in names]
    events: list[Event] = []
    for call in calls:
        events += memory.finish(call.id, "denied", error=text, fix=PERMIT_ALL)
    missing = names.keys() - {call.name for call in calls}
    events += [
        PermissionDenied(name=name, reason=text, fix=PERMIT_ALL)
        for name in names
        if name in missing
    ]
    return events
