"""Claude Code: one file per session; a message has a line for each of its parts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nightrook.testing.histories.sessions import (
    StoredCall,
    StoredSession,
    folder_name,
    timestamp,
    write_lines,
)

VERSION = "2.1.325"


def write(home: Path, session: StoredSession) -> None:
    """Write the session's file, and next to it one for each of its subagents."""
    folder = home / ".claude" / "projects" / folder_name(session.project)
    write_lines(folder / f"{session.id}.jsonl", _lines(session, session.id, None))
    for subagent in session.subagents:
        name = f"agent-{subagent.id}.jsonl"
        path = folder / session.id / "subagents" / name
        write_lines(path, _lines(subagent, session.id, subagent.id))


def _lines(session: StoredSession, id: str, agent_id: str | None) -> Iterator[dict[str, Any]]:
    if agent_id is None:
        yield {"type": "ai-title", "aiTitle": session.title, "sessionId": id}
    started = {_last_before(session, subagent).id: subagent for subagent in session.subagents}
    for call in (*session.inherited, *session.calls):
        yield from _call_lines(session, call, id, agent_id)
        if call.id in started:
            yield from _subagent_lines(started[call.id], call, _about(session, call, id, agent_id))


def _call_lines(
    session: StoredSession, call: StoredCall, id: str, agent_id: str | None
) -> Iterator[dict[str, Any]]:
    about = _about(session, call, id, agent_id)
    if call.prompt is not None:
        message = {"role": "user", "content": call.prompt}
        yield {"parentUuid": None, "type": "user", "message": message, **about}
    for part, output in zip(_parts(call), (min(call.output, 1), call.output), strict=True):
        yield _message(call, part, output) | about
    if call.command is not None:
        command = call.command
        yield _result(_tool_id(call), command.output, is_error=command.exit_code != 0) | about


def _subagent_lines(
    subagent: StoredSession, call: StoredCall, about: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """The call that starts a subagent, one more part of a message, and what it returned."""
    id = f"toolu_{subagent.id}"
    input = {"description": subagent.title, "prompt": subagent.calls[0].prompt}
    part = {"type": "tool_use", "id": id, "name": "Agent", "input": input}
    yield _message(call, part, call.output) | about
    result = {"agentId": subagent.id, "status": "completed"}
    yield _result(id, subagent.calls[-1].text) | about | {"toolUseResult": result}


def _last_before(session: StoredSession, subagent: StoredSession) -> StoredCall:
    return max(
        (call for call in session.calls if call.at <= subagent.calls[0].at),
        key=lambda call: call.at,
        default=session.calls[0],
    )


def _about(
    session: StoredSession, call: StoredCall, id: str, agent_id: str | None
) -> dict[str, Any]:
    return {
        "isSidechain": agent_id is not None,
        **({"agentId": agent_id} if agent_id else {}),
        "cwd": session.project,
        "sessionId": id,
        "version": VERSION,
        "gitBranch": session.branch,
        "timestamp": timestamp(call.at),
    }


def _message(call: StoredCall, part: dict[str, Any], output: int) -> dict[str, Any]:
    """A line of a message of the model: it has one part, and the usage so far."""
    return {
        "parentUuid": None,
        "message": {
            "model": call.model,
            "id": call.id,
            "type": "message",
            "role": "assistant",
            "content": [part],
            "stop_reason": None,
            "usage": _usage(call, output),
        },
        "requestId": f"req_{call.id}",
        "type": "assistant",
    }


def _result(tool_id: str, output: str, *, is_error: bool = False) -> dict[str, Any]:
    result = {"tool_use_id": tool_id, "type": "tool_result", "content": output}
    message = {"role": "user", "content": [result | {"is_error": is_error}]}
    return {"parentUuid": None, "type": "user", "message": message}


def _parts(call: StoredCall) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parts of a message, of which each has its line."""
    text = {"type": "text", "text": call.text}
    if call.command is None:
        return {"type": "thinking", "thinking": "", "signature": "demo"}, text
    input = {"command": call.command.command}
    return text, {"type": "tool_use", "id": _tool_id(call), "name": "Bash", "input": input}


def _tool_id(call: StoredCall) -> str:
    return f"toolu_{call.id}"


def _usage(call: StoredCall, output: int) -> dict[str, Any]:
    return {
        "input_tokens": call.input,
        "cache_creation_input_tokens": call.cache_write,
        "cache_read_input_tokens": call.cache_read,
        "output_tokens": output,
        "cache_creation": {
            "ephemeral_1h_input_tokens": 0,
            "ephemeral_5m_input_tokens": call.cache_write,
        },
        "service_tier": "standard",
        "speed": "standard",
    }
