"""Switches a database to a write-ahead log, even while another process does the same."""

import sqlite3
import time

_POLL_S = 0.01


def use_write_ahead_log(connection: sqlite3.Connection, patience_s: float) -> None:
    """Switch to a write-ahead log; wait so long for a process that is in the way.

    SQLite's own waiting does not cover this one change: it reads first and writes then, and is
    refused at once if another process writes in between, as when two make the same database.
    """
    give_up_at = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() >= give_up_at:
                raise
        time.sleep(_POLL_S)
