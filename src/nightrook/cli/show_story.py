"""Shows a story, of a run or of a session: as a page, or as a document to keep or to send.

A `StoryPage` says what only a run, or only a session, has: what heads the page, what ends it, and
the report that begins a document. All the rest is drawn from the story in the same way.
"""

import os
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click
import msgspec

from nightrook.cli.reports import report_of_run
from nightrook.cli.terminal.ending import ending_lines
from nightrook.cli.terminal.output import guarded, put_json
from nightrook.cli.terminal.pager import paged
from nightrook.cli.terminal.raw_text import last_words, shown_text
from nightrook.config.command_options import ShowOptions
from nightrook.display import event_lines
from nightrook.display.console import Look, columns
from nightrook.display.document.html_page import html_page
from nightrook.display.document.markdown_page import markdown_lines
from nightrook.display.document.steps import Steps, document_object
from nightrook.display.ending import Shown
from nightrook.display.numbers import price
from nightrook.display.page import Heading, Page, PageOptions
from nightrook.display.reports.report import Report
from nightrook.display.spending import TurnUse, spending_lines, subagent_titles, turn_uses
from nightrook.model.answer import final_text
from nightrook.model.durations import duration
from nightrook.model.redaction.redactor import Redactor
from nightrook.model.safe import safe_line
from nightrook.model.snapshot import Snapshot
from nightrook.model.text import encodable, from_home, suggested
from nightrook.store.list import Row
from nightrook.story.feed import iterate
from nightrook.story.story import Story

_WIDEST_PAGE = 100

# guards: export-private
_MODE = 0o600  # a run may contain anything


class StoryPage:
    """A story as it is shown: the base of `RunPage` and the page of sessions."""

    shows_prompts = False
    """True if the page shows the user's messages: more than the prompt that heads it."""

    def __init__(self, story: Story, *, is_running: bool = False) -> None:
        self.story = story
        story.read_to_end()
        self.turns = turn_uses(story.state.ledger)
        self.home = os.path.expanduser("~")
        self._is_running = is_running

    @property
    def started_at(self) -> float | None:
        """Start in seconds since 1970."""
        raise NotImplementedError

    def heading(self) -> Heading:
        """The heading of the page."""
        raise NotImplementedError

    def end(self, page: Page) -> Iterator[str]:
        """Yield the lines of the page below the last step."""
        raise NotImplementedError

    def report(self) -> Report:
        """The report that begins a document, without secrets."""
        raise NotImplementedError

    def page_turns(self) -> Sequence[TurnUse] | None:
        """Usage of each turn on the page; None shows none."""
        return None

    def document_turns(self) -> Sequence[TurnUse] | None:
        """Usage of each turn in a document; None shows none."""
        return self.turns

    def show(self, options: ShowOptions, look: Look, *, verbose: bool) -> None:
        """Show it as the options ask for: a document, or a page, in the pager or printed."""
        if options.html is not None or options.md or options.json:
            self._write_document(options)
        elif look.terminal and not options.no_pager:
            paged(self._lines(look, full=options.full, verbose=verbose), os.environ)
        else:
            for line in self._lines(look, full=options.full, verbose=verbose):
                click.echo(line)

    def _lines(self, look: Look, *, full: bool, verbose: bool) -> Iterator[str]:
        page = Page(
            self.story,
            PageOptions(
                width=min(columns(sys.stdout), _WIDEST_PAGE),
                verbose=verbose and not full,
                full=full,
                home=self.home,
                prompts=self.shows_prompts,
                now=time.time() if self._is_running else None,
            ),
            paint=look.paint(),
            redact=guarded(sys.stdout).redacted,
            turns=self.page_turns(),
        )
        yield from page.head(self.heading())
        yield from map(shown_text, iterate(self.story.feed.lines("stdout")))
        yield from page.lines()
        yield from self.end(page)

    def _write_document(self, options: ShowOptions) -> None:
        if (options.html is not None) + options.md + options.json > 1:
            raise click.UsageError("--html, --md and --json can't be combined.")
        report = self.report()
        redact = Redactor(os.environ).text  # guards: session-page-redacted
        steps = Steps(self.story, redact, self.document_turns())
        if options.html is not None:
            about = [redact(each) for each in self._about()]
            _write(Path(options.html), html_page(report, steps, about=about))
        elif options.json:
            put_json(sys.stdout, msgspec.json.encode(document_object(report, steps, self.turns)))
        else:
            for line in markdown_lines(report, steps, full=options.full):
                click.echo(line)

    def _about(self) -> Iterator[str]:
        """The time and the place of its start."""
        if self.started_at is not None:
            yield time.strftime("%a %d %b %Y %H:%M", time.localtime(self.started_at))
        if self.where:
            yield safe_line(from_home(self.where, self.home))

    @property
    def where(self) -> str | None:
        """The folder in which it was started."""
        raise NotImplementedError


