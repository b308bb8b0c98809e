"""The tables of the index of words. It may be deleted at any time: it is made again.

The words have no text of their own (`content=''`): what was indexed is in `texts`, compressed, so
that an excerpt can be shown when the agent has deleted its file. Identifiers such as `run_all` are
phrases, for which the index needs the places of words (the default, `detail=full`).
"""

FORMAT = 1
"""An index of another format is deleted and made again."""

TABLES = """
CREATE TABLE sources (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  path TEXT NOT NULL,
  session TEXT NOT NULL,                  -- in a SQLite store; otherwise empty
  stamp TEXT NOT NULL,                    -- changes when the file does
  size INTEGER NOT NULL,                  -- how far it was indexed
  UNIQUE (path, session)
) STRICT;

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  agent TEXT NOT NULL,
  session TEXT NOT NULL,
  project TEXT,
  UNIQUE (agent, session)
) STRICT;

CREATE TABLE names (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;

-- The text of documents: those of a few in one compressed block.
CREATE TABLE texts (
  id INTEGER PRIMARY KEY,
  data BLOB NOT NULL
) STRICT;

-- `id` grows with time: eight times the seconds since 2020, or the next number that is free.
CREATE TABLE documents (
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL,
  source_id INTEGER NOT NULL,
  offset INTEGER NOT NULL,                -- of its message in the source
  kind INTEGER NOT NULL,
  tool INTEGER,
  status INTEGER,
  text_id INTEGER,                        -- NULL if texts are not kept
  start INTEGER NOT NULL,                 -- in the text, in characters
  size INTEGER NOT NULL
) STRICT;
CREATE INDEX documents_of_sources ON documents (source_id);

CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='unicode61');
"""
