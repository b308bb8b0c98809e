"""SQLite stores of agents for tests: recorded ones, and ones made row by row."""

import json
import sqlite3
import tarfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from nightrook.adapter.history import Finding, History
from nightrook.archive.sqlite_stores import read_store

HERE = Path(__file__).parent

MESSAGES = """
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL,
  title text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
"""
"""The tables of a store of messages with parts."""

CREATED = 1_790_000_000_000
TOKENS = {"input": 200, "output": 27, "reasoning": 7, "cache": {"read": 1000, "write": 50}}


def unpacked(agent: str, case: str, folder: Path) -> Path:
    """Unpack the recorded store of an agent; returns the database."""
    with tarfile.open(HERE / agent / "stores" / f"{case}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return next(folder.glob("*.db"))


def made(path: Path, schema: str) -> sqlite3.Connection:
    """Make an empty store, in WAL mode as agents do; the connection is the caller's."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(schema)
    return connection


def answer(created: int = CREATED, **fields: Any) -> dict[str, Any]:
    """The content of a message that a model wrote."""
    return {
        "role": "assistant",
        "time": {"created": created, "completed": created + 900},
        "modelID": "glm-5",
        "providerID": "zai",
        "agent": "build",
        "cost": 0.25,
        "tokens": TOKENS,
    } | fields


def step(**fields: Any) -> dict[str, Any]:
    """The content of a part that ends a step."""
    return {"reason": "stop", "type": "step-finish", "tokens": TOKENS, "cost": 0.25} | fields


def add_session(store: sqlite3.Connection, id: str, **columns: Any) -> None:
    """Add a session to a store of messages with parts."""
    row = {
        "id": id,
        "parent_id": None,
        "directory": "/app",
        "title": "Work",
        "time_created": CREATED,
        "time_updated": CREATED,
    } | columns
    names = ", ".join(f":{name}" for name in row)
    store.execute(f"INSERT INTO session ({', '.join(row)}) VALUES ({names})", row)


def add_message(
    store: sqlite3.Connection, session: str, id: str, data: Any, parts: Iterable[Any] = ()
) -> None:
    """Add a message with its parts to a store."""
    created = data["time"]["created"] if isinstance(data, dict) else CREATED
    times = (created, created)
    store.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (id, session, *times, _json(data)))
    for number, part in enumerate(parts):
        row = (f"prt_{id}_{number}", id, session, *times, _json(part))
        store.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)


def store_of(path: Path, *messages: tuple[str, str, Any, list[Any]]) -> Path:
    """Make a store of messages, each with its session, id, content and parts, and close it."""
    with closing(made(path, MESSAGES)) as store:
        for session in dict.fromkeys(message[0] for message in messages):
            add_session(store, session)
        for session, id, data, parts in messages:
            add_message(store, session, id, data, parts)
    return path


def findings(history: History, path: Path) -> list[Finding]:
    """All that is in a store, which must be readable."""
    readings = list(read_store(history, path))
    assert [reading.problem for reading in readings if reading.problem] == []
    return [finding for reading in readings for finding in reading.findings]


def _json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
