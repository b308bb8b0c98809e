"""What is printed when a run, a loop or a batch was started in the background."""

import click

from nightrook.model.safe import safe_line
from nightrook.model.text import suggested


def print_started(name: str, ended: str | None, *, quiet: bool) -> None:
    """Print its name, and how to attach to it and stop it; or how it ended, if it has already."""
    click.echo(name)
    if quiet:
        return
    if ended is None:
        commands = f"{suggested('attach', name)} · {suggested('stop', name)}"
        say(f"it runs in the background: {commands}")
    else:
        say(f"it has ended already: {ended} · {suggested('show', name)}")


def say(message: str) -> None:
    """Print a line of rook itself to stderr."""
    click.echo(f"[rook] {safe_line(message)}", err=True)
