"""Shows what is told of a run that goes on elsewhere: attached to, or piped to us."""

import os
import sys
from typing import TextIO

from rookery.cli.ending import Manner
from rookery.core.records import Record
from rookery.core.safe import safe, safe_line
from rookery.core.state import RunState
from rookery.display.look import look_of
from rookery.display.outputs import Display, display_for
from rookery.run.reading import Told


class View:
    """One screen. When nobody reads it any more it falls silent, and the run goes on."""

    def __init__(self, out: TextIO, manner: Manner) -> None:
        self.muted = False
        """Whether nothing is shown any more."""
        self._out = out
        self._manner = manner
        self._display: Display | None = None

    def show(self, told: list[Told], agent: str | None, state: RunState) -> None:
        """Show what was told, all of it at once."""
        for out, lines in self._lines(told, agent, state):
            self._put(out, lines)

    def learn(self, told: list[Told], agent: str | None, state: RunState) -> None:
        """Take in what was told, so that what follows makes sense, without showing it."""
        self._lines(told, agent, state)

    def _lines(
        self, told: list[Told], agent: str | None, state: RunState
    ) -> list[tuple[TextIO, list[str]]]:
        silent = self._manner.quiet or self._manner.json
        outs: list[str] = []
        errs: list[str] = []
        for one in told:
            if isinstance(one, Record):
                lines = self._of(agent, state).lines(one)
                outs += [] if silent else lines
            elif one.stream == "stderr":
                errs.append(safe_line(one.text))
            elif not self._manner.json:
                outs.append(safe(one.text))
        return [(self._out, outs), (sys.stderr, errs)]

    def _of(self, agent: str | None, state: RunState) -> Display:
        if self._display is None:
            self._display = display(self._out, agent or "agent", state, self._manner)
        return self._display

    def _put(self, out: TextIO, lines: list[str]) -> None:
        if not lines or self.muted:
            return
        try:
            out.write("".join(f"{line}\n" for line in lines))
            out.flush()
        except OSError:  # whoever read it left, or the terminal is gone
            self.muted = True
            # What is still buffered must not be written at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def display(out: TextIO, agent: str, state: RunState, manner: Manner) -> Display:
    """Choose how to show records."""
    return display_for(
        out,
        agent,
        look=look_of(out, os.environ),
        state=state,
        verbose=manner.verbose,
        text=manner.text,
        home=os.path.expanduser("~"),
    )
