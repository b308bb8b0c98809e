"""Follows what another process runs, until it ends or the user leaves."""

import asyncio
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import click

from nightrook.cli.terminal.output import put
from nightrook.model.safe import safe_line
from nightrook.model.text import suggested
from nightrook.store.file_names import RUNNER_LOG

_INTERRUPTED = 130

Result = TypeVar("Result")


def follow(work: Coroutine[Any, Any, Result], *, what: str, name: str) -> Result:
    """Do the work; Ctrl-C, SIGTERM and SIGHUP end it, and what it follows continues."""
    try:
        return asyncio.run(_until_signal(work))
    except (KeyboardInterrupt, asyncio.CancelledError):
        commands = f"{suggested('attach', name)} · {suggested('stop', name)}"
        put(sys.stderr, f"[rook] {what} {name} continues: {commands}")
        raise click.exceptions.Exit(_INTERRUPTED) from None


async def _until_signal(work: Coroutine[Any, Any, Result]) -> Result:
    working = asyncio.ensure_future(work)
    for number in (signal.SIGTERM, signal.SIGHUP):  # SIGINT is asyncio's
        asyncio.get_running_loop().add_signal_handler(number, working.cancel)
    return await working


def report_log(folder: Path) -> None:
    """Point to the errors of a background runner, if there are any."""
    log = folder / RUNNER_LOG
    if log.exists() and log.stat().st_size:
        click.echo(f"[rook] errors of its background runner: {safe_line(str(log))}", err=True)
