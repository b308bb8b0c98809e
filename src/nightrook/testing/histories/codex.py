"""Codex: one rollout per thread; each call is one record, and a count that repeats the total."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nightrook.testing.histories.sessions import StoredCall, StoredSession, timestamp, write_lines

VERSION = "0.166.0"


def write(home: Path, session: StoredSession) -> None:
    """Write the thread's rollout, and one for each of its subagents."""
    _write(home, session, None)
    for subagent in session.subagents:
        _write(home, subagent, session.id)


def _write(home: Path, session: StoredSession, parent: str | None) -> None:
    began = timestamp(session.calls[0].at)
    day = home.joinpath(".codex", "sessions", *began[:10].split("-"))
    name = f"rollout-{began[:19].replace(':', '-')}-{session.id}.jsonl"
    write_lines(day / name, _lines(session, parent))


def _lines(session: StoredSession, parent: str | None) -> Iterator[dict[str, Any]]:
    began = timestamp(session.calls[0].at)
    yield _line(began, "session_meta", _meta(session, parent, began))
    total = dict.fromkeys(_usage(session.calls[0]), 0)
    for call in session.inherited:
        total = {name: total[name] + count for name, count in _usage(call).items()}
    for call in session.calls:
        at = timestamp(call.at)
        yield _line(at, "turn_context", {"cwd": session.project, "model": call.model})
        if call.prompt is not None:
            yield _line(at, "event_msg", {"type": "user_message", "message": call.prompt})
        for item in _items(call):
            yield _line(at, "event_msg", {"type": "item_completed", "item": item})
        usage = _usage(call)
        total = {name: total[name] + count for name, count in usage.items()}
        record = {"thread_id": session.id, "response_id": call.id, "usage": usage}
        yield _line(at, "token_usage_record", record)
        info = {"total_token_usage": total, "last_token_usage": usage}
        for _ in range(2):  # a count is written again when nothing was used
            yield _line(at, "event_msg", {"type": "token_count", "info": info})


def _items(call: StoredCall) -> Iterator[dict[str, Any]]:
    content = [{"type": "Text", "text": call.text}]
    yield {"type": "AgentMessage", "id": f"msg_{call.id}", "content": content}
    if call.command is not None:
        yield {
            "type": "CommandExecution",
            "id": f"call_{call.id}",
            "command": ["/bin/bash", "-lc", call.command.command],
            "status": "failed" if call.command.exit_code else "completed",
            "aggregated_output": call.command.output,
            "exit_code": call.command.exit_code,
        }


def _meta(session: StoredSession, parent: str | None, began: str) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "id": session.id,
        "session_id": parent or session.id,
        "timestamp": began,
        "cwd": session.project,
        "cli_version": VERSION,
        "git": {"branch": session.branch},
        "source": "cli",
    }
    if session.forked_from is not None:
        meta["forked_from_id"] = session.forked_from
    if parent is not None:
        meta["parent_thread_id"] = parent
        meta["source"] = {"subagent": {"thread_spawn": {"parent_thread_id": parent}}}
    return meta


def _line(at: str, type: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": at, "type": type, "payload": payload}


def _usage(call: StoredCall) -> dict[str, int]:
    whole = call.input + call.cache_read + call.cache_write
    return {
        "input_tokens": whole,
        "cached_input_tokens": call.cache_read,
        "cache_write_input_tokens": call.cache_write,
        "output_tokens": call.output,
        "reasoning_output_tokens": call.output // 4,
        "total_tokens": whole + call.output,
    }
