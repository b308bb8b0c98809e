"""The stores of OpenCode's and Kilo CLI's sessions, and their queries; `reader` reads the rows.

Both have a SQLite store of sessions, messages and their parts. OpenCode had a document for each
message before version 1.2, and version 2 has a message for each request, without parts.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nightrook.adapter.history import Finding, History, Place, Query, Transcript

if TYPE_CHECKING:
    from nightrook.adapter.stored import Stored

_TABLES = re.compile(rb'CREATE TABLE [`"]?(?:part|session_v2)\b')
_KILO_TABLES = re.compile(rb'CREATE TABLE [`"]?part\b')

CHANGES = """
SELECT id, time_updated || ' ' || coalesce(
  (SELECT max(rowid) FROM part WHERE session_id = session.id), 0)
FROM session
"""
"""The sessions. A step may be stored without a new `time_updated`, but it has a row of its own."""

STEPS = """
SELECT session.id, parent_id, directory, title, session.time_updated, NULL,
  message.id, message.data, part.data
FROM session
LEFT JOIN message ON message.session_id = session.id AND instr(message.data, '"assistant"')
LEFT JOIN part ON part.message_id = message.id AND instr(substr(part.data, 1, 1000), 'step-finish')
WHERE session.id = :key
ORDER BY message.time_created, message.id, part.id
"""
"""The steps of a session, and its messages without any, as `read_steps` reads them.

A step is small; what is looked for in a part that is not a step is its beginning alone.
"""

_V2_CHANGES = """
SELECT id, time_updated || ' ' || coalesce(
  (SELECT max(rowid) || ' ' || max(time_updated) FROM session_message
   WHERE session_id = session_v2.id), '')
FROM session_v2
"""
_V2_STEPS = """
SELECT session_v2.id, parent_id, directory, title, session_v2.time_updated, fork_session_id,
  session_message.id, session_message.data, NULL
FROM session_v2
LEFT JOIN session_message
  ON session_message.session_id = session_v2.id AND session_message.type = 'assistant'
WHERE session_v2.id = :key
ORDER BY session_message.time_created, session_message.id
"""

LINES = """
SELECT line FROM (
  SELECT 0 AS place, 0 AS at, '' AS message, '' AS part, json_object(
    'type', 'session', 'sessionID', id, 'timestamp', time_created,
    'directory', directory, 'version', version) AS line
  FROM session WHERE id = :key
  UNION ALL
  SELECT 1, message.time_created, message.id, part.id, json_object(
    'type', CASE
      WHEN json_extract(part.data, '$.type') = 'text'
        AND json_extract(message.data, '$.role') = 'user' THEN 'prompt'
      WHEN json_extract(part.data, '$.type') = 'tool' THEN 'tool_use'
      ELSE replace(json_extract(part.data, '$.type'), '-', '_') END,
    'sessionID', part.session_id,
    'timestamp', part.time_created,
    'part', json_set(part.data, '$.id', part.id, '$.messageID', part.message_id))
  FROM part JOIN message ON message.id = part.message_id
  WHERE part.session_id = :key AND json_valid(part.data) AND json_valid(message.data)
  UNION ALL
  SELECT 1, time_created, id, 'z', json_object(
    'type', 'error', 'sessionID', session_id, 'timestamp', time_updated,
    'error', json_extract(data, '$.error'))
  FROM message
  WHERE session_id = :key AND json_valid(data) AND json_extract(data, '$.error') IS NOT NULL
) ORDER BY place, at, message, part
"""
"""The parts of a session in the order in which they were made, as the stream has them."""


def _stored() -> "Stored":
    from nightrook.agents.opencode.reader import STORED

    return STORED


def _kilo_stored() -> "Stored":
    from nightrook.agents.opencode.reader import KILO_STORED

    return KILO_STORED


def _read_steps(rows: Sequence[tuple[Any, ...]]) -> Sequence[Finding]:
    from nightrook.agents.opencode.reader import read_steps

    return read_steps(rows)


def _read_kilo_steps(rows: Sequence[tuple[Any, ...]]) -> Sequence[Finding]:
    """7.7.9 adds the cost of a subagent to the message that called it; steps have their own."""
    from nightrook.agents.opencode.reader import read_steps

    return read_steps(rows, messages_have_costs=False)


def _is_of_opencode(head: bytes) -> bool:
    """True if a document or the schema of a store is OpenCode's; forks have tables of their own."""
    if _TABLES.search(head) is not None:
        return b"kilo" not in head
    return b'"ses_' in head and (b'"sessionID"' in head or b'"projectID"' in head)


def _is_of_kilo(schema: bytes) -> bool:
    return _KILO_TABLES.search(schema) is not None


def _place(below: str, files: str, **kind: Any) -> Place:
    return Place(home=".local/share", variable="XDG_DATA_HOME", below=below, files=files, **kind)


HISTORY = History(
    agent="opencode",
    places=(
        _place("opencode", r"opencode(-[^/]+)?\.db", kind="sqlite"),
        _place("opencode/storage", r"(?:message|session)/[^/]+/[^/]+\.json", kind="document"),
    ),
    recognises=_is_of_opencode,
    stored=_stored,
    queries=(
        Query(changes=CHANGES, rows=STEPS, read=_read_steps),
        Query(changes=_V2_CHANGES, rows=_V2_STEPS, read=_read_steps),
    ),
    notes=("OpenCode doesn't store the requests that make titles.",),
)

KILO_HISTORY = History(
    agent="kilo",
    places=(_place("kilo", r"kilo(-[^/]+)?\.db", kind="sqlite"),),
    recognises=_is_of_kilo,
    queries=(Query(changes=CHANGES, rows=STEPS, read=_read_kilo_steps),),
    notes=("Kilo CLI doesn't store the requests that make titles.",),
)


def _is_no_line(line: Mapping[str, Any]) -> bool:
    """Return False: the lines of a session are made by a query, and are in no file."""
    return False


TRANSCRIPT = Transcript(
    agent="opencode",
    recognises=_is_no_line,
    decoder=lambda **options: _stored().decoder(**options),
    resume=lambda session: ("opencode", "--session", session),
    query=LINES,
)

KILO_TRANSCRIPT = Transcript(
    agent="kilo",
    recognises=_is_no_line,
    decoder=lambda **options: _kilo_stored().decoder(**options),
    resume=lambda session: ("kilo", "--session", session),
    query=LINES,
)
