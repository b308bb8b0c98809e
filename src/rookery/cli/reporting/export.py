"""`rook show --html FILE` and `--md`: a run as a document to keep or to send."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

import click

from rookery.cli.reporting.replacements import replacements_of
from rookery.cli.reporting.reports import report_of_run
from rookery.config.command_options import ShowOptions
from rookery.display.export.html import html_page
from rookery.display.export.markdown import markdown_lines
from rookery.display.export.steps import Steps, StepSource
from rookery.feed.bodies import run_bodies
from rookery.feed.integrity import checked_verdict
from rookery.feed.stored import iterate, stored_feed
from rookery.model.redaction.redactor import Redactor
from rookery.model.safe import safe_line
from rookery.model.text import encodable, from_home
from rookery.model.timeline import Timeline
from rookery.runs.heal import healed
from rookery.runs.listing import running_run
from rookery.store import decisions
from rookery.store.run_folder import RunFolder

_MODE = 0o600  # a run may contain anything


def export(folder: RunFolder, options: ShowOptions) -> None:
    """Write a run to a file as HTML, or print it as Markdown."""
    if options.html is not None and options.md:
        raise click.UsageError("--html and --md can't be combined.")
    is_running = running_run(healed(folder)) is not None
    feed, timeline, redactor = (
        stored_feed(folder, is_running=is_running),
        Timeline(),
        Redactor(os.environ),
    )
    timeline.take(iterate(feed.since(0)))
    verdict = checked_verdict(folder)
    report = report_of_run(folder, verdict.verdict if verdict else None, feed.state)
    steps = Steps(
        StepSource(
            items=timeline.items,
            read=run_bodies(folder.path, feed.agent).read,
            replacements=replacements_of(feed.agent),
            decisions=decisions.read(folder),
            redact=redactor.text,
            cwd=feed.state.cwd,
        )
    )
    if options.html is None:
        for line in markdown_lines(report, steps, full=options.full):
            click.echo(line)
        return
    about = [redactor.text(each) for each in _about(folder)]
    _write(Path(options.html), html_page(report, steps, about=about))


def _about(folder: RunFolder) -> list[str]:
    """When a run started, and where."""
    info = folder.info()
    if info is None:
        return []
    started = time.strftime("%a %d %b %Y %H:%M", time.localtime(info.started_at))
    return [started, safe_line(from_home(info.cwd, os.path.expanduser("~")))]


def _write(path: Path, pieces: Iterable[str]) -> None:
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _MODE), "wb") as file:
            file.writelines(encodable(piece).encode() for piece in pieces)
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.ClickException(f"cannot write {path}: {reason}; name another file") from error
    click.echo(f"[rook] wrote {safe_line(str(path))}", err=True)