class RunPage(StoryPage):
    """A run, over or as far as it has come; `live` has its state while it runs."""

    def __init__(self, story: Story, live: Row | None) -> None:
        super().__init__(story, is_running=live is not None)
        self._live = live

    @property
    def started_at(self) -> float | None:
        """Start in seconds since 1970."""
        return self.story.info.started_at if self.story.info else None

    @property
    def where(self) -> str | None:
        """The folder in which it was started."""
        return self.story.info.cwd if self.story.info else None

    def heading(self) -> Heading:
        """The prompt, the command, and the progress of a run that is running."""
        info, live = self.story.info, self._live
        if info is None:
            return Heading(run=self.story.name)
        return Heading(
            run=self.story.name,
            prompt=info.prompt,
            started_at=info.started_at,
            command=shlex.join(info.command),
            progress=progress(live) if live else None,
        )

    def end(self, page: Page) -> Iterator[str]:
        """Yield the answer, the run's outcome, and its usage."""
        story, paint, full = self.story, page.paint, page.options.full
        yield from last_words(story, paint, full=full)
        if self._live is None:
            # guards: page-answer-redacted
            answer = guarded(sys.stdout).redacted(final_text(story.state) or "")
            yield from page.answer(None if full else answer)
            shown: Shown = "everything" if full else "lines"
            yield from ending_lines(story, paint, shown=shown, home=self.home)
        else:
            yield page.say(how_to_follow(self._live))
        titles = subagent_titles(story.timeline.items)
        verbose = page.options.verbose or full
        yield from map(page.say, spending_lines(story.state.ledger, titles, verbose=verbose))

    def report(self) -> Report:
        """The report of the run, which has no secrets."""
        return report_of_run(self.story)

    def document_turns(self) -> Sequence[TurnUse] | None:
        """Usage of each turn; that of a single one is in the report."""
        return self.turns if len(self.turns) > 1 else None


def _write(path: Path, pieces: Iterable[str]) -> None:
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _MODE), "wb") as file:
            file.writelines(encodable(piece).encode() for piece in pieces)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.ClickException(f"cannot write {path}: {reason}; name another file") from error
    click.echo(f"[rook] wrote {safe_line(str(path))}", err=True)


def progress(run: Row) -> str:
    """The time and cost of a run so far: `running · 1m 30s · ~$0.01 so far`."""
    parts = ["running", duration(run.seconds)]
    if run.spent.usd is not None:
        parts.append(f"{price(run.spent)} so far")
    return " · ".join(parts)


def open_calls(snapshot: Snapshot, now: float) -> Iterator[str]:
    """Yield a line for each call that has not ended: `running: Bash: make test (12.0s)`."""
    for tool in snapshot.open_tools:
        call = event_lines.call(tool, tool.started_at, snapshot.cwd)
        took = event_lines.took(call, now)
        yield f"running: {call.words}" + (f" ({took})" if took else "")


def how_to_follow(run: Row) -> str:
    """The command that shows the next part."""
    return f"follow it: {suggested('attach', run.name)}"
