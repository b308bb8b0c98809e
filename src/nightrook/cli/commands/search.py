"""`rook search`: finds sessions of all agents by the words in them."""

import os
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

import click
import msgspec

from nightrook import agents
from nightrook.archive.search.index import FILE, SearchIndex, is_damage, remove
from nightrook.archive.search.indexing import Progress, changed_sources, fill
from nightrook.archive.search.search import (
    EmptyQueryError,
    Found,
    Hit,
    SearchQuery,
    by_session,
    expression,
    search,
)
from nightrook.archive.session_files import user_homes
from nightrook.cli.import_bar import ImportBar
from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.session_filter import document_filter
from nightrook.cli.terminal.output import guarded, put_json
from nightrook.config.archive_options import SearchOptions, SessionFilter
from nightrook.config.user_settings import archive_keep
from nightrook.display.console import columns, look_of
from nightrook.display.search_hits import resume_line, session_lines
from nightrook.model.errors import NightrookError
from nightrook.model.text import count, encodable
from nightrook.store.home import home_folder

_EXAMPLES = """\b
Examples:
  rook search retry backoff
  rook search '"connection reset" -timeout' --since 30d
  rook search 'deploy*' --kind command --project shop
  rook search migration --agent codex --all
  rook search run_all --json | jq -r '.hits[].resume'
"""
_NOTHING = 1
_WIDE = 1000  # columns of a line in a pipe


@click.command("search", epilog=_EXAMPLES)
@takes("search", SessionFilter, SearchOptions)
@argument("words", nargs=-1, required=True, metavar="WORDS...")
def command(wanted: SessionFilter, options: SearchOptions, words: tuple[str, ...]) -> None:
    """Find the sessions of all agents in which words occur: prompts, answers, commands, outputs.

    All words must occur in one message; "several words" are a phrase, word* a beginning, -word must
    not occur. The first search indexes what agents keep on disk, the newest first, and shows what
    it finds meanwhile; Ctrl-C ends that, and the next search continues. What was indexed is found
    even when an agent has deleted its file. Exits with 1 if nothing was found.
    """
    query = _query(wanted, encodable(" ".join(words)))
    path = home_folder() / FILE
    try:
        found = _search(path, query, options)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):  # guards: damaged-index
            raise NightrookError(f"{path} can't be searched now: {error}; try again") from error
        remove(path)  # it was damaged while it was open: make it again
        found = _search(path, query, options)
    if not found:
        raise click.exceptions.Exit(_NOTHING)


def _search(path: Path, query: SearchQuery, options: SearchOptions) -> bool:
    """Index new documents, show the hits, and return True if there are any."""
    with SearchIndex.open(path) as index:
        if options.json:
            return _print_json(index, query, options.limit)
        shown = Results(index, query, options)
        progress = _fill(index, shown)
        shown.update()
    shown.end()
    _say_missing(progress)
    return shown.total > 0


def _query(options: SessionFilter, text: str) -> SearchQuery:
    try:
        expression(text)
    except EmptyQueryError as error:
        raise click.UsageError(str(error)) from None
    return SearchQuery(text=text, **msgspec.structs.asdict(document_filter(options)))


def _fill(index: SearchIndex, results: "Results") -> Progress:
    """Index new documents, with a bar, and show hits during that; Ctrl-C ends it."""
    last = Progress(0, 0, 0)
    with ImportBar(sys.stderr, os.environ, quiet_s=0) as bar:
        try:
            for last in fill(index, user_homes(), keep=archive_keep()):
                if last.left:
                    bar.clear()
                    results.update()
                    bar(last.done, last.total)
        except KeyboardInterrupt:
            bar.clear()
            last = last._replace(left=last.left or _unknown_rest(index))
    return last


def _unknown_rest(index: SearchIndex) -> int:
    """The number of files that are not indexed, if that ended before it was counted."""
    return len(changed_sources(index.connection, user_homes()))


def _say_missing(progress: Progress) -> None:
    if progress.is_busy:
        click.echo("[rook] another process is indexing: what it has not read is missing", err=True)
    elif progress.left:
        files = count(progress.left, "file")
        click.echo(f"[rook] {files} not indexed yet, the oldest ones: search again", err=True)


def _print_json(index: SearchIndex, query: SearchQuery, limit: int) -> bool:
    with ImportBar(sys.stderr, os.environ) as bar:
        for progress in fill(index, user_homes(), keep=archive_keep(), waits=True):
            bar(progress.done, progress.total)
    redact = guarded(sys.stdout).redacted
    found = search(index.connection, query, limit=limit, redact=redact)
    made = {"query": query.text, "total": found.total, "hits": [*map(hit_json, found.hits)]}
    put_json(sys.stdout, msgspec.json.encode(made))
    return found.total > 0


class Results:
    """Prints hits, each session once: the best first of each indexed part."""

    def __init__(self, index: SearchIndex, query: SearchQuery, options: SearchOptions) -> None:
        self._index = index
        self._query = query
        self._options = options
        self._look = look_of(sys.stdout, os.environ)
        self._shown: set[tuple[str, str]] = set()
        self._rounds = 0
        self.total = 0
        """The number of hits."""

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
    resume = agents.transcript(hit.agent).resume if hit.agent in agents.HISTORIES else None
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
