"""The sums of sessions, deleted and made again from their calls."""

import sqlite3

QUARTER_MS = 900_000
"""The sums are per quarter of an hour: there are time zones that differ by half an hour."""

_KEYS = "session_id, model, project, branch, subagent, run_id"

# Tokens are unpriced if neither the agent nor the list says what they cost.
_SUMS = f"""
INSERT INTO sums
SELECT quarter, session_id, model, coalesce(g.project, p.id), coalesce(g.branch, b.id),
  subagent, run_id, calls, input, output, cache_read, cache_write, native, estimated,
  unpriced, saved
FROM (
  SELECT at / {QUARTER_MS} AS quarter, {_KEYS}, sum(1 - extra) AS calls, sum(input) AS input,
    sum(output) AS output, sum(cache_read) AS cache_read,
    sum(cache_write_5m + cache_write_1h) AS cache_write,
    sum(coalesce(share_nano, native_nano, 0)) AS native,
    sum(iif(coalesce(share_nano, native_nano) IS NULL, coalesce(estimated_nano, 0), 0))
      AS estimated,
    sum(iif(coalesce(share_nano, native_nano, estimated_nano) IS NULL,
      input + output + cache_read + cache_write_5m + cache_write_1h, 0)) AS unpriced,
    sum(coalesce(saved_nano, 0)) AS saved
  FROM touched t JOIN calls c ON c.session_id = t.id
  WHERE counted = 1
  GROUP BY quarter, {_KEYS}
) g
JOIN sessions s ON s.id = g.session_id
LEFT JOIN names p ON p.text = s.project
LEFT JOIN names b ON b.text = s.branch
"""


def make_sums(connection: sqlite3.Connection) -> None:
    """Make the sums of all touched sessions again."""
    connection.execute("DELETE FROM sums WHERE session_id IN (SELECT id FROM touched)")
    connection.execute(_SUMS)
