"""The view of a story: writes its feed to an output as lines, JSON or raw bytes."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TextIO, TypeVar

from nightrook.asyncio_tasks import task_group
from nightrook.cli.options.view_options import display_on, reports_starts
from nightrook.cli.terminal.output import FRAME_S, go_unseen, guarded
from nightrook.cli.terminal.raw_text import RawOutput, shown_text, without_chatter
from nightrook.cli.terminal.shared_screen import SharedScreen
from nightrook.cli.terminal.writer import Writer
from nightrook.config.options import ViewOptions
from nightrook.display.console import Look
from nightrook.display.event_lines import RunContext, ShownTexts
from nightrook.display.plain import PlainDisplay
from nightrook.display.screen import Echo
from nightrook.display.terminal import Display, TerminalDisplay
from nightrook.model.records import dump
from nightrook.model.redaction.deltas import UnsplitSecrets
from nightrook.model.redaction.redactor import RedactedLines, Redactor
from nightrook.model.safe import safe_line
from nightrook.store.decisions import denied_by_person
from nightrook.story.feed import START, Position
from nightrook.story.story import Story

Result = TypeVar("Result")


class View:
    """Shows a story on an output until its feed ends; then its status line is gone.

    A thread does the writing, so an output that stalls does not stall the run. When the output is
    gone, the run continues without it. Create the view before the run writes its first byte.
    """

    def __init__(
        self,
        out: TextIO,
        view_options: ViewOptions,
        story: Story,
        *,
        look: Look,
        started_at: float,
        screen: SharedScreen | None = None,
        start: Position = START,
        echo: Echo | None = None,
    ) -> None:
        self.muted = False
        """True when nothing is shown any more."""
        self._out = out
        self._options = view_options
        self._story = story
        self._feed = feed = story.feed
        self._look = look
        self._started_at = started_at
        self._screen = screen
        self._start = start
        self.echo = echo or Echo(out)
        """The echo of the terminal, which is off while there is a status line."""
        self._display: Display | None = None
        self._count = 0  # records shown
        shows_text = view_options.format == "text" and not view_options.json
        self._text = feed.lines("stdout", start.stdout) if shows_text else None
        self._stderr = feed.lines("stderr", start.stderr)
        self._raw = RawOutput(out)
        self._lines = Writer(self._put)
        self._beside = Writer(self._put_errors)
        on_screen = view_options.lively and look.terminal and sys.stderr.isatty()
        self._errors = self._lines if on_screen else self._beside

    @property
    def texts(self) -> ShownTexts | None:
        """The agent's texts so far; None if nothing of the agent was shown."""
        return self._display.texts if self._display else None

    async def show(self) -> None:
        """Show the feed until it has ended."""
        try:
            async with self._lines, self._beside, task_group() as group:
                group.create_task(self._show_stderr())
                if self._options.format == "text":
                    drawing = group.create_task(self._draw())
                    await self._show_records()
                    drawing.cancel()
                else:
                    await self._pass_on()
        finally:
            if self._display is not None:
                self._try(self._out, self._display.close)  # muted or not

    async def during(self, work: Coroutine[object, object, Result]) -> Result:
        """Show the feed while `work` drives it to its end; return what `work` returns."""
        showing = asyncio.create_task(self.show())
        try:
            result = await work
        except asyncio.CancelledError:
            showing.cancel()
            raise
        finally:
            await asyncio.wait([showing])
        showing.result()
        return result

    async def until_muted(self) -> None:
        """Wait until the output is gone."""
        while not self.muted:
            await asyncio.sleep(FRAME_S)

    def say(self, message: str) -> None:
        """Show a message of rook's own."""
        self._errors.add([f"[rook] {safe_line(message)}"])

    async def _show_records(self) -> None:
        """Show text up to the first message, then the records."""
        self._open_display()
        if self._text is not None:
            async for line in self._text:
                await self._lines.put([shown_text(line)])
        if not self._options.lively:
            return
        async for record in self._feed.since(0):
            if record.offset < self._feed.text_size:
                continue  # it was shown as text
            display = self._display or self._open_display()
            if isinstance(display, PlainDisplay) and (head := display.head(record)):
                await self._put_head(head)
            lines = list(display.lines(record)) if display else []
            self._count += 1
            if record.seq >= self._start.seq:
                await self._lines.put(lines)
            if self._screen is not None:
                self._screen.shown(record.seq)

    async def _put_head(self, line: str) -> None:
        """Write to stderr what runs, between the lines on stdout before it and after it."""
        await self._lines.written()
        await self._errors.put([line])
        await self._errors.written()

    async def _show_stderr(self) -> None:
        """Show the agent's output that isn't messages, above the status line if there is one.

        Secrets go first: lines of rook itself may come between those of a private key.
        """
        redacted, last = RedactedLines(Redactor(os.environ)), ""
        async for line in self._stderr:
            shown = redacted(f"{line}\n").rstrip("\n") if line else line
            if shown == line or shown != last:  # one mark is enough for all lines of a key
                await self._errors.put(without_chatter(self._feed.agent, shown.split("\n")))
            last = shown

    async def _draw(self) -> None:
        """Update the status line some ten times a second."""
        drawn = 0
        while True:
            display = self._display
            if isinstance(display, TerminalDisplay):
                if self._count == drawn or not display.is_holding:  # what follows may complete it
                    await self._lines.put(list(display.released()))
                self._lines.frame(display.frame(time.time()))
            drawn = self._count
            await asyncio.sleep(FRAME_S)

    async def _pass_on(self) -> None:
        """Pass on records as JSON, or the agent's own bytes."""
        if self._options.format == "raw":
            async with Writer(self._put_raw) as out:
                async for data in self._feed.chunks("stdout"):
                    await out.put([data])
            self._try(self._out, self._raw.close)
        elif self._feed.agent is not None:
            secrets = UnsplitSecrets(os.environ)
            async with Writer(self._put_json) as out:
                async for record in self._feed.since(0):
                    # guards: live-deltas-whole
                    await out.put([dump(secrets.unsplit(record)) + b"\n"])

    def _open_display(self) -> Display | None:
        """Open the display once the agent is known."""
        feed = self._feed
        if not self._options.lively or feed.agent is None:
            return None
        folder = self._story.folder
        self._display = display_on(
            self._out,
            feed.label or feed.agent,
            self._options,
            context=RunContext(
                run=folder.name if folder else None,
                cwd=feed.state.cwd,
                began=self._started_at,
                reports_starts=reports_starts(feed.agent),
                snapshot=feed.snapshot,
                denied_by_person=partial(denied_by_person, folder) if folder else frozenset,
            ),
            echo=self.echo,
        )
        if self._screen is not None and isinstance(self._display, TerminalDisplay):
            display = self._display
            self._screen.share(display.pause, display.resume, self._lines.written)
        return self._display

    def _put(self, lines: list[str]) -> None:
        def write() -> None:
            if self._display is None:
                self._out.write("".join(f"{line}\n" for line in lines))
            else:
                self._display.put(lines)
            self._out.flush()

        if not self.muted:
            self._try(self._out, write)

    def _put_errors(self, lines: list[str]) -> None:
        def write() -> None:
            sys.stderr.write("".join(f"{line}\n" for line in lines))
            sys.stderr.flush()

        self._try(sys.stderr, write)

    def _put_raw(self, pieces: list[bytes]) -> None:
        self._try(self._out, lambda: self._raw.write(b"".join(pieces)))

    def _put_json(self, pieces: list[bytes]) -> None:
        self._try(self._out, lambda: guarded(self._out).write_json(b"".join(pieces)))

    def _try(self, out: TextIO, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:  # the reader left, or the terminal is gone
            self.muted = self.muted or out is self._out
            go_unseen(out, error)
