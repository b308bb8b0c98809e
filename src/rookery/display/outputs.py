"""Picks the display for an output: one that somebody watches, or plain lines."""

from typing import TextIO

from rookery.display.console.look import Look, columns
from rookery.display.console.screen import Screen
from rookery.display.plain import PlainDisplay
from rookery.display.terminal import TerminalDisplay
from rookery.model.state import RunState

Display = PlainDisplay | TerminalDisplay


def display_for(
    out: TextIO,
    agent: str,
    *,
    look: Look,
    state: RunState | None = None,
    verbose: bool = False,
    text: bool = True,
    began: float | None = None,
    run: str | None = None,
    home: str | None = None,
    live: bool = True,
) -> Display:
    """The display for an output that looks so.

    `began`, `run` and `home` are what only a terminal shows: since when the run goes on, what it is
    called, and the folder that is said as `~`. `live` is whether calls are told when they begin.
    """
    paint = look.paint()
    if not look.terminal:
        return PlainDisplay(out, agent, state=state, verbose=verbose, text=text, paint=paint)

    def width() -> int:
        return columns(out)

    return TerminalDisplay(
        Screen(out, width),
        agent,
        columns=width,
        state=state,
        verbose=verbose,
        text=text,
        paint=paint,
        progress=look.progress,
        began=began,
        run=run,
        home=home,
        live=live,
    )
