"""Words in the stored sessions of all agents."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nightrook import agents
from nightrook.archive.report.local_time import period, zone_of
from nightrook.archive.search.documents import KINDS
from nightrook.archive.search.search import EmptyQueryError, Found, Hit, SearchQuery, by_session
from nightrook.archive.search.search import search as search_index
from nightrook.display.search_hits import resume_line
from nightrook.model.errors import OptionError
from nightrook.web.api.parameters import number
from nightrook.web.app_state import app_state
from nightrook.web.replies import ApiError
from nightrook.web.search_indexing import Indexing

_MOST_HITS = 500  # from which the sessions are chosen
_MOST_OF_A_SESSION = 20

Redact = Callable[[str], str]
_MOST_SESSIONS = 200
_LONGEST = 1000  # characters of what is looked for
_MS = 1000


async def search(request: Request) -> Response:
    """`GET /api/search`."""
    state = app_state(request)
    query = _query(request)
    limit = number(request, "limit", 50, most=_MOST_SESSIONS)
    state.indexing.begin()
    redact = state.redactor.text  # guards: search-redacted
    try:
        found = await asyncio.to_thread(found_sessions, state.indexing.path, query, limit, redact)
    except EmptyQueryError as error:
        raise ApiError(400, str(error)) from None
    return state.reply({**found, "indexing": _progress_json(state.indexing)})


def _query(request: Request) -> SearchQuery:
    asked = request.query_params
    text = asked.get("words", "")
    if len(text) > _LONGEST:
        raise ApiError(400, f"words has at most {_LONGEST} characters")
    kinds = {str(kind): kind for kind in KINDS}
    kind = asked.get("kind") or None
    if kind is not None and kind not in kinds:
        raise ApiError(400, f"kind must be {' or '.join(kinds)}, not {kind[:40]!r}")
    since, until = _period(asked.get("since") or None, asked.get("until") or None)
    return SearchQuery(
        text=text,
        agent=asked.get("agent") or None,
        project=asked.get("project") or None,
        since=since,
        until=until,
        kind=None if kind is None else kinds[kind],
        session=asked.get("session") or None,
    )


def _period(since: str | None, until: str | None) -> tuple[float | None, float | None]:
    try:
        first, end = period(since, until, zone_of(None), time.time())
    except OptionError as error:
        raise ApiError(400, str(error)) from None
    return (None if first is None else first / _MS, None if end is None else end / _MS)


def _progress_json(indexing: Indexing) -> dict[str, Any] | None:
    progress = indexing.progress
    if progress is None:
        return None
    return {"done": progress.done, "total": progress.total, "left": progress.left}


def found_sessions(path: Path, query: SearchQuery, limit: int, redact: Redact) -> dict[str, Any]:
    """The sessions with the best hits in the index at a path; none while it is being made.

    It only reads, so that it need not wait for a process that fills the index.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as index:
            found = search_index(index, query, limit=_MOST_HITS, redact=redact)
    except sqlite3.DatabaseError:
        found = Found([], 0)  # it is not there yet, or damaged: whatever fills it makes it again
    sessions = by_session(found.hits)
    shown = [session_json(hits) for hits in sessions[:limit]]
    return {"query": query.text, "total": found.total, "sessions": shown}


def session_json(hits: list[Hit]) -> dict[str, Any]:
    """A session: its hits, best first, and the command that resumes it."""
    best = hits[0]
    resume = agents.transcript(best.agent).resume if best.agent in agents.HISTORIES else None
    command = None if resume is None else resume(best.session)
    return {
        "agent": best.agent,
        "session": best.session,
        "project": best.project,
        "at": best.at,
        "resume": None if command is None else resume_line(best.project, command),
        "count": len(hits),
        "hits": [_hit_json(hit) for hit in hits[:_MOST_OF_A_SESSION]],
    }


def _hit_json(hit: Hit) -> dict[str, Any]:
    return {
        "kind": hit.kind,
        "tool": hit.tool,
        "status": hit.status,
        "at": hit.at,
        "parts": list(_parts(hit)),
        "source": hit.source,
        "position": hit.position,
    }


def _parts(hit: Hit) -> Iterator[tuple[str, bool]]:
    """The excerpt in pieces, each with whether it is a word that was looked for."""
    at = 0
    for begin, end in hit.marks:
        yield hit.excerpt[at:begin], False
        yield hit.excerpt[begin:end], True
        at = end
    yield hit.excerpt[at:], False


ROUTES = [
    Route("/api/search", search),
]
