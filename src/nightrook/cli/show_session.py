"""`rook show SESSION`: the whole conversation of a stored session."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import click

from nightrook import agents
from nightrook.archive.report.figures import Figures
from nightrook.archive.report.sessions import session_use
from nightrook.archive.session_files import user_homes
from nightrook.archive.sessions.copies import copies
from nightrook.archive.sessions.find import find_session, subagent_sessions
from nightrook.archive.sessions.reader import StoredSession
from nightrook.archive.sessions.story import session_story
from nightrook.cli.import_bar import current_archive
from nightrook.cli.show_document import RunDocument, write_document
from nightrook.cli.terminal.output import guarded
from nightrook.cli.terminal.pager import paged
from nightrook.config.command_options import ShowOptions
from nightrook.display.console import Look, columns
from nightrook.display.costs.table import spent
from nightrook.display.document.steps import Steps, StepSource
from nightrook.display.event_lines import RunContext
from nightrook.display.numbers import price, tokens
from nightrook.display.page import Heading, Page, PageOptions
from nightrook.display.reports.report import cleaned
from nightrook.display.reports.session import SessionFacts, session_report
from nightrook.display.search_hits import resume_line
from nightrook.display.spending import TurnUse, spending_lines, subagent_titles, turn_uses
from nightrook.model.errors import NightrookError
from nightrook.model.redaction.redactor import Redactor
from nightrook.model.safe import safe_line
from nightrook.model.text import count, from_home
from nightrook.model.timeline import Timeline
from nightrook.store.home import home_folder
from nightrook.story.story import Story

_WIDEST_PAGE = 100
_COMPARED = 60  # characters of a title


class _Read(NamedTuple):
    """A session that was read from its first to its last record."""

    session: StoredSession
    story: Story
    turns: Sequence[TurnUse]
    used: Figures
    """What the ledger has counted for it, with its subagents."""

    @property
    def times(self) -> tuple[float, float] | None:
        """Its first and its last time, if it has any."""
        begun = [item.begin for item in self.story.timeline.items if item.begin is not None]
        ended = [item.end for item in self.story.timeline.items if item.end is not None]
        return (min(begun), max((*begun, *ended))) if begun else None


def show_session(id: str, options: ShowOptions, look: Look, *, verbose: bool) -> None:
    """Show a stored session as a page, or write it as a document."""
    read = _read(id)
    if options.html is not None or options.md or options.json:
        write_document(_document(read), options)
        return
    lines = _page(read, look, full=options.full, verbose=verbose)
    if look.terminal and not options.no_pager:
        paged(lines, os.environ)
        return
    for line in lines:
        click.echo(line)


def _read(id: str) -> _Read:
    with current_archive() as archive:
        kept = partial(copies, home_folder())
        session = find_session(archive.ledger, user_homes(), id, kept)
        ids = [session.id, *subagent_sessions(archive.ledger, session.agent, session.id)]
        used = session_use(archive.ledger.connection, session.agent, ids)
    if not session.files:
        raise NightrookError(_why_unread(session))
    story = session_story(session)
    items = story.timeline.items  # reads it whole
    assert items is not None
    return _Read(session, story, turn_uses(story.state.ledger), used)


def _why_unread(session: StoredSession) -> str:
    if session.agent not in agents.TRANSCRIPTS:
        return f"sessions of {session.agent} can't be shown: their events are not read"
    return (
        f"{session.agent} has deleted the files of session {session.id}; "
        f"what is kept of it:  rook search --session {session.id[:8]} WORDS"
    )


def _document(read: _Read) -> RunDocument:
    session, state, redactor = read.session, read.story.state, Redactor(os.environ)
    steps = Steps(
        StepSource(
            items=read.story.timeline.items,
            read=read.story.body,
            replacements=read.story.replacements,
            redact=redactor.text,  # guards: session-page-redacted
            cwd=state.cwd,
            turns=read.turns,
        )
    )
    times = read.times
    facts = SessionFacts(
        id=session.id,
        agent=session.agent,
        title=session.title or _first_prompt(read.story.timeline),
        cost=spent(read.used),
        tokens=read.used.tokens.total or None,
        started_at=times[0] if times else None,
        ended_at=times[1] if times else None,
    )
    report = cleaned(session_report(facts, state), redactor.text)
    about = tuple(redactor.text(each) for each in _about(read))
    return RunDocument(report, steps, read.turns, about)


def _about(read: _Read) -> Iterator[str]:
    """When a session started, and where."""
    if read.times is not None:
        yield time.strftime("%a %d %b %Y %H:%M", time.localtime(read.times[0]))
    if read.session.project:
        yield safe_line(from_home(read.session.project, os.path.expanduser("~")))


def _first_prompt(timeline: Timeline) -> str | None:
    return next((item.title for item in timeline.items if item.kind == "message"), None)


def _page(read: _Read, look: Look, *, full: bool, verbose: bool) -> Iterator[str]:
    session, paint, home = read.session, look.paint(), os.path.expanduser("~")
    redact = guarded(sys.stdout).redacted
    page = Page(
        session.agent,
        PageOptions(
            width=min(columns(sys.stdout), _WIDEST_PAGE),
            verbose=verbose and not full,
            full=full,
            home=home,
            prompts=True,
        ),
        paint=paint,
        context=RunContext(
            cwd=session.project or read.story.state.cwd, snapshot=read.story.snapshot, redact=redact
        ),
        read=read.story.body,
        replacements=read.story.replacements,
        turns=read.turns,
    )
    times = read.times
    yield from page.head(
        Heading(
            run=session.id,
            kind="session",
            prompt=_title(read, redact),
            started_at=None if times is None else times[0],
        )
    )
    yield from page.lines(read.story.timeline.items)
    prefix = paint("prefix", "[rook]")
    for line in _ending(read, verbose=verbose or full):
        yield f"{prefix} {line}"


def _title(read: _Read, redact: Callable[[str], str]) -> str | None:
    """The title of a session, unless it only repeats the first prompt."""
    title, first = read.session.title, _first_prompt(read.story.timeline) or ""
    return redact(title) if title and not first.startswith(title[:_COMPARED]) else None


def _ending(read: _Read, *, verbose: bool) -> Iterator[str]:
    """What the session used, and how to resume it."""
    session, used = read.session, read.used
    parts = [count(len(read.turns), "turn")] if read.turns else []
    if used.tokens.total:
        parts.append(f"{tokens(used.tokens.total)} tokens")
        parts.append(price(spent(used)))
    if parts:
        yield "session: " + " · ".join(parts)
    titles = subagent_titles(read.story.timeline.items)
    yield from spending_lines(read.story.state.ledger, titles, verbose=verbose, turns=False)
    command = agents.transcript(session.agent).resume
    if command is not None:
        yield f"resume: {resume_line(session.project, command(session.id))}"
