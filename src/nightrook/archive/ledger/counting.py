"""Decides which calls count and when they were, and adds them up for reports.

A batch touches sessions, and what follows from their calls is computed again: the times of calls
without one, which calls count, and the sums of each quarter of an hour. Sessions depend on each
other, as a fork on what it continues and a session on its subagents; `Touched` finds them.
"""

import sqlite3
from collections.abc import Iterable

from nightrook.archive.ledger.calls import Names, all_rows, from_row
from nightrook.archive.ledger.pricing import KeptPrices


class Touched:
    """Sessions whose calls are settled and added up again, in a temporary table."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.execute("CREATE TEMP TABLE IF NOT EXISTS touched (id INTEGER PRIMARY KEY)")
        connection.execute("DELETE FROM touched")

    def add(self, sessions: Iterable[int]) -> None:
        """Add sessions by their ids."""
        rows = ((number,) for number in sessions)
        self._connection.executemany("INSERT OR IGNORE INTO touched VALUES (?)", rows)

    def remove(self, sessions: Iterable[int]) -> None:
        """Remove sessions by their ids."""
        rows = ((number,) for number in sessions)
        self._connection.executemany("DELETE FROM touched WHERE id = ?", rows)

    def add_all(self) -> None:
        """Add all sessions."""
        self._connection.execute("INSERT OR IGNORE INTO touched SELECT id FROM sessions")

    def add_descendants(self) -> None:
        """Add the sessions that fork them or that they have as subagents, and so on."""
        self._connection.execute(_DESCENDANTS)

    def add_trees(self) -> None:
        """Add the sessions of which they are subagents, with all of their subagents."""
        self._connection.execute(_ROOTS)
        self._connection.execute(_SUBAGENTS)


# UNION, not UNION ALL: sessions that name each other as ancestors end the search. Two searches in
# place of an OR use the indexes.
_DESCENDANTS = """
WITH RECURSIVE found (id) AS (
  SELECT id FROM touched
  UNION
  SELECT child.id FROM found
  JOIN sessions ancestor ON ancestor.id = found.id
  JOIN sessions child ON child.agent = ancestor.agent AND child.parent = ancestor.session
  UNION
  SELECT child.id FROM found
  JOIN sessions ancestor ON ancestor.id = found.id
  JOIN sessions child ON child.agent = ancestor.agent AND child.forked_from = ancestor.session
)
INSERT OR IGNORE INTO touched SELECT id FROM found
"""

_ROOTS = """
WITH RECURSIVE found (id) AS (
  SELECT id FROM touched
  UNION
  SELECT parent.id FROM found
  JOIN sessions child ON child.id = found.id
  JOIN sessions parent ON parent.agent = child.agent AND parent.session = child.parent
)
INSERT OR IGNORE INTO touched SELECT id FROM found
"""

_SUBAGENTS = """
WITH RECURSIVE found (id) AS (
  SELECT id FROM touched
  UNION
  SELECT child.id FROM found
  JOIN sessions parent ON parent.id = found.id
  JOIN sessions child ON child.agent = parent.agent AND child.parent = parent.session
)
INSERT OR IGNORE INTO touched SELECT id FROM found
"""


_TOUCHED = "session_id IN (SELECT id FROM touched)"

# A call without a time has that of its session's last message, else that of its file.
_TIMES = f"""
UPDATE calls SET at = coalesce(
  (SELECT json_extract(facts_at, '$.last') FROM sessions s WHERE s.id = calls.session_id),
  (SELECT max(at) FROM calls o
    WHERE o.session_id = calls.session_id AND o.timed = 1 AND o.source_id != 0),
  (SELECT mtime_ns / 1000000 FROM sources f WHERE f.id = calls.source_id), 0)
WHERE timed = 0 AND {_TOUCHED}
"""

_NEVER = 1 << 60
_RANGES = f"""
UPDATE sessions SET
  first_at = nullif(min(coalesce(json_extract(facts_at, '$.first'), {_NEVER}),
    coalesce((SELECT min(at) FROM calls WHERE session_id = sessions.id), {_NEVER})), {_NEVER}),
  last_at = nullif(max(coalesce(json_extract(facts_at, '$.last'), 0),
    coalesce((SELECT max(at) FROM calls WHERE session_id = sessions.id), 0)), 0)
