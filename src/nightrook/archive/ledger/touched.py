"""The sessions that a batch changes, and which others depend on them."""

import sqlite3
from collections.abc import Iterable


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
