"""Lines of stored sessions, written now."""

import json
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nightrook.testing.histories import opencode
from nightrook.testing.histories.sessions import StoredCall, StoredSession

SESSION = "11111111-2222-3333-4444-555555555555"


def timestamp(at: float | None = None) -> str:
    """A time as agents write it."""
    return datetime.fromtimestamp(at or time.time(), UTC).isoformat().replace("+00:00", "Z")


def claude_line(kind: str, content: object, *, at: float | None = None, **fields: Any) -> str:
    """A line of Claude Code: a prompt or a message of the model."""
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        usage = {"input_tokens": 1000, "output_tokens": 100}
        message |= {"id": fields.pop("id", "msg_1"), "model": "claude-opus-4-5", "usage": usage}
    line = {
        "type": kind,
        "sessionId": SESSION,
        "isSidechain": False,
        "cwd": "/work/shop",
        "version": "2.1.325",
        "timestamp": timestamp(at),
        "message": message,
        **fields,
    }
    return json.dumps(line) + "\n"


def said(text: str, number: int = 1, **fields: Any) -> str:
    """A line with what Claude Code said."""
    content = [{"type": "text", "text": text}]
    return claude_line("assistant", content, id=f"msg_{number}", **fields)


def claude_file(home: Path, session: str = SESSION) -> Path:
    """The file of a session of Claude Code."""
    folder = home / ".claude" / "projects" / "-work-shop"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{session}.jsonl"


def append(path: Path, text: str) -> None:
    """Add to a file."""
    with path.open("a") as file:
        file.write(text)


def gemini_document(*texts: str) -> str:
    """A session of Gemini CLI as it was before it wrote lines."""
    messages = [
        {
            "id": f"m{number}",
            "timestamp": timestamp(),
            "type": "gemini",
            "content": text,
            "tokens": {"input": 10, "output": 5, "cached": 0, "thoughts": 0, "tool": 0},
            "model": "gemini-2.5-pro",
        }
        for number, text in enumerate(texts)
    ]
    return json.dumps({"sessionId": SESSION, "startTime": timestamp(), "messages": messages})


def opencode_store(home: Path, id: str = "ses_1") -> Path:
    """A store of OpenCode with a session that has one call."""
    call = StoredCall(id="c1", at=time.time() - 5000, model="gpt-5", input=10, output=4)
    session = StoredSession(agent="opencode", id=id, project="/work/shop", calls=(call,))
    opencode.write(home, session)
    return home / ".local" / "share" / "opencode" / "opencode.db"


def add_text(store: sqlite3.Connection, number: int, text: str, id: str = "ses_1") -> None:
    """Let OpenCode say something."""
    at = int(time.time() * 1000)
    part = {"type": "text", "text": text, "time": {"start": at, "end": at}}
    message = {"role": "assistant", "modelID": "gpt-5", "time": {"created": at}}
    store.execute(
        "INSERT INTO message VALUES (?, ?, ?, ?, ?)",
        (f"msg-{number}", id, at, at, json.dumps(message)),
    )
    store.execute(
        "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
        (f"prt-{number}", f"msg-{number}", id, at, at, json.dumps(part)),
    )
    store.execute("UPDATE session SET time_updated = ? WHERE id = ?", (at, id))
    store.commit()


def opened(store: Path) -> closing[sqlite3.Connection]:
    """A store as its agent has it open: changes go to a file beside it."""
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    return closing(connection)
