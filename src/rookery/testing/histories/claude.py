"""Claude Code: one file a session; a message has a line for each of its parts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rookery.testing.histories.sessions import (
    StoredCall,
    StoredSession,
    folder_name,
    timestamp,
    write_lines,
)

VERSION = "2.1.325"


def write(home: Path, session: StoredSession) -> None:
    """Write the session's file, and one for each of its subagents beside it."""
    folder = home / ".claude" / "projects" / folder_name(session.project)
    write_lines(folder / f"{session.id}.jsonl", _lines(session, session.id, None))
    for subagent in session.subagents:
        name = f"agent-{subagent.id}.jsonl"
        path = folder / session.id / "subagents" / name
        write_lines(path, _lines(subagent, session.id, subagent.id))


def _lines(session: StoredSession, id: str, agent_id: str | None) -> Iterator[dict[str, Any]]:
    if agent_id is None:
        yield {"type": "ai-title", "aiTitle": session.title, "sessionId": id}
    for call in (*session.inherited, *session.calls):
        yield from _call_lines(session, call, id, agent_id)


def _call_lines(
    session: StoredSession, call: StoredCall, id: str, agent_id: str | None
) -> Iterator[dict[str, Any]]:
    about = {
        "isSidechain": agent_id is not None,
        **({"agentId": agent_id} if agent_id else {}),
        "cwd": session.project,
        "sessionId": id,
        "version": VERSION,
        "gitBranch": session.branch,
        "timestamp": timestamp(call.at),
    }
    if call.prompt is not None:
        message = {"role": "user", "content": call.prompt}
        yield {"parentUuid": None, "type": "user", "message": message, **about}
    parts = [{"type": "text", "text": call.text}, {"type": "text", "text": "."}]
    for part, output in zip(parts, (min(call.output, 1), call.output), strict=True):
        yield {
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
            **about,
        }


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
