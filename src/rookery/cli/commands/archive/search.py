"""`rook search`: finds sessions of all agents by the words in them."""

import os
import sys
import time
from collections.abc import Sequence

import click
import msgspec

from rookery import agents
from rookery.archive.places import user_homes
from rookery.archive.words.database import FILE, Words
from rookery.archive.words.index import Progress, fill
from rookery.archive.words.query import EmptyQueryError, expression
from rookery.archive.words.search import Found, Hit, WordQuery, by_session, search
from rookery.cli.commands.archive.session_filter import chosen_period, chosen_project
from rookery.cli.live.output import put_json
from rookery.cli.options.parameters import argument, takes
from rookery.cli.reporting.import_bar import ImportBar
from rookery.cli.safe_output import guarded
from rookery.config.command_options import SearchOptions, SessionFilter
from rookery.display.console.look import columns, look_of
from rookery.display.sessions.found_words import session_lines
from rookery.model.text import count
from rookery.store.home import home_folder

_EXAMPLES = """\b
Examples:
  rook search retry backoff
  rook search '"connection reset" -timeout' --since 30d
  rook search 'deploy*' --kind command --project shop
  rook search migration --agent codex --all
  rook search run_all --json | jq -r '.hits[].resume'
"""
_NOTHING = 1
_MOST_HITS = 500  # from which the sessions are chosen


@click.command("search", epilog=_EXAMPLES)
@takes("search", SessionFilter, SearchOptions)
@argument("words", nargs=-1, required=True, metavar="WORDS...")
def search_(wanted: SessionFilter, options: SearchOptions, words: tuple[str, ...]) -> None:
    """Find the sessions of all agents in which words occur: prompts, answers, commands, outputs.

    All words must occur in one message; "several words" are a phrase, word* a beginning, -word must
    not occur. The first search indexes what agents keep on disk, the newest first; what was indexed
    is found even when an agent has deleted its file. Exits with 1 if nothing was found.
    """
    query = _query(wanted, " ".join(words))
    with Words.open(home_folder() / FILE) as index:
        progress = _fill(index)
        most = options.limit if options.all else _MOST_HITS
        redact = guarded(sys.stdout).redacted
        found = search(index.connection, query, limit=most, redact=redact)
    if options.json:
        _print_json(query, found, options.limit)
    else:
        _print(found, options)
        _say_missing(progress)
    if not found.hits:
        raise click.exceptions.Exit(_NOTHING)


def _query(options: SessionFilter, text: str) -> WordQuery:
    try:
        expression(text)
    except EmptyQueryError as error:
        raise click.UsageError(str(error)) from None
    since, until = chosen_period(options)
    return WordQuery(
        text=text,
        agent=options.agent,
        project=chosen_project(options),
        since=since,
        until=until,
        kind=options.kind,
        tool=options.tool,
        status=options.status,
        session=options.session,
    )


def _fill(index: Words) -> Progress:
    """Index what is new, with a bar; Ctrl-C ends that, and searches what is indexed."""
    last = Progress(0, 0, 0)
    with ImportBar(sys.stderr, os.environ) as bar:
        try:
            for last in fill(index, user_homes()):
                bar(last.done, last.total)
        except KeyboardInterrupt:
            click.echo(err=True)
    return last


def _say_missing(progress: Progress) -> None:
    if progress.is_busy:
        click.echo("[rook] another process is indexing: what it has not read is missing", err=True)
    elif progress.left:
        files = count(progress.left, "file")
        click.echo(f"[rook] {files} not indexed yet, the oldest ones: search again", err=True)


def _print(found: Found, options: SearchOptions) -> None:
    look, width = look_of(sys.stdout, os.environ), columns(sys.stdout)
    sessions = by_session(found.hits)[: options.limit]
    for hits in sessions:
        for line in session_lines(
            hits,
            resume=_resume(hits[0]),
            paint=look.paint(),
            now=time.time(),
            width=width if look.terminal else 1000,
            home=os.path.expanduser("~"),
            every=options.all,
        ):
            click.echo(line)
    hits_found, shown = count(found.total, "hit"), count(len(sessions), "session")
    click.echo(
        f"[rook] {hits_found}; {shown} shown" if found.total else "[rook] nothing found", err=True
    )


def _resume(hit: Hit) -> Sequence[str] | None:
    resume = agents.transcript(hit.agent).resume if hit.agent in agents.TRANSCRIPTS else None
    return None if resume is None else resume(hit.session)


def _print_json(query: WordQuery, found: Found, limit: int) -> None:
    hits = [_fields(hit) for hit in found.hits[:limit]]
    made = {"query": query.text, "total": found.total, "hits": hits}
    put_json(sys.stdout, msgspec.json.encode(made))


def _fields(hit: Hit) -> dict[str, object]:
    import shlex

    resume = _resume(hit)
    folder = f"cd {shlex.quote(hit.project)} && " if hit.project and resume else ""
    return {
        "agent": hit.agent,
        "session": hit.session,
        "project": hit.project,
        "at": hit.at,
        "kind": hit.kind,
        "excerpt": hit.excerpt,
        "source": hit.source,
        "position": hit.position,
        "resume": None if resume is None else folder + shlex.join(resume),
        "tool": hit.tool,
        "status": hit.status,
    }
