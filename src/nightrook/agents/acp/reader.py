"""The table of the protocol's messages: what happens in a session, and responses to our requests.

The reader sees only what the agent wrote, not what the client sent to it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events, LineDecoder, as_sequence
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.adapter.oversized import Shortened
from nightrook.adapter.reader import Table, TableReader, no_events, silent_types, union_of
from nightrook.adapter.shapes import NOTHING
from nightrook.agents.acp import calls, errors, protocol, shapes, usage
from nightrook.agents.acp.dialects import DIALECTS, FORBIDDEN, REFUSED
from nightrook.agents.acp.memory import Memory, name_request, release_all, remember_asked
from nightrook.model.events import (
    Error,
    Event,
    FileChanged,
    ModeChanged,
    Notice,
    PermissionRequested,
    PlanChanged,
    PlanItem,
    Replayed,
    Status,
    ToolProgress,
    TurnFinished,
    Unknown,
    UserMessage,
)

_ENDS = frozenset({"completed", "failed"})
_WITHOUT_CODE = frozenset({"edit", "think", "plan", "subagent"})
_SILENT = (
    # Requests that a client answers, without events of their own; ours refuses them all.
    "fs/read_text_file",
    "fs/write_text_file",
    "terminal/create",
    "terminal/output",
    "terminal/wait_for_exit",
    "terminal/kill",
    "terminal/release",
    "elicitation/create",
    "elicitation/complete",
    "craft/drainMidTurnQueue",  # qwen 0.24.4
    "_auth/status_update",  # claude-agent-acp 0.99.1, codex-acp 2.6.0
    "qwen/notify/session/prompt-suggestion",
)


def text_chunk(memory: Memory, update: shapes.TextChunk, line: bytes) -> Events:
    """Read a piece of what the agent says."""
    text = update.content.text if update.content else None
    if memory.replaying:
        return memory.replay("text", update.message_id, text or "")
    if not text:
        return usage.of_chunk(memory, update.meta)
    if update.message_id is None and (notice := _aside(memory, text)):
        return notice
    memory.refused_last = False
    return memory.add_piece(update, text, thinking=False)


def _aside(memory: Memory, text: str) -> list[Event]:
    """Read a notice of the agent's program, which arrives as text of the agent (copilot, codex)."""
    for prefix, level in memory.dialect.asides.items() if memory.dialect else ():
        if text.startswith(prefix) and memory.partial_id is None:
            return [Notice(level=level, text=text[len(prefix) :].strip())]
    return []


def thought_chunk(memory: Memory, update: shapes.ThoughtChunk, line: bytes) -> Events:
    """Read a piece of what the agent thinks."""
    text = update.content.text if update.content else None
    if memory.replaying:
        return memory.replay("thinking", update.message_id, text or "")
    return memory.add_piece(update, text, thinking=True) if text else ()


def user_chunk(memory: Memory, update: shapes.UserChunk, line: bytes) -> Events:
    """Read a piece of a user's text: of an earlier turn, or an echo of the prompt."""
    text = (update.content.text if update.content else None) or ""
    if not memory.replaying and not memory.in_turn and memory.results and not memory.echoes:
        memory.replaying = not memory.is_over  # another client loads the session again
    if memory.replaying:
        return memory.replay("message", update.message_id, text)
    memory.echoes = True
    return [*memory.advance(), UserMessage(text=text)] if text else ()


def call_update(memory: Memory, call: shapes.AnyCall, line: bytes) -> Events:
    """Read the start, the progress or the end of a call."""
    id, status = call.tool_call_id, call.status
    if id is None:
        return Unknown(name="tool_call", raw=salvage.raw_copy(line))
    if memory.replaying:
        return _replayed(memory, id, call)
    if id in memory.ended:
        return ()
    has_ended = status in _ENDS
    if not has_ended and memory.dialect is not None and memory.dialect.input_in_content:
        calls.take_input(call)
    events = [] if id in memory.tools else _begin(memory, id, call, is_whole=has_ended)
    if id in memory.asked:
        memory.asked[id] |= status == "in_progress"
    if has_ended:
        events += _end(memory, id, call, line, ok=status == "completed")
    else:
        events += _progress(memory, id, call, line)
    if not events or (memory.in_turn and memory.partial_id is None):
        return events
    return [*memory.advance(), *events]