WHERE id IN (SELECT id FROM touched)
"""

_COUNT_ALL = f"UPDATE calls SET counted = 1 WHERE counted = 0 AND {_TOUCHED}"

_LEAVE_OUT_FALLBACKS = f"""
UPDATE calls SET counted = 0
WHERE fallback = 1 AND {_TOUCHED}
  AND EXISTS (SELECT 1 FROM calls o
    WHERE o.session_id = calls.session_id AND o.fallback = 0 AND o.source_id != 0)
"""

# A call is inherited if a session that its session forks, however far back, has it as well. Of
# sessions that name each other as ancestors, the first by id has it.
_LEAVE_OUT_INHERITED = """
WITH RECURSIVE ancestors (id, ancestor) AS (
  SELECT id, id FROM touched
  WHERE EXISTS (SELECT 1 FROM calls WHERE session_id = touched.id AND lineage IS NOT NULL)
  UNION
  SELECT a.id, older.id FROM ancestors a
  JOIN sessions s ON s.id = a.ancestor
  JOIN sessions older ON older.agent = s.agent AND older.session IN (s.parent, s.forked_from)
)
UPDATE calls SET counted = 0 WHERE key IN (
  SELECT c.key FROM ancestors a
  JOIN calls c ON c.session_id = a.id AND c.lineage IS NOT NULL
  JOIN calls o ON o.session_id = a.ancestor AND o.lineage = c.lineage AND o.lineage IS NOT NULL
  WHERE a.ancestor != a.id AND NOT (
    EXISTS (SELECT 1 FROM ancestors back WHERE back.id = a.ancestor AND back.ancestor = a.id)
    AND (SELECT session FROM sessions WHERE id = a.id)
      < (SELECT session FROM sessions WHERE id = a.ancestor))
)
"""

QUARTER_MS = 900_000
_KEYS = "quarter, session_id, model, project, branch, subagent, run_id"
_AMOUNTS = (
    *("calls", "input", "output", "cache_read", "cache_write"),
    *("native_nano", "estimated_nano", "unpriced_tokens", "saved_nano"),
)
_SUMS = (
    f"INSERT INTO sums ({_KEYS}, {', '.join(_AMOUNTS)}) "
    f"SELECT {_KEYS}, {', '.join(f'sum({name})' for name in _AMOUNTS)} "
    f"FROM counted WHERE session_id IN (SELECT id FROM touched) GROUP BY {_KEYS}"
)


def settle(
    connection: sqlite3.Connection, touched: Touched, prices: KeptPrices, names: Names
) -> None:
    """Settle the calls of all touched sessions, and of those that depend on them."""
    touched.add_descendants()
    connection.execute(_TIMES)
    reprice(connection, prices, names, f"c.timed = 0 AND c.{_TOUCHED}")
    connection.execute(_COUNT_ALL)
    connection.execute(_LEAVE_OUT_FALLBACKS)  # guards: fallback-calls
    connection.execute(_LEAVE_OUT_INHERITED)  # guards: fork-counted-once


def set_ranges(connection: sqlite3.Connection) -> None:
    """Set the first and the last time of all touched sessions."""
    connection.execute(_RANGES)


def make_sums(connection: sqlite3.Connection) -> None:
    """Make the sums of all touched sessions again."""
    connection.execute("DELETE FROM sums WHERE session_id IN (SELECT id FROM touched)")
    connection.execute(_SUMS)


def reprice(connection: sqlite3.Connection, prices: KeptPrices, names: Names, where: str) -> None:
    """Compute the list prices of the calls for which a condition holds."""
    rows = all_rows(connection, where)
    costs = ((*prices.cost(from_row(row, names).usage, row[3]), row[0]) for row in rows)
    connection.executemany(
        "UPDATE calls SET estimated_nano = ?, saved_nano = ? WHERE key = ?", list(costs)
    )
