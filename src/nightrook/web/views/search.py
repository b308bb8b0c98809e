"""Words in the stored sessions of all agents."""

import asyncio
import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from nightrook.archive.report.local_time import period, zone_of
from nightrook.archive.search.documents import KINDS
from nightrook.archive.search.search import EmptyQueryError, SearchQuery
from nightrook.model.errors import OptionError
from nightrook.web.replies import ApiError
from nightrook.web.search.found import found_sessions
from nightrook.web.search.indexing import Indexing
from nightrook.web.site import site_of
from nightrook.web.views.parameters import number

_MOST_SESSIONS = 200
_LONGEST = 1000  # characters of what is looked for
_MS = 1000


async def search(request: Request) -> Response:
    """`GET /api/search`."""
    site = site_of(request)
    query = _query(request)
    limit = number(request, "limit", 50, most=_MOST_SESSIONS)
    site.indexing.begin()
    redact = site.redactor.text  # guards: search-redacted
    try:
        found = await asyncio.to_thread(found_sessions, site.indexing.path, query, limit, redact)
    except EmptyQueryError as error:
        raise ApiError(400, str(error)) from None
    return site.reply({**found, "indexing": _progress_json(site.indexing)})


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