def _progress(memory: Memory, id: str, call: shapes.AnyCall, line: bytes) -> list[Event]:
    """Report the output of a running call; remember its changes until it ends."""
    if calls.may_change_files(call) and (changes := _changes(call, calls.parts_of(call), line)):
        memory.changes[id] = changes
    output = None if call.meta is NOTHING else calls.live_output_of(call)
    return [*memory.release(id), ToolProgress(id=id, output=output)] if output else []


def _changes(call: shapes.AnyCall, parts: Sequence[shapes.Part], line: bytes) -> list[FileChanged]:
    is_whole = not isinstance(line, Shortened)
    return calls.changes_of(parts, call.tool_call_id, is_whole=is_whole)


def _begin(memory: Memory, id: str, call: shapes.AnyCall, *, is_whole: bool) -> list[Event]:
    """Report the start of a call, once its title is known."""
    before = memory.waiting.pop(id, None) if memory.waiting else None
    about = calls.described(call)
    if not is_whole and about is None and not calls.runs(call, is_first=before is None):
        memory.wait(id, call, before)
        return []
    return memory.begin(memory.started(id, call, about, before))


def _end(memory: Memory, id: str, call: shapes.AnyCall, line: bytes, *, ok: bool) -> list[Event]:
    """Report the end of a call; one that ended well may still have failed."""
    parts = calls.parts_of(call)
    changes, before = _changes(call, parts, line), memory.changes.pop(id, None)
    output = calls.output_of(call, parts)
    code = calls.exit_code_of(call) if memory.tools[id].kind not in _WITHOUT_CODE else None
    if ok and not code:
        events = memory.finish(id, "ok", output=output, exit_code=code)
        return [*events, *(changes or before or ())]
    if not ok and code is None and _is_refused(memory, id, output):
        memory.refused_last = True
        return memory.finish(id, "denied", error=output)
    return memory.finish(id, "error", output=output, error=output, exit_code=code)


def _is_refused(memory: Memory, id: str, output: str | None) -> bool:
    """True if a call that failed was refused, by the agent's text about it."""
    if not output:
        silently = memory.dialect is not None and memory.dialect.refuses_silently
        return silently and id in memory.asked
    return (REFUSED if id in memory.asked else FORBIDDEN).search(output) is not None


def _replayed(memory: Memory, id: str, call: shapes.AnyCall) -> list[Event]:
    """Report a call of an earlier turn, once."""
    if not memory.replay_call(id):
        return []
    name = call.name or memory.name_of(call) or calls.kind_of(call)
    text = calls.one_title(calls.described(call) or call.title)
    event = Replayed(kind="tool", id=id, name=name, text=text)
    return [*memory.end_replay(), event]


def plan(memory: Memory, update: shapes.Plan, line: bytes) -> Events:
    """Read the whole plan."""
    items = tuple(
        PlanItem(text=entry.content or "", status=entry.status) for entry in update.entries or ()
    )
    if memory.replaying or items == memory.plan:
        return ()
    memory.plan = items
    return [*memory.advance(), PlanChanged(items=items)]


def mode(memory: Memory, update: shapes.ModeUpdate, line: bytes) -> Events:
    """Read a change of the mode."""
    if update.current_mode_id is None or update.current_mode_id == memory.mode:
        return ()
    memory.mode = update.current_mode_id
    return ModeChanged(mode=update.current_mode_id) if memory.is_announced else ()


def usage_update(memory: Memory, update: shapes.UsageUpdate, line: bytes) -> Events:
    """Read the used part of the context, which is not the usage, and the cost so far."""
    usage.note(memory, update)
    # Where messages have no ids, only this shows that one has ended (copilot 1.0.102).
    return memory.end_text() if memory.has_unnamed_text else ()


_UPDATES: Mapping[type, Callable[[Memory, Any, bytes], Events]] = {
    shapes.TextChunk: text_chunk,
    shapes.ThoughtChunk: thought_chunk,
    shapes.UserChunk: user_chunk,
    shapes.CallStart: call_update,
    shapes.CallUpdate: call_update,
    shapes.Plan: plan,
    shapes.ModeUpdate: mode,
    shapes.UsageUpdate: usage_update,
    shapes.CommandsUpdate: no_events,
    shapes.SessionInfoUpdate: no_events,
    shapes.ConfigUpdate: no_events,
}


