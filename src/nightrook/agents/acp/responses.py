"""The responses to requests of ours: the agent's first words, a session, the end of a turn.

The reader sees only what the agent wrote. The ids of our own requests name their methods; for
those of another client, the fields of a result and what came before it tell what it answers.
"""

from collections.abc import Mapping

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events
from nightrook.agents.acp import errors, methods, shapes, usage
from nightrook.agents.acp.memory import Memory, release_all
from nightrook.model.events import (
    Error,
    Event,
    Notice,
    Status,
    TurnFinished,
    Unknown,
)

_REASONS: Mapping[str, str] = {
    "cancelled": "interrupted",
    "max_tokens": "cut",
    "max_turn_requests": "max_turns",
    "refusal": "refusal",
}
"""Why a turn failed, by what stopped it."""

_string = msgspec.json.Decoder(str)


def response(memory: Memory, message: shapes.Response, line: bytes) -> Events:
    """Read a response, by what it answers."""
    id, error, result = str(message.id), errors.of_response(message), message.result
    if memory.is_over:
        return Unknown(name="response after the end", raw=salvage.raw_copy(line))
    # guards: response-to-no-request
    if memory.is_led and id.removeprefix(methods.OPTIONAL) not in methods.ALL:
        return Unknown(name="response to no request", raw=salvage.raw_copy(line))
    if memory.replays_late and id.removeprefix(methods.OPTIONAL) in methods.SETS:
        return _replayed_late(memory, id, error)
    if error is not None:
        return _failed(memory, id, error)
    result = result or shapes.Result()
    if id == methods.PROMPT or result.stop_reason is not None:  # guards: prompt-without-reason
        return _prompt_ended(memory, id, result)
    if id == methods.INITIALIZE or bytes(result.protocol_version):
        return _hello(memory, id, result)
    if id in methods.OPENS or _is_session(memory, result):
        return _opened(memory, id, result)
    return ()


def _is_session(memory: Memory, result: shapes.Result) -> bool:
    """Whether the result is that of a request which opens a session; it may be empty."""
    named = (result.session_id, result.modes, result.models, result.config_options)
    return any(one is not None for one in named) or (memory.replaying and memory.has_replayed)


def _hello(memory: Memory, id: str, result: shapes.Result) -> list[Event]:
    """Read who the agent is, and whether it speaks our version of the protocol."""
    memory.meet(result)
    memory.is_led = id == methods.INITIALIZE
    if shapes.speaks(result):
        return []
    theirs = bytes(result.protocol_version).decode("utf-8", "replace")[:20] or "null"
    text = f"the agent speaks version {theirs} of ACP, rook speaks version {shapes.VERSION}"
    return _not_started(memory, id, Error(kind="config", message=text, retryable=False))


def _opened(memory: Memory, id: str, result: shapes.Result) -> list[Event]:
    """Read that there is a session, new or resumed."""
    if id == methods.NEW and result.session_id is None:
        text = "the agent opened no session"
        return _not_started(memory, id, Error(kind="config", message=text, retryable=False))
    events = memory.end_replay()
    memory.is_resumed = id in methods.RESUMES or result.session_id is None or memory.has_replayed
    if result.session_id is not None and result.session_id != memory.session:
        memory.session, memory.is_announced = result.session_id, False
        memory.current = memory
    # Without a mode, nothing is asked for whose response would end the replay.
    has_mode = result.modes is not None and result.modes.current_mode_id is not None
    late = has_mode and memory.dialect is not None and memory.dialect.replays_late
    memory.replaying = memory.replays_late = late and id == methods.LOAD
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
    memory.is_over = id == methods.PROMPT
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
    if id.startswith(methods.OPTIONAL):
        what = id.removeprefix(methods.OPTIONAL)
        return [Notice(level="warning", text=f"{what} failed: {failure.message}")]
    is_prompt = id == methods.PROMPT or (id not in methods.ALL and memory.is_announced)
    if not is_prompt or (error.code == errors.AUTH_REQUIRED and not memory.has_worked):
        return _not_started(memory, id, _with_login(memory, id, failure, error))
    events = [*memory.announce(), *memory.advance(), *_close_calls(memory, None)]
    memory.end_turn()
    memory.is_over = id == methods.PROMPT
    messages = (failure.message,) if failure.message else None
    finished = TurnFinished(ok=False, errors=messages, cost_usd=usage.of_cost(memory))
    return [*events, failure, finished]


def _with_login(memory: Memory, id: str, failure: Error, error: shapes.RpcError) -> Error:
    """An error before the first turn, with what failed and how the agent says to log in."""
    text = failure.message or ""
    if error.code == errors.AUTH_REQUIRED and memory.login:
        text = f"{text}: {memory.login}"
    elif id in methods.RESUMES:
        cannot = error.code == errors.NOT_FOUND
        text = (
            "the agent cannot resume sessions: start a new run"
            if cannot
            else (f"the session cannot be resumed: {text}")
        )
    elif id in methods.SETS:
        text = f"{id} failed: {text}"
    return msgspec.structs.replace(failure, message=text)


def _not_started(memory: Memory, id: str, failure: Error) -> list[Event]:
    """End a run in which the agent never got to work."""
    events = [*memory.end_replay(), *memory.advance(), *_close_calls(memory, None)]
    memory.replaying = False
    memory.end_turn()
    memory.is_over = id in methods.ALL  # another client may continue
    messages = (failure.message,) if failure.message else None
    return [*events, failure, TurnFinished(ok=False, reason="not_started", errors=messages)]
