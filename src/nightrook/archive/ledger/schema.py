"""The tables of the ledger, and the numbered migrations that lead to them.

Times are milliseconds since 1970, money is in nano-dollars; NULL means unknown. A database's
`user_version` is the number of migrations that it has. A migration is never changed once it is
released: add another one.
"""

import sqlite3
from collections.abc import Iterator

FIRST = """
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Models, projects, branches and subagents; other tables have their ids.
CREATE TABLE names (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;

-- The files that were read, and how far.
CREATE TABLE sources (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  path TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,                     -- lines, document or sqlite
  inode INTEGER NOT NULL DEFAULT 0,
  size INTEGER NOT NULL DEFAULT 0,
  mtime_ns INTEGER NOT NULL DEFAULT 0,
  position INTEGER NOT NULL DEFAULT 0,    -- all before it was read
  head_hash BLOB,                         -- of the first bytes before the position
  tail_hash BLOB,                         -- of the bytes around the position
  memory BLOB,                            -- what its reader remembers there: JSON, for lines zlib
  state TEXT NOT NULL DEFAULT 'ok',       -- ok, gone or unreadable
  rewritten INTEGER NOT NULL DEFAULT 0,   -- whether bytes that were read have changed
  problem TEXT
) STRICT;

CREATE INDEX unreadable_sources ON sources (path) WHERE state = 'unreadable';

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  session TEXT NOT NULL,                  -- its id, as the agent has it
  project TEXT,
  branch TEXT,
  title TEXT,
  version TEXT,
  parent TEXT,                            -- the session that it is a subagent of
  forked_from TEXT,                       -- the session whose conversation it continues
  first_at INTEGER,
  last_at INTEGER,
  facts_at TEXT NOT NULL DEFAULT '{}',    -- JSON: first and last time, others of facts
  UNIQUE (agent, session)
) STRICT;
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_by_fork ON sessions (forked_from) WHERE forked_from IS NOT NULL;

-- Each call once. `session_id`, `source_id`, `project`, `branch` and `subagent` are those of the
-- line that is the call's own rather than a copy.
CREATE TABLE calls (
  key BLOB PRIMARY KEY,                   -- hash of the agent and the call's identity
  session_id INTEGER NOT NULL,
  source_id INTEGER NOT NULL,             -- 0: a figure of a run
  at INTEGER,                             -- the earliest time, or an estimate of it
  timed INTEGER NOT NULL,                 -- whether the time was reported
  own_at INTEGER,                         -- the time of the line that is the call's own
  copied INTEGER NOT NULL,                -- whether all of its lines are copies
  model INTEGER,
  project INTEGER,
  branch INTEGER,
  subagent INTEGER,
  input INTEGER NOT NULL,                 -- without the cache
  output INTEGER NOT NULL,                -- with reasoning
  cache_read INTEGER NOT NULL,
  cache_write_5m INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL,
  reasoning INTEGER NOT NULL,
  web_searches INTEGER NOT NULL,
  fast INTEGER NOT NULL,
  summed INTEGER NOT NULL DEFAULT 0,      -- whether it is the sum of several calls
  fallback INTEGER NOT NULL,              -- counts only in a session that has no other calls
  lineage BLOB,                           -- what an ancestor's call must have for this to be a copy
  shared INTEGER NOT NULL,                -- whether lines of several sources are in it
  native_nano INTEGER,                    -- what the agent reports that it cost
  estimated_nano INTEGER,                 -- at list prices
  saved_nano INTEGER,                     -- what the cache saved, at list prices
  run_id INTEGER,
  share_nano INTEGER,                     -- its share of the cost of a run
  extra INTEGER NOT NULL DEFAULT 0,       -- whether it is what a run reports beyond its calls
  counted INTEGER NOT NULL DEFAULT 1      -- whether it is in the sums
) STRICT;
CREATE INDEX calls_by_session ON calls (session_id, at);
CREATE INDEX calls_without_time ON calls (session_id) WHERE timed = 0;
CREATE INDEX calls_of_lineages ON calls (session_id, lineage) WHERE lineage IS NOT NULL;
CREATE INDEX fallback_calls ON calls (session_id) WHERE fallback = 1;
CREATE INDEX uncounted_calls ON calls (session_id) WHERE counted = 0;
CREATE INDEX calls_of_runs ON calls (run_id) WHERE run_id IS NOT NULL;

-- Runs of rook.
CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  agent TEXT,
  session TEXT,
  loop TEXT,
  model TEXT,
  project TEXT,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  native_nano INTEGER,                    -- what the agent reports that the run cost
  estimated_nano INTEGER,                 -- our estimate, if the agent does not report it
  input INTEGER,
  output INTEGER,
  cache_read INTEGER,
  cache_write INTEGER,
  at_least INTEGER NOT NULL DEFAULT 0,    -- whether its agent does not report all that it used
  stamp TEXT NOT NULL                     -- changes when the run's files do
) STRICT;
CREATE INDEX runs_by_session ON runs (session);

-- The latest report of each limit.
CREATE TABLE limits (
  agent TEXT NOT NULL,
  window TEXT NOT NULL,
  plan TEXT NOT NULL,
  at INTEGER NOT NULL,
  used REAL,
  resets_at INTEGER,
  PRIMARY KEY (agent, window, plan)
) STRICT, WITHOUT ROWID;

-- The price of a model on a day (UTC), as JSON; null if it is unknown.
CREATE TABLE rates (
  model TEXT NOT NULL,
  day INTEGER NOT NULL,                   -- days since 1970
  price TEXT NOT NULL,
  PRIMARY KEY (model, day)
) STRICT, WITHOUT ROWID;

-- The calls that count, with the columns of `sums`. What a call does not report of its project
-- and branch is known of its session.
CREATE VIEW counted AS
SELECT
  at,
  at / 900000 AS quarter,
  session_id,
  model,
  coalesce(project, (
    SELECT n.id FROM sessions s JOIN names n ON n.text = s.project WHERE s.id = session_id
  )) AS project,
  coalesce(branch, (
    SELECT n.id FROM sessions s JOIN names n ON n.text = s.branch WHERE s.id = session_id
  )) AS branch,
  subagent,
  run_id,
  1 - extra AS calls,
  input,
  output,
  cache_read,
  cache_write_5m + cache_write_1h AS cache_write,
  coalesce(share_nano, native_nano, 0) AS native_nano,
  iif(coalesce(share_nano, native_nano) IS NULL, coalesce(estimated_nano, 0), 0) AS estimated_nano,
  iif(
    coalesce(share_nano, native_nano, estimated_nano) IS NULL,
    input + output + cache_read + cache_write_5m + cache_write_1h,
    0
  ) AS unpriced_tokens,
  coalesce(saved_nano, 0) AS saved_nano
FROM calls WHERE counted = 1;

-- The counted calls, added up per quarter of an hour; reports read these.
CREATE TABLE sums (
  quarter INTEGER NOT NULL,               -- at / 900000
  session_id INTEGER NOT NULL,
  model INTEGER,
  project INTEGER,
  branch INTEGER,
  subagent INTEGER,
  run_id INTEGER,
  calls INTEGER NOT NULL,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cache_read INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  native_nano INTEGER NOT NULL,
  estimated_nano INTEGER NOT NULL,        -- of calls whose cost the agent does not report
  unpriced_tokens INTEGER NOT NULL,       -- of calls with neither
  saved_nano INTEGER NOT NULL
) STRICT;
CREATE INDEX sums_by_session ON sums (session_id);
"""

