"""OpenCode: one SQLite database; a fork copies messages and parts under new ids."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from nightrook.testing.histories.sessions import StoredCall, StoredSession, milliseconds

_TABLES = """
CREATE TABLE IF NOT EXISTS session (id text PRIMARY KEY, parent_id text, directory text NOT NULL,
  title text NOT NULL, version text NOT NULL, cost real DEFAULT 0 NOT NULL,
  tokens_input integer DEFAULT 0 NOT NULL, tokens_output integer DEFAULT 0 NOT NULL,
  tokens_reasoning integer DEFAULT 0 NOT NULL, tokens_cache_read integer DEFAULT 0 NOT NULL,
  tokens_cache_write integer DEFAULT 0 NOT NULL, model text, time_created integer NOT NULL,
  time_updated integer NOT NULL);
CREATE TABLE IF NOT EXISTS message (id text PRIMARY KEY, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE IF NOT EXISTS part (id text PRIMARY KEY, message_id text NOT NULL,
  session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
  data text NOT NULL);
"""
VERSION = "1.18.33"


def write(home: Path, session: StoredSession) -> None:
    """Add the session and its subagents, which are sessions too, to the database."""
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(_TABLES)
        _insert(database, session, None)
        for subagent in session.subagents:
            _insert(database, subagent, session.id)


def _insert(database: sqlite3.Connection, session: StoredSession, parent: str | None) -> None:
    began, ended = (milliseconds(session.calls[i].at) for i in (0, -1))
    database.execute(
        "INSERT INTO session (id, parent_id, directory, title, version, time_created, time_updated)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (session.id, parent, session.project, session.title, VERSION, began, ended),
    )
    for number, call in enumerate((*session.inherited, *session.calls)):
        id, at = f"{session.id}-{number:03}", milliseconds(call.at)
        if call.prompt is not None:
            asked = {"role": "user", "time": {"created": at - 1}}
            prompt = {"type": "text", "text": call.prompt}
            _insert_message(database, session.id, f"{id}-p", at - 1, asked, (prompt,))
        message = {
            "role": "assistant",
            "path": {"cwd": session.project},
            "cost": 0,
            "tokens": _tokens(call),
            "modelID": call.model,
            "providerID": "demo",
            "time": {"created": at, "completed": at + 900},
            "finish": _reason(call),
        }
        _insert_message(database, session.id, id, at, message, tuple(_parts(call, at)))


def _insert_message(
    database: sqlite3.Connection,
    session: str,
    id: str,
    at: int,
    message: dict[str, Any],
    parts: tuple[dict[str, Any], ...],
) -> None:
    database.execute(
        "INSERT INTO message VALUES (?, ?, ?, ?, ?)",
        (f"msg-{id}", session, at, at + 900, json.dumps(message)),
    )
    database.executemany(
        "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
        (
            (f"prt-{id}-{number}", f"msg-{id}", session, at, at + 900, json.dumps(part))
            for number, part in enumerate(parts)
        ),
    )


def _parts(call: StoredCall, at: int) -> Iterator[dict[str, Any]]:
    time = {"start": at, "end": at + 900}
    yield {"type": "step-start"}
    yield {"type": "text", "text": call.text, "time": time}
    if call.command is not None:
        command, output, exit_code = call.command
        yield {
            "type": "tool",
            "tool": "bash",
            "callID": f"call_{call.id}",
            "state": {
                "status": "completed",
                "input": {"command": command},
                "output": output,
                "metadata": {"output": output, "exit": exit_code},
                "title": command,
                "time": time,
            },
        }
    yield {
        "type": "step-finish",
        "reason": _reason(call),
        "tokens": _tokens(call),
        "cost": 0,
    }


def _reason(call: StoredCall) -> str:
    return "stop" if call.command is None else "tool-calls"


def _tokens(call: StoredCall) -> dict[str, Any]:
    cache = {"read": call.cache_read, "write": call.cache_write}
    reasoning = call.output // 4
    return {
        "input": call.input,
        "output": call.output - reasoning,
        "reasoning": reasoning,
        "cache": cache,
    }
