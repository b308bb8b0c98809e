"""The tables of the index of words. It may be deleted at any time: it is made again.

The words have no text of their own (`content=''`): what was indexed is in `blocks`, compressed, so
that an excerpt can be shown when the agent has deleted its file. Identifiers such as `run_all` are
phrases, for which the index needs the places of words (the default, `detail=full`).

Documents have no rows: those of a block are numbered one after another, from the number of the
block, and `blocks.py` says what is known of each. Numbers grow with time and are close together,
which makes the lists of an index small.
"""

FORMAT = 2
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

-- Some documents of a source, one after another.
CREATE TABLE blocks (
  id INTEGER PRIMARY KEY,                 -- the number of the first document: it grows with time
  count INTEGER NOT NULL,                 -- how many documents
  session_id INTEGER NOT NULL,
  source_id INTEGER NOT NULL,
  first_at INTEGER NOT NULL,              -- the times of its documents are between these two:
  last_at INTEGER NOT NULL,               -- milliseconds since 1970
  forgotten INTEGER NOT NULL DEFAULT 0,   -- whether its source was rewritten
  facts BLOB NOT NULL,                    -- of each document, as `blocks.py` packs them
  text BLOB                               -- all texts, compressed; NULL if they are not kept
) STRICT;
CREATE INDEX blocks_of_sources ON blocks (source_id);

CREATE VIRTUAL TABLE words USING fts5(
  text, content='', columnsize=0, tokenize='unicode61'
);
-- More words wait in memory (in bytes), and more parts are merged at once, than usual: otherwise
-- much of the time goes into merging.
INSERT INTO words (words, rank) VALUES ('hashsize', 33554432);
INSERT INTO words (words, rank) VALUES ('automerge', 16);
"""
