"""Shows what is told of a run that goes on elsewhere: attached to, or piped to us."""

import sys
import time
from collections.abc import Callable
from typing import Protocol, Self, TextIO

from rookery.cli.live.output import FRAME_S, go_unseen
from rookery.cli.live.raw_text import beside
from rookery.cli.options.view_options import display_on, reports_starts
from rookery.config.options import ViewOptions
from rookery.display.context import RunContext
from rookery.display.outputs import Display
from rookery.display.terminal import TerminalDisplay
from rookery.feed.source import Told
from rookery.model.records import Record
from rookery.model.safe import safe, safe_line, uncoloured
from rookery.model.state import RunState
from rookery.store.run_folder import RunFolder


class Source(Protocol):
    """A run that goes on elsewhere, as far as it was read."""

    @property
    def agent(self) -> str | None:
        """The name of the agent, once it is known."""

    @property
    def label(self) -> str | None:
        """What the lines of the agent begin with, once it is known."""

    @property
    def state(self) -> RunState:
        """What the run has told so far."""

    @property
    def folder(self) -> RunFolder | None:
        """Where it is kept, if it is."""


class View:
    """One screen, while its block lasts; then its status line is gone.

    When nobody reads it any more it falls silent, and the run goes on.
    """

    def __init__(
        self, out: TextIO, view_options: ViewOptions, source: Source, *, began: float
    ) -> None:
        self.muted = False
        """Whether nothing is shown any more."""
        self._out = out
        self._view_options = view_options
        self._source = source
        self._began = began
        self._display: Display | None = None
        self._next_frame = time.monotonic() + FRAME_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._display is not None:
            self._try(self._out, self._display.close)  # muted or not

    def show(self, told: list[Told]) -> None:
        """Show what was told, all of it at once, and what is going on now."""
        outs, errs = self._lines(told)
        self._put(outs)
        self._put_errors(errs)
        display = self._display
        if self.muted or not isinstance(display, TerminalDisplay):
            return
        if time.monotonic() < self._next_frame:
            return
        if told and display.is_holding:
            return  # what comes next may count the lines of the edit that is held back
        self._next_frame = time.monotonic() + FRAME_S
        self._try(self._out, lambda: display.tick(time.time()))

    def learn(self, told: list[Told]) -> None:
        """Take in what was told, so that what follows makes sense, without showing it."""
        self._lines(told)

    def say(self, words: str) -> None:
        """Say something of rook's own to whoever watches."""
        self._put_errors([f"[rook] {safe_line(words)}"])

    def _lines(self, told: list[Told]) -> tuple[list[str], list[str]]:
        outs: list[str] = []
        errs: list[str] = []
        for one in told:
            if isinstance(one, Record):
                outs += self._shown().lines(one) if self._view_options.lively else ()
            elif one.stream == "stderr":
                errs += beside(self._source.agent, [one.text])
            elif not self._view_options.json:
                outs.append(safe(uncoloured(one.text)))
        return outs, errs

    def _shown(self) -> Display:
        if self._display is None:
            source = self._source
            self._display = display_on(
                self._out,
                source.label or "agent",
                self._view_options,
                context=RunContext(
                    run=source.folder.name if source.folder else None,
                    cwd=source.state.cwd,
                    began=self._began,
                    reports_starts=reports_starts(source.agent),
                    snapshot=source.state.snapshot,
                ),
            )
        return self._display

    def _put(self, lines: list[str]) -> None:
        def write() -> None:
            if self._display is None:
                self._out.write("".join(f"{line}\n" for line in lines))
            else:
                self._display.put(lines)
            self._out.flush()

        if lines and not self.muted:
            self._try(self._out, write)

    def _put_errors(self, lines: list[str]) -> None:
        """Write to stderr; above the status line if it would stand in the way there."""

        def write() -> None:
            sys.stderr.write("".join(f"{line}\n" for line in lines))
            sys.stderr.flush()

        if isinstance(self._display, TerminalDisplay) and sys.stderr.isatty():
            self._put(lines)
        elif lines and not self.muted:
            self._try(sys.stderr, write)

    def _try(self, out: TextIO, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:  # whoever read it left, or the terminal is gone
            self.muted = True
            go_unseen(out, error)
