"""What Goose keeps on disk: a SQLite store with a row for each request to a model."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import msgspec

from nightrook.adapter.history import Call, Finding, History, Place, Query, Session
from nightrook.adapter.shapes import seconds_since_1970
from nightrook.adapter.usage import uncached

_MOST = 2**53  # tokens of one request
_DEAREST_USD = 1e6

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


def recognises(schema: bytes) -> bool:
    """Whether a store has the tables of Goose."""
    return b"usage_ledger" in schema or b"accumulated_input_tokens" in schema


def read_ledger(rows: Sequence[tuple[Any, ...]]) -> list[Finding]:
    """Read the requests of a session, and its facts.

    Sessions are numbered per day, so those of two machines may have the same id: the time belongs
    to the identity of a request.
    """
    session = _session(rows[0]) if rows else None
    if session is None:
        return []
    subagent = "subagent" if session.parent or rows[0][5] == "sub_agent" else None
    return [session, *(_call(row, session, subagent) for row in rows)]


def _session(row: tuple[Any, ...]) -> Session | None:
    id, parent, folder, name, updated = row[:5]
    if not _text(id):
        return None
    return Session(
        id=id,
        at=seconds_since_1970(updated),
        project=_text(folder),
        title=_text(name),
        parent=_text(parent),
    )


def _call(row: tuple[Any, ...], session: Session, subagent: str | None) -> Call:
    number, at, model, input, output, read, written, cost = row[6:]
    cache_read, cache_write = _count(read), _count(written)
    return Call(
        id=f"{session.id} {number} {at}",
        session=session.id,
        at=seconds_since_1970(at),
        model=_text(model),
        input=uncached(_count(input), cache_read, cache_write) or 0,
        output=_count(output),
        cache_read=cache_read,
        cache_write_5m=cache_write,
        cost_usd=_cost(cost),
        subagent=subagent,
        project=session.project,
    )


def read_totals(rows: Sequence[tuple[Any, ...]]) -> list[Finding]:
    """Read the sum of a session, for versions that did not store each request."""
    findings: list[Finding] = []
    for id, folder, updated, config, input, output in rows:
        if not _text(id) or not _count(input) + _count(output):
            continue
        at = seconds_since_1970(updated)
        findings.append(Session(id=id, at=at, project=_text(folder)))
        findings.append(
            Call(
                id=f"{id} total",
                session=id,
                at=at,
                model=_model(config),
                input=_count(input),
                output=_count(output),
                summed=True,
                project=_text(folder),
                fallback=True,
            )
        )
    return findings


def _model(config: object) -> str | None:
    try:
        named = msgspec.json.decode(config).get("model_name") if isinstance(config, str) else None
    except (ValueError, AttributeError, RecursionError):
        return None
    return _text(named)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 < value <= _MOST else 0


def _cost(value: object) -> float | None:
    """What was paid; 0 stands for an unknown price."""
    if not isinstance(value, int | float) or not 0 < value < _DEAREST_USD or not isfinite(value):
        return None
    return float(value)


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
    recognises=recognises,
    queries=(
        Query(changes=_LEDGER_CHANGES, rows=_LEDGER, read=read_ledger),
        Query(changes=_TOTALS_CHANGES, rows=_TOTALS, read=read_totals),
    ),
    notes=("Goose doesn't store the requests that make titles.",),
)
