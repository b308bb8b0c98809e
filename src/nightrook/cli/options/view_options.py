"""Checks the options for showing a run, and makes the display that they select."""

import os
import sys
from typing import TextIO

import click
from msgspec.structs import replace

from nightrook import agents
from nightrook.cli.terminal.output import guarded
from nightrook.config.options import ViewOptions
from nightrook.display.console import look_of
from nightrook.display.event_lines import RunContext
from nightrook.display.screen import Echo
from nightrook.display.terminal import Display, display_for


def check_view(view: ViewOptions, *, detach: bool = False) -> None:
    """Refuse options that contradict each other."""
    if detach and (view.json or view.format != "text"):
        raise click.UsageError(
            "--detach and --json can't be combined: use rook attach --json afterwards"
        )
    for flag, given in (("--json", view.json), ("--quiet", view.quiet)):
        if given and view.format != "text":
            raise click.UsageError(f"{flag} and --format can't be combined")


def hold_messages(view: ViewOptions) -> None:
    """Hold back stderr with --quiet: it is shown only if the command fails.

    `print_end` decides that, and an error of rook's own.
    """
    if view.quiet:
        messages = guarded(sys.stderr)
        messages.hold()
        click.get_current_context().call_on_close(messages.release)


def display_on(
    out: TextIO,
    label: str,
    view: ViewOptions,
    *,
    context: RunContext,
    echo: Echo | None = None,
) -> Display:
    """The display of a run on an output; its lines begin with the label."""
    return display_for(
        out,
        label,
        look=look_of(out, os.environ),
        context=replace(context, redact=guarded(out).redacted),
        verbose=view.verbose,
        text=view.text,
        home=os.path.expanduser("~"),
        echo=echo,
    )


def reports_starts(agent: str | None) -> bool:
    """True for an agent that reports calls when they begin, not only when they have ended."""
    return agent is None or agents.agent(agent).capabilities.calls != "no"
