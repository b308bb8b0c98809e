"""What `rook search` shows: the best hits, and while the index is made, what is found meanwhile."""

import os
import sys
import time
from typing import Any

import click

from nightrook import agents
from nightrook.archive.words.database import Words
from nightrook.archive.words.search import Found, Hit, WordQuery, by_session, search
from nightrook.cli.safe_output import guarded
from nightrook.config.archive.options import SearchOptions
from nightrook.display.console.look import columns, look_of
from nightrook.display.sessions.found_words import resume_line, session_lines
from nightrook.model.text import count

_WIDE = 1000  # columns of a line in a pipe


class Results:
    """Prints what is found, each session once: the best first of what was indexed meanwhile."""

    def __init__(self, index: Words, query: WordQuery, options: SearchOptions) -> None:
        self._index = index
        self._query = query
        self._options = options
        self._look = look_of(sys.stdout, os.environ)
        self._shown: set[tuple[str, str]] = set()
        self._rounds = 0
        self.total = 0
        """How many hits there are."""

    def update(self) -> None:
        """Print the sessions that are found now and were not before."""
        limit, every = self._options.limit, self._options.all
        found = search(
            self._index.connection,
            self._query,
            limit=limit + len(self._shown),
            per_session=None if every else 1,
            redact=guarded(sys.stdout).redacted,
        )
        self.total = found.total
        before = len(self._shown)
        for hits in by_session(found.hits):
            key = (hits[0].agent, hits[0].session)
            if key not in self._shown and len(self._shown) < limit:
                self._shown.add(key)
                self._print(hits, found)
        self._rounds += len(self._shown) > before
        sys.stdout.flush()

    def end(self) -> None:
        """Print how much was found."""
        if not self.total:
            click.echo("[rook] nothing found", err=True)
            return
        sessions = count(len(self._shown), "session")
        click.echo(f"[rook] {count(self.total, 'hit')}; {sessions} shown", err=True)
        if self._rounds > 1:
            click.echo("[rook] shown as they were indexed; search again: best first", err=True)

    def _print(self, hits: list[Hit], found: Found) -> None:
        best = hits[0]
        for line in session_lines(
            hits,
            others=found.counts.get((best.agent, best.session), len(hits)) - len(hits),
            resume=resume_of(best),
            paint=self._look.paint(),
            now=time.time(),
            width=columns(sys.stdout) if self._look.terminal else _WIDE,
            home=os.path.expanduser("~"),
        ):
            click.echo(line)


def resume_of(hit: Hit) -> str | None:
    """The command that resumes the session of a hit; None if none does."""
    resume = agents.transcript(hit.agent).resume if hit.agent in agents.TRANSCRIPTS else None
    return None if resume is None else resume_line(hit.project, resume(hit.session))


def hit_json(hit: Hit) -> dict[str, Any]:
    """A hit for programs."""
    return {
        "agent": hit.agent,
        "session": hit.session,
        "project": hit.project,
        "at": hit.at,
        "kind": hit.kind,
        "excerpt": hit.excerpt,
        "source": hit.source,
        "position": hit.position,
        "resume": resume_of(hit),
        "tool": hit.tool,
        "status": hit.status,
    }
