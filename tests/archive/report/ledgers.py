"""Ledgers with calls that tests choose, written as an import leaves them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from nightrook.archive.ledger.ledger import Ledger
from nightrook.archive.report.figures import Amounts
from nightrook.archive.report.local_time import zone_of
from nightrook.archive.report.query import CostQuery, keys_of

MILLION = 1_000_000
NAMED = ("model", "project", "branch", "subagent")
GROUP = ("quarter", "session_id", "model", "project", "branch", "subagent", "run_id")


def ms(moment: str) -> int:
    """A time with its offset, such as 2026-11-02T10:00Z, in milliseconds."""
    return round(datetime.fromisoformat(moment).timestamp() * 1000)


@contextmanager
def ledger(folder: Path, *calls: dict[str, Any]) -> Iterator[sqlite3.Connection]:
    """A ledger with these calls."""
    with Ledger.open(folder / "ledger.db") as opened:
        for call in calls:
            _add(opened.connection, **call)
        sums = ", ".join(f"sum({field})" for field in Amounts._fields)
        group = ", ".join(GROUP)
        opened.connection.execute("DELETE FROM sums")
        opened.connection.execute(
            f"INSERT INTO sums ({group}, {', '.join(Amounts._fields)})"
            f" SELECT {group}, {sums} FROM counted GROUP BY {group}"
        )
        yield opened.connection


def query(by: str = "day", *, timezone: str = "UTC", **wanted: Any) -> CostQuery:
    """A query as a person writes it; `since` and `until` are exact times."""
    for end in wanted.keys() & {"since", "until"}:
        wanted[end] = ms(wanted[end])
    return CostQuery(by=keys_of(by), zone=zone_of(timezone), **wanted)


def _add(connection: sqlite3.Connection, at: str, **given: Any) -> None:
    agent, session = given.pop("agent", "someone"), given.pop("session", "s1")
    title, parent, when = given.pop("title", None), given.pop("parent", None), ms(at)
    connection.execute(
        "INSERT INTO sessions (agent, session, project, title, parent, first_at, last_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
        " first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)",
        (agent, session, given.get("project"), title, parent, when, when),
    )
    (session_id,) = connection.execute(
        "SELECT id FROM sessions WHERE agent = ? AND session = ?", (agent, session)
    ).fetchone()
    for kind in NAMED:
        given[kind] = _name(connection, given.get(kind))
    if (run := given.pop("run", None)) is not None:
        given["run_id"] = _run(connection, run, given.pop("loop", None))
    (number,) = connection.execute("SELECT count(*) FROM calls").fetchone()
    fields = {
        "key": number,
        "session_id": session_id,
        "source_id": 1,
        "at": when,
        **given,
    }
    marks = ", ".join("?" * len(fields))
    connection.execute(
        f"INSERT INTO calls ({', '.join(fields)}) VALUES ({marks})", tuple(fields.values())
    )


def _name(connection: sqlite3.Connection, text: str | None) -> int | None:
    if text is None:
        return None
    connection.execute("INSERT OR IGNORE INTO names (text) VALUES (?)", (text,))
    found: int = connection.execute("SELECT id FROM names WHERE text = ?", (text,)).fetchone()[0]
    return found


def _run(connection: sqlite3.Connection, name: str, loop: str | None) -> int:
    connection.execute(
        "INSERT OR IGNORE INTO runs (name, loop, started_at, ended_at, stamp)"
        " VALUES (?, ?, 0, 0, '')",
        (name, loop),
    )
    found: int = connection.execute("SELECT id FROM runs WHERE name = ?", (name,)).fetchone()[0]
    return found
