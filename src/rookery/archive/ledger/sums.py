"""The sums of sessions, deleted and made again from their calls."""

import sqlite3

_KEYS = "quarter, session_id, model, project, branch, subagent, run_id"
_AMOUNTS = (
    *("calls", "input", "output", "cache_read", "cache_write"),
    *("native_nano", "estimated_nano", "unpriced_tokens", "saved_nano"),
)
_MAKE = (
    f"INSERT INTO sums ({_KEYS}, {', '.join(_AMOUNTS)}) "
    f"SELECT {_KEYS}, {', '.join(f'sum({name})' for name in _AMOUNTS)} "
    f"FROM counted WHERE session_id IN (SELECT id FROM touched) GROUP BY {_KEYS}"
)


def make_sums(connection: sqlite3.Connection) -> None:
    """Make the sums of all touched sessions again."""
    connection.execute("DELETE FROM sums WHERE session_id IN (SELECT id FROM touched)")
    connection.execute(_MAKE)