def session_update(memory: Memory, message: shapes.SessionUpdate, line: bytes) -> Events:
    """Read an update of the session."""
    params = message.params
    update = params.update
    if update is None:
        return _unknown(line)
    if params.session_id == memory.current:
        if type(update) is memory.piece_of and (delta := memory.continued(update)):
            return delta  # most messages of most streams are such pieces
        return _UPDATES[type(update)](memory, update, line)
    if memory.is_of_another(params.session_id):
        return Unknown(name="session/update of another session", raw=salvage.raw_copy(line))
    memory.session = memory.session or params.session_id
    events = as_sequence(_UPDATES[type(update)](memory, update, line))
    return [*memory.announce(), *events] if events and not memory.replaying else events


def _unknown(line: bytes) -> Event:
    """An update of a kind that is not known."""
    found = salvage.decode_part(line, _named)
    kind = found.params.update.kind if found and found.params and found.params.update else None
    name = f"session/update/{kind}" if kind else "session/update"
    return Unknown(name=name, raw=salvage.raw_copy(line))


def permission(memory: Memory, message: shapes.PermissionRequest, line: bytes) -> Events:
    """Read a request for permission; it is the first message of some calls."""
    call = message.params.tool_call or shapes.Call()
    id = call.tool_call_id
    request = None if message.id is None else name_request(memory, str(message.id), id)
    memory.session = memory.session or message.params.session_id
    events = [*memory.announce(), *memory.advance()]
    if id is not None and id not in memory.ended:
        events += [] if id in memory.tools else _begin(memory, id, call, is_whole=True)
        remember_asked(memory, id)
        if changes := _changes(call, calls.parts_of(call), line):
            memory.changes[id] = changes
    started = memory.tools.get(id or "")
    asked = PermissionRequested(
        id=request,
        tool_id=id,
        name=started.name if started else call.name,
        input=calls.input_of(call) or (started.input if started else None),
    )
    return [*events, asked]


# Responses. The ids of our own requests name their methods; for those of another client, the fields
# of a result and what came before it tell what it answers.

_REASONS: Mapping[str, str] = {
    "cancelled": "interrupted",
    "max_tokens": "cut",
    "max_turn_requests": "max_turns",
    "refusal": "refusal",
}
"""The reason why a turn failed, by its stop reason."""

_string = msgspec.json.Decoder(str)


def response(memory: Memory, message: shapes.Response, line: bytes) -> Events:
    """Read a response, by the request that it answers."""
    id, error, result = str(message.id), errors.of_response(message), message.result
    if memory.is_over:
        return Unknown(name="response after the end", raw=salvage.raw_copy(line))
    # guards: response-to-no-request
    if memory.is_led and id.removeprefix(protocol.OPTIONAL) not in protocol.ALL:
        return Unknown(name="response to no request", raw=salvage.raw_copy(line))
    if memory.replays_late and id.removeprefix(protocol.OPTIONAL) in protocol.SETS:
        return _replayed_late(memory, id, error)
    if error is not None:
        return _failed(memory, id, error)
    result = result or shapes.Result()
    if id == protocol.PROMPT or result.stop_reason is not None:  # guards: prompt-without-reason
        return _prompt_ended(memory, id, result)
    if id == protocol.INITIALIZE or bytes(result.protocol_version):
        return _hello(memory, id, result)
    if id in protocol.OPENS or _is_session(memory, result):
        return _opened(memory, id, result)
    return ()


def _is_session(memory: Memory, result: shapes.Result) -> bool:
    """True if the result is that of a request which opens a session; it may be empty."""
    named = (result.session_id, result.modes, result.models, result.config_options)
    return any(one is not None for one in named) or (memory.replaying and memory.has_replayed)


def _hello(memory: Memory, id: str, result: shapes.Result) -> list[Event]:
    """Read the name of the agent, and whether it speaks our version of the protocol."""
    memory.meet(result)
    memory.is_led = id == protocol.INITIALIZE
    if shapes.speaks(result):
        return []
    theirs = bytes(result.protocol_version).decode("utf-8", "replace")[:20] or "null"
    text = f"the agent speaks version {theirs} of ACP, rook speaks version {shapes.VERSION}"
    return _not_started(memory, id, Error(kind="config", message=text, retryable=False))


