"""Shows a page in the user's pager, or prints it if there is none."""

import shlex
from collections.abc import Iterable, Mapping

import click

from nightrook.cli.terminal.output import SafeOutput

_LESS = "FRX"  # quit if it fits on one screen, keep colours, leave the page on the screen


def paged(lines: Iterable[str], environ: Mapping[str, str]) -> None:
    """Send lines to $PAGER or less; print them if it is `cat`, empty or missing."""
    words = shlex.split(environ.get("PAGER", "less"))
    if not words or words == ["cat"]:
        _straight(lines)
        return
    import subprocess  # so that what is piped stays quick

    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            env={"LESS": _LESS, "LESSCHARSET": "utf-8", **environ},
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError:
        _straight(lines)
        return
    assert process.stdin is not None
    try:
        with process.stdin as page:
            safe_page = SafeOutput(page, environ)  # guards: pager-guarded
            for line in lines:
                safe_page.write(f"{line}\n")
    except (BrokenPipeError, KeyboardInterrupt):
        pass  # the reader has seen enough
    while True:
        try:
            process.wait()
            return
        except KeyboardInterrupt:
            continue  # Ctrl-C is the pager's while it is shown


def _straight(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)
