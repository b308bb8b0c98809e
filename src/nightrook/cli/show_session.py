"""`rook show SESSION`: the whole conversation of a stored session."""

import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial

from nightrook import agents
from nightrook.archive.report.figures import Figures
from nightrook.archive.report.sessions import session_use
from nightrook.archive.session_files import user_homes
from nightrook.archive.sessions.copies import copies
from nightrook.archive.sessions.find import find_session, subagent_sessions
from nightrook.archive.sessions.reader import StoredSession
from nightrook.archive.sessions.story import session_story
from nightrook.cli.import_bar import current_archive
from nightrook.cli.show_story import StoryPage
from nightrook.cli.terminal.output import guarded
from nightrook.config.command_options import ShowOptions
from nightrook.display.console import Look
from nightrook.display.costs.table import spent
from nightrook.display.numbers import price, tokens
from nightrook.display.page import Heading, Page
from nightrook.display.reports.report import Report, cleaned
from nightrook.display.reports.session import SessionFacts, session_report
from nightrook.display.search_hits import resume_line
from nightrook.display.spending import TurnUse, spending_lines, subagent_titles
from nightrook.model.errors import NightrookError
from nightrook.model.redaction.redactor import Redactor
from nightrook.model.text import count
from nightrook.store.home import home_folder

_COMPARED = 60  # characters of a title


def show_session(id: str, options: ShowOptions, look: Look, *, verbose: bool) -> None:
    """Show a stored session as a page, or write it as a document."""
    with current_archive() as archive:
        kept = partial(copies, home_folder())
        session = find_session(archive.ledger, user_homes(), id, kept)
        ids = [session.id, *subagent_sessions(archive.ledger, session.agent, session.id)]
        used = session_use(archive.ledger.connection, session.agent, ids)
    if not session.files:
        raise NightrookError(_why_unread(session))
    SessionPage(session, used).show(options, look, verbose=verbose)


def _why_unread(session: StoredSession) -> str:
    if session.agent not in agents.HISTORIES:
        return f"sessions of {session.agent} can't be shown: their events are not read"
    return (
        f"{session.agent} has deleted the files of session {session.id}; "
        f"what is kept of it:  rook search --session {session.id[:8]} WORDS"
    )


class SessionPage(StoryPage):
    """A stored session; `used` is its usage in the ledger, including its subagents."""

    shows_prompts = True

    def __init__(self, session: StoredSession, used: Figures) -> None:
        super().__init__(session_story(session))
        self._session = session
        self._used = used
        items = self.story.timeline.items
        begun = [item.begin for item in items if item.begin is not None]
        ended = [item.end for item in items if item.end is not None]
        self._times = (min(begun), max((*begun, *ended))) if begun else None
        self._first_prompt = next((item.title for item in items if item.kind == "message"), None)

    @property
    def started_at(self) -> float | None:
        """Time of its first message."""
        return self._times[0] if self._times else None

    @property
    def where(self) -> str | None:
        """The folder in which it was started."""
        return self._session.project

    def page_turns(self) -> Sequence[TurnUse] | None:
        """Usage of each turn."""
        return self.turns

    def heading(self) -> Heading:
        """The title of the session, unless it only repeats the first prompt."""
        title, first = self._session.title, self._first_prompt or ""
        is_own = title is not None and not first.startswith(title[:_COMPARED])
        return Heading(
            run=self._session.id,
            kind="session",
            prompt=guarded(sys.stdout).redacted(title) if title and is_own else None,
            started_at=self.started_at,
        )

    def end(self, page: Page) -> Iterator[str]:
        """Yield the session's usage, and the command to resume it."""
        options = page.options
        yield from map(page.say, self._last_lines(verbose=options.verbose or options.full))

    def report(self) -> Report:
        """The report of the session, without secrets."""
        facts = SessionFacts(
            id=self._session.id,
            agent=self._session.agent,
            title=self._session.title or self._first_prompt,
            cost=spent(self._used),
            tokens=self._used.tokens.total or None,
            started_at=self.started_at,
            ended_at=self._times[1] if self._times else None,
        )
        return cleaned(session_report(facts, self.story.state), Redactor(os.environ).text)

    def _last_lines(self, *, verbose: bool) -> Iterator[str]:
        session, used = self._session, self._used
        parts = [count(len(self.turns), "turn")] if self.turns else []
        if used.tokens.total:
            parts.append(f"{tokens(used.tokens.total)} tokens")
            parts.append(price(spent(used)))
        if parts:
            yield "session: " + " · ".join(parts)
        titles = subagent_titles(self.story.timeline.items)
        yield from spending_lines(self.story.state.ledger, titles, verbose=verbose, turns=False)
        command = agents.transcript(session.agent).resume
        if command is not None:
            yield f"resume: {resume_line(session.project, command(session.id))}"
