"""Picks the display for an output: a terminal that a person watches, or plain lines."""

from typing import TextIO

from nightrook.display.console.echo import Echo
from nightrook.display.console.look import Look, columns
from nightrook.display.console.screen import Screen
from nightrook.display.context import RunContext
from nightrook.display.plain import PlainDisplay
from nightrook.display.terminal import TerminalDisplay

Display = PlainDisplay | TerminalDisplay


def display_for(
    out: TextIO,
    agent: str,
    *,
    look: Look,
    context: RunContext | None = None,
    verbose: bool = False,
    text: bool = True,
    home: str | None = None,
    echo: Echo | None = None,
) -> Display:
    """The display for an output; paths below `home` are shown with `~`.

    `echo` is the terminal's, if the caller restores it as well.
    """
    paint = look.paint()
    if not look.terminal:
        return PlainDisplay(
            out, agent, context=context, verbose=verbose, text=text, paint=paint, home=home
        )

    def width() -> int:
        return columns(out)

    return TerminalDisplay(
        Screen(out, width, echo or Echo(out)),
        agent,
        columns=width,
        context=context,
        verbose=verbose,
        text=text,
        paint=paint,
        progress=look.progress,
        home=home,
    )