def _opened(memory: Memory, id: str, result: shapes.Result) -> list[Event]:
    """Read the start of a session, new or resumed."""
    if id == protocol.NEW and result.session_id is None:
        text = "the agent opened no session"
        return _not_started(memory, id, Error(kind="config", message=text, retryable=False))
    events = memory.end_replay()
    memory.is_resumed = id in protocol.RESUMES or result.session_id is None or memory.has_replayed
    if result.session_id is not None and result.session_id != memory.session:
        memory.session, memory.is_announced = result.session_id, False
        memory.current = memory
    # Without a mode, nothing is asked for whose response would end the replay.
    has_mode = result.modes is not None and result.modes.current_mode_id is not None
    late = has_mode and memory.dialect is not None and memory.dialect.replays_late
    memory.replaying = memory.replays_late = late and id == protocol.LOAD
    memory.mode = (result.modes.current_mode_id if result.modes else None) or memory.mode
    memory.model = _model(result) or memory.model
    return [*events, *memory.announce()] if memory.session is not None else events


def _replayed_late(memory: Memory, id: str, error: shapes.RpcError | None) -> Events:
    """Read the first response after a session whose replay follows the response that opens it."""
    memory.replaying = memory.replays_late = False
    events = memory.end_replay()
    return [*events, *_failed(memory, id, error)] if error is not None else events


def _model(result: shapes.Result) -> str | None:
    """The model of a session, if the agent names one."""
    model = result.models.current_model_id if result.models else None
    for option in result.config_options or ():
        if option.category == "model":
            model = salvage.decode_part(option.current_value, _string) or model
    if model is not None and model.startswith("$"):  # `$runtime|openai|NAME(openai)` (qwen 0.24.4)
        known = (result.models.available_models if result.models else None) or ()
        return next((one.name for one in known if one.model_id == model), None)
    return None if model == "default" else model


def _prompt_ended(memory: Memory, id: str, result: shapes.Result) -> list[Event]:
    """Read the end of a turn; one that ended normally may still have failed."""
    events = [*memory.end_replay(), *memory.announce(), *memory.advance()]
    memory.replaying = False
    stop = result.stop_reason or ""
    events += _close_calls(memory, "cancelled" if stop == "cancelled" else None)
    events += usage.of_result(memory, result)
    failure = _failure(memory) if stop == "end_turn" else None  # guards: error-written-as-answer
    reason = None if stop == "end_turn" else _REASONS.get(stop, stop)
    if reason in (None, "interrupted") and memory.refused_last:
        reason = "denied"
    if failure is not None:
        events.append(failure)
    cost = usage.of_cost(memory)
    if cost is None:
        events += usage.unknown_cost(memory)
    text, is_ok = memory.answer, reason is None and failure is None
    memory.end_turn()
    memory.is_over = id == protocol.PROMPT
    finished = TurnFinished(
        ok=is_ok,
        text=text if is_ok else None,
        stop_reason=result.stop_reason,
        reason=reason,
        errors=(failure.message,) if failure is not None and failure.message else None,
        cost_usd=cost,
        cost_semantics=None if cost is None else "turn",
    )
    return [*events, finished]


def _failure(memory: Memory) -> Error | None:
    """The error that an agent reported as its answer, if its dialect has such answers."""
    prefix = memory.dialect.failure if memory.dialect else None
    if prefix is None or memory.answer is None or not memory.answer.startswith(prefix):
        return None
    return errors.of_text(memory.answer.removeprefix(prefix))


def _close_calls(memory: Memory, status: Status | None) -> list[Event]:
    """End the calls that no message ended: refused ones as denied (gemini 0.61.0)."""
    events = release_all(memory)
    refuses = memory.dialect is None or not memory.dialect.leaves_calls_open
    for id in [*memory.tools]:
        was_refused = refuses and id in memory.asked and not memory.asked[id]
        events += memory.finish(id, status or ("denied" if was_refused else "orphaned"))
    memory.changes.clear()
    return events


