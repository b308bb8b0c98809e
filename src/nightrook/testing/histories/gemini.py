"""Gemini: one file per session; a message is written again when its tools have ended."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from nightrook.testing.histories.sessions import StoredCall, StoredSession, timestamp, write_lines


def write(home: Path, session: StoredSession) -> None:
    """Write the session's file, and one for each of its subagents."""
    chats = home / ".gemini" / "tmp" / PurePosixPath(session.project).name / "chats"
    began = timestamp(session.calls[0].at)[:16].replace(":", "-")
    write_lines(chats / f"session-{began}-{session.id[:8]}.jsonl", _lines(session, "main"))
    for subagent in session.subagents:
        write_lines(chats / session.id / f"{subagent.id}.jsonl", _lines(subagent, "subagent"))


def _lines(session: StoredSession, kind: str) -> Iterator[dict[str, Any]]:
    began = timestamp(session.calls[0].at)
    head = {"sessionId": session.id, "startTime": began, "lastUpdated": began, "kind": kind}
    yield head | {"directories": [session.project]}
    if session.inherited:
        yield {"$set": {"messages": [_message(call) for call in session.inherited]}}
    for call in session.calls:
        if call.prompt is not None:
            content = [{"text": call.prompt}]
            prompt = {"id": f"p-{call.id}", "timestamp": timestamp(call.at), "type": "user"}
            yield prompt | {"content": content}
        yield _message(call)
        yield {"$set": {"lastUpdated": timestamp(call.at)}}
        yield _message(call) | {"toolCalls": list(_tool_calls(call))}


def _tool_calls(call: StoredCall) -> Iterator[dict[str, Any]]:
    if call.command is None:
        return
    tool = {"id": f"tool-{call.id}", "name": "run_shell_command"}
    output = f"Output: {call.command.output}"
    if call.command.exit_code:
        output += f"\nExit Code: {call.command.exit_code}"
    yield {
        **tool,
        "args": {"command": call.command.command},
        "result": [{"functionResponse": {**tool, "response": {"output": output}}}],
        "status": "error" if call.command.exit_code else "success",
        "timestamp": timestamp(call.at),
        "resultDisplay": call.command.output,
    }


def _message(call: StoredCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "timestamp": timestamp(call.at),
        "type": "gemini",
        "content": call.text,
        "tokens": {
            "input": call.input + call.cache_read,
            "output": call.output - call.output // 4,
            "cached": call.cache_read,
            "thoughts": call.output // 4,
            "tool": 0,
        },
        "model": call.model,
    }
