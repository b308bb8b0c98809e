"""What a search found, by session, as the page shows it."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from nightrook import agents
from nightrook.archive.search.search import Found, Hit, SearchQuery, by_session, search
from nightrook.display.search_hits import resume_line

_MOST_HITS = 500  # from which the sessions are chosen
_MOST_OF_A_SESSION = 20

Redact = Callable[[str], str]


def found_sessions(path: Path, query: SearchQuery, limit: int, redact: Redact) -> dict[str, Any]:
    """The sessions with the best hits in the index at a path; none while it is being made.

    It only reads, so that it need not wait for a process that fills the index.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as index:
            found = search(index, query, limit=_MOST_HITS, redact=redact)
    except sqlite3.DatabaseError:
        found = Found([], 0)  # it is not there yet, or damaged: whatever fills it makes it again
    sessions = by_session(found.hits)
    shown = [session_json(hits) for hits in sessions[:limit]]
    return {"query": query.text, "total": found.total, "sessions": shown}


def session_json(hits: list[Hit]) -> dict[str, Any]:
    """A session: its hits, best first, and the command that resumes it."""
    best = hits[0]
    resume = agents.transcript(best.agent).resume if best.agent in agents.TRANSCRIPTS else None
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
