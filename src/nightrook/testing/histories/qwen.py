"""Qwen: one file per session; a call of the main thread is reported twice."""

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

VERSION = "0.15.10"


def write(home: Path, session: StoredSession) -> None:
    """Write the session's file; calls of subagents are only in its telemetry."""
    chats = home / ".qwen" / "projects" / folder_name(session.project) / "chats"
    write_lines(chats / f"{session.id}.jsonl", _lines(session))


def _lines(session: StoredSession) -> Iterator[dict[str, Any]]:
    for call in session.calls:
        about = _about(session, call)
        if call.prompt is not None:
            message = {"role": "user", "parts": [{"text": call.prompt}]}
            yield {"uuid": f"u-{call.id}", "type": "user", **about, "message": message}
        yield _telemetry(call, about)
        yield {
            "uuid": f"a-{call.id}",
            "type": "assistant",
            **about,
            "model": call.model,
            "message": {"role": "model", "parts": _parts(call)},
            "usageMetadata": {
                "promptTokenCount": call.input + call.cache_read,
                "candidatesTokenCount": call.output,
                "thoughtsTokenCount": call.output // 4,
                "cachedContentTokenCount": call.cache_read,
            },
        }
        if call.command is not None:
            yield {"uuid": f"r-{call.id}", "type": "tool_result", **about, **_result(call)}
    for subagent in session.subagents:
        for call in subagent.calls:
            yield _telemetry(call, _about(session, call))


def _parts(call: StoredCall) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"text": call.text}]
    if call.command is not None:
        args = {"command": call.command.command, "is_background": False}
        parts.append({"functionCall": {**_tool(call), "args": args}})
    return parts


def _result(call: StoredCall) -> dict[str, Any]:
    assert call.command is not None
    command, output, exit_code = call.command
    text = f"Command: {command}\nOutput: {output}\nExit Code: {exit_code}"
    response = {"functionResponse": {**_tool(call), "response": {"output": text}}}
    status = "error" if exit_code else "success"
    return {
        "message": {"role": "user", "parts": [response]},
        "toolCallResult": {
            "callId": f"call_{call.id}",
            "status": status,
            "resultDisplay": output,
        },
    }


def _tool(call: StoredCall) -> dict[str, str]:
    return {"id": f"call_{call.id}", "name": "run_shell_command"}


def _about(session: StoredSession, call: StoredCall) -> dict[str, Any]:
    return {
        "sessionId": session.id,
        "timestamp": timestamp(call.at),
        "cwd": session.project,
        "gitBranch": session.branch,
        "version": VERSION,
    }


def _telemetry(call: StoredCall, about: dict[str, Any]) -> dict[str, Any]:
    event = {
        "event.name": "qwen-code.api_response",
        "event.timestamp": timestamp(call.at),
        "response_id": call.id,
        "model": call.model,
        "input_token_count": call.input + call.cache_read,
        "output_token_count": call.output,
        "cached_content_token_count": call.cache_read,
        "thoughts_token_count": call.output // 4,
    }
    payload = {"uiEvent": event}
    line = {"uuid": f"t-{call.id}", "type": "system", "subtype": "ui_telemetry", **about}
    return line | {"systemPayload": payload}