# The first 8 of the 16 bytes of a key, as a number.
_NUMBER = " | ".join(
    f"((instr('0123456789ABCDEF', substr(hex(key), {digit + 1}, 1)) - 1) << {60 - 4 * digit})"
    for digit in range(16)
)

# The key is a number, which needs no index of its own.
SECOND = f"""
DROP VIEW counted;
ALTER TABLE calls RENAME TO calls_1;

-- Each call once. `session_id`, `source_id`, `project`, `branch` and `subagent` are those of the
-- line that is the call's own rather than a copy.
CREATE TABLE calls (
  key INTEGER PRIMARY KEY,                -- hash of the agent and the call's identity
  session_id INTEGER NOT NULL,
  source_id INTEGER NOT NULL,             -- 0: a figure of a run
  at INTEGER,                             -- the earliest time, or an estimate of it
  own_at INTEGER,                         -- the time of the call's own line, if it is another one;
                                          -- -1 if it has none
  model INTEGER,
  project INTEGER,
  branch INTEGER,
  subagent INTEGER,
  input INTEGER NOT NULL DEFAULT 0,       -- without the cache
  output INTEGER NOT NULL DEFAULT 0,      -- with reasoning
  cache_read INTEGER NOT NULL DEFAULT 0,
  cache_write_5m INTEGER NOT NULL DEFAULT 0,
  cache_write_1h INTEGER NOT NULL DEFAULT 0,
  reasoning INTEGER NOT NULL DEFAULT 0,
  web_searches INTEGER NOT NULL DEFAULT 0,
  native_nano INTEGER,                    -- what the agent reports that it cost
  estimated_nano INTEGER,                 -- at list prices
  saved_nano INTEGER,                     -- what the cache saved, at list prices
  timed INTEGER NOT NULL DEFAULT 1,       -- whether the time was reported
  copied INTEGER NOT NULL DEFAULT 0,      -- whether all of its lines are copies
  fast INTEGER NOT NULL DEFAULT 0,
  summed INTEGER NOT NULL DEFAULT 0,      -- whether it is the sum of several calls
  fallback INTEGER NOT NULL DEFAULT 0,    -- counts only in a session that has no other calls
  shared INTEGER NOT NULL DEFAULT 0,      -- whether lines of several sources are in it
  lineage BLOB,                           -- what an ancestor's call must have for this to be a copy
  run_id INTEGER,
  share_nano INTEGER,                     -- its share of the cost of a run
  extra INTEGER NOT NULL DEFAULT 0,       -- whether it is what a run reports beyond its calls
  counted INTEGER NOT NULL DEFAULT 1      -- whether it is in the sums
) STRICT;

INSERT INTO calls
SELECT {_NUMBER}, session_id, source_id, at,
  CASE WHEN timed = 0 THEN own_at WHEN own_at IS NULL THEN -1 ELSE nullif(own_at, at) END,
  model, project, branch, subagent, input, output, cache_read, cache_write_5m, cache_write_1h,
  reasoning, web_searches, native_nano, estimated_nano, saved_nano, timed, copied, fast, summed,
  fallback, shared, lineage, run_id, share_nano, extra, counted
FROM calls_1;
DROP TABLE calls_1;

CREATE INDEX calls_by_session ON calls (session_id, at);
CREATE INDEX calls_without_time ON calls (session_id) WHERE timed = 0;
CREATE INDEX calls_of_lineages ON calls (session_id, lineage) WHERE lineage IS NOT NULL;
CREATE INDEX fallback_calls ON calls (session_id) WHERE fallback = 1;
CREATE INDEX uncounted_calls ON calls (session_id) WHERE counted = 0;
CREATE INDEX calls_of_runs ON calls (run_id) WHERE run_id IS NOT NULL;

"""

_VIEW = FIRST.index("-- The calls that count"), FIRST.index("-- The counted calls, added up")

MIGRATIONS = (FIRST, SECOND + FIRST[_VIEW[0] : _VIEW[1]])


def version(connection: sqlite3.Connection) -> int:
    """Return the number of migrations a database has."""
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a database up to date, each migration in its own transaction.

    The connection must not begin transactions by itself.
    """
    while version(connection) < len(MIGRATIONS):
        connection.execute("BEGIN IMMEDIATE")
        done = version(connection)  # another process may have been quicker
        try:
            for statement in _statements("".join(MIGRATIONS[done : done + 1])):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {min(done + 1, len(MIGRATIONS))}")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def _statements(script: str) -> Iterator[str]:
    """Cut a script, because sqlite3 runs a whole one only outside of transactions."""
    statement = ""
    for line in script.split("\n"):
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
