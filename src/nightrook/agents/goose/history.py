"""The SQLite store of Goose's sessions, and the queries for it; `reader` reads the rows."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nightrook.adapter.history import Finding, History, Place, Query, Transcript

if TYPE_CHECKING:
    from nightrook.adapter.stored import Stored

_LEDGER_CHANGES = """
SELECT session_id, max(id) || ' ' || coalesce(
  (SELECT updated_at FROM sessions WHERE sessions.id = session_id), '')
FROM usage_ledger GROUP BY session_id
"""
_LEDGER = """
SELECT ledger.session_id, parent_session_id, working_dir, name, updated_at, session_type,
  ledger.id, created_timestamp, model, ledger.input_tokens, ledger.output_tokens,
  ledger.cache_read_tokens, ledger.cache_write_tokens, cost
FROM usage_ledger AS ledger LEFT JOIN sessions ON sessions.id = ledger.session_id
WHERE ledger.session_id = :key ORDER BY ledger.id
"""
_TOTALS_CHANGES = "SELECT id, coalesce(updated_at, '') FROM sessions"
_TOTALS = """
SELECT id, working_dir, updated_at, model_config_json, accumulated_input_tokens,
  accumulated_output_tokens
FROM sessions WHERE id = :key
"""

LINES = """
SELECT line FROM (
  SELECT 0 AS place, 0 AS id, json_object(
    'type', 'session', 'id', id, 'at', created_at, 'cwd', working_dir) AS line
  FROM sessions WHERE id = :key
  UNION ALL
  SELECT 1, id, json_object(
    'type', 'message', 'at', created_timestamp, 'message', json_object(
      'id', message_id, 'role', role, 'content', json(content_json),
      'metadata', json(iif(json_valid(metadata_json), metadata_json, '{}'))))
  FROM messages WHERE session_id = :key AND json_valid(content_json)
) ORDER BY place, id
"""
"""The messages of a session in the order in which they were stored."""

CHANGES = """
SELECT id, updated_at || ' ' || coalesce(
  (SELECT max(messages.id) FROM messages WHERE session_id = sessions.id), 0)
FROM sessions
"""
"""All sessions: the history leaves out those that used nothing."""


def _stored() -> "Stored":
    from nightrook.agents.goose.reader import STORED

    return STORED


def _read_ledger(rows: Sequence[tuple[Any, ...]]) -> Sequence[Finding]:
    from nightrook.agents.goose.reader import read_ledger

    return read_ledger(rows)


def _read_totals(rows: Sequence[tuple[Any, ...]]) -> Sequence[Finding]:
    from nightrook.agents.goose.reader import read_totals

    return read_totals(rows)


def _has_tables(schema: bytes) -> bool:
    return b"usage_ledger" in schema or b"accumulated_input_tokens" in schema


HISTORY = History(
    agent="goose",
    places=(
        Place(
            home=".local/share",
            variable="XDG_DATA_HOME",
            below="goose/sessions",
            files=r"sessions\.db",
            kind="sqlite",
        ),
    ),
    recognises=_has_tables,
    queries=(
        Query(changes=_LEDGER_CHANGES, rows=_LEDGER, read=_read_ledger),
        Query(changes=_TOTALS_CHANGES, rows=_TOTALS, read=_read_totals),
    ),
    notes=("Goose doesn't store the requests that make titles.",),
)


def _recognises(message: Mapping[str, Any]) -> bool:
    """Return False: the sessions are in a store, not in files of lines."""
    return False


def _resume(session: str) -> Sequence[str]:
    return ("goose", "session", "--resume", "--session-id", session)


TRANSCRIPT = Transcript(
    agent="goose",
    recognises=_recognises,
    decoder=lambda **options: _stored().decoder(**options),
    resume=_resume,
    query=LINES,
    changes=CHANGES,
)