def _failed(memory: Memory, id: str, error: shapes.RpcError) -> list[Event]:
    """Read an error: of the prompt, of what must come before it, or of what is not needed."""
    failure = errors.read(error)
    if id.startswith(protocol.OPTIONAL):
        what = id.removeprefix(protocol.OPTIONAL)
        return [Notice(level="warning", text=f"{what} failed: {failure.message}")]
    is_prompt = id == protocol.PROMPT or (id not in protocol.ALL and memory.is_announced)
    if not is_prompt or (error.code == errors.AUTH_REQUIRED and not memory.has_worked):
        return _not_started(memory, id, _with_login(memory, id, failure, error))
    events = [*memory.announce(), *memory.advance(), *_close_calls(memory, None)]
    memory.end_turn()
    memory.is_over = id == protocol.PROMPT
    messages = (failure.message,) if failure.message else None
    finished = TurnFinished(ok=False, errors=messages, cost_usd=usage.of_cost(memory))
    return [*events, failure, finished]


def _with_login(memory: Memory, id: str, failure: Error, error: shapes.RpcError) -> Error:
    """Return an error before the first turn, with its cause and the agent's way to log in."""
    text = failure.message or ""
    if error.code == errors.AUTH_REQUIRED and memory.login:
        text = f"{text}: {memory.login}"
    elif id in protocol.RESUMES:
        cannot = error.code == errors.NOT_FOUND
        text = (
            "the agent cannot resume sessions: start a new run"
            if cannot
            else (f"the session cannot be resumed: {text}")
        )
    elif id in protocol.SETS:
        text = f"{id} failed: {text}"
    return msgspec.structs.replace(failure, message=text)


def _not_started(memory: Memory, id: str, failure: Error) -> list[Event]:
    """End a run in which the agent never got to work."""
    events = [*memory.end_replay(), *memory.advance(), *_close_calls(memory, None)]
    memory.replaying = False
    memory.end_turn()
    memory.is_over = id in protocol.ALL  # another client may continue
    messages = (failure.message,) if failure.message else None
    return [*events, failure, TurnFinished(ok=False, reason="not_started", errors=messages)]


_TABLE: Table[Memory] = {
    **silent_types(_SILENT, tag_field="method"),
    shapes.SessionUpdate: session_update,
    shapes.PermissionRequest: permission,
}
_SHAPES = union_of(_TABLE)


class _Kind(msgspec.Struct):
    kind: str | None = msgspec.field(default=None, name="sessionUpdate")


class _Params(msgspec.Struct):
    update: _Kind | None = None


class _Named(msgspec.Struct):
    params: _Params | None = None


_named = msgspec.json.Decoder(_Named)


_WHOLE_TABLE: Table[Memory] = {**_TABLE, shapes.Response: response}
_tagged = msgspec.json.Decoder(_SHAPES)
_untagged = msgspec.json.Decoder(shapes.Response)


def _read_several(memory: Memory, line: bytes) -> list[Event] | None:
    """Read the messages of a line in which newlines are missing; None if there are none."""
    noise = protocol.text_before(line).strip()
    found = [_message_in(piece) for piece in protocol.split_messages(line)]
    if not any(message for _, message in found):
        return None
    events: list[Event] = [_noise(noise)] if noise else []
    for piece, message in found:
        if message is None:
            events.append(_noise(piece))
        else:
            events += as_sequence(_WHOLE_TABLE[type(message)](memory, message, piece))
    return events


def _noise(piece: bytes) -> Notice:
    """Return a notice of text between messages; as the line was read, it is not `Unreadable`."""
    preview = salvage.unreadable(piece, "not_json").preview
    return Notice(level="warning", text=f"not a message: {preview}")


def _message_in(piece: bytes) -> tuple[bytes, Any]:
    """A piece as valid JSON, and the message that it is; None if it isn't one."""
    repaired = salvage.parse(piece)
    if not isinstance(repaired, salvage.Repaired):
        return piece, None
    valid = repaired.json
    return valid, salvage.decode_part(valid, _tagged if b'"method"' in valid else _untagged)


def decoder(*, agent: str = "acp", cap: int = DEFAULT_CAP) -> LineDecoder:
    """Return a decoder for what an agent writes in the protocol."""
    memory = Memory(DIALECTS.get(agent))
    memory.read_several = partial(_read_several, memory)
    reader = TableReader(memory, _WHOLE_TABLE, looked_at=0)
    return LineDecoder(agent, _SHAPES, reader, untagged=shapes.Response, cap=cap)
