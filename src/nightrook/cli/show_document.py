"""`rook show --html FILE`, `--md` and `--json`: a run or session as a document to keep or send."""

import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import click
import msgspec

from nightrook.cli.reports import report_of_run
from nightrook.cli.terminal.output import put_json
from nightrook.config.command_options import ShowOptions
from nightrook.display.document.html import html_page
from nightrook.display.document.markdown import markdown_lines
from nightrook.display.document.steps import Steps, StepSource, document_object
from nightrook.display.reports.report import Report
from nightrook.display.spending import TurnUse, turn_uses
from nightrook.model.redaction.redactor import Redactor
from nightrook.model.safe import safe_line
from nightrook.model.text import encodable, from_home
from nightrook.runs.crash_recovery import recovered
from nightrook.runs.listing import running_run
from nightrook.store.run_folder import RunFolder
from nightrook.story.story import open_story

# guards: export-private
_MODE = 0o600  # a run may contain anything


def export(folder: RunFolder, options: ShowOptions) -> None:
    """Write a run to a file as HTML, or print it as Markdown or JSON."""
    is_running = running_run(recovered(folder)) is not None
    story, redactor = open_story(folder, is_running=is_running), Redactor(os.environ)
    timeline = story.timeline  # reads it whole
    report = report_of_run(story)
    turns = turn_uses(story.state.ledger)
    steps = Steps(
        StepSource(
            items=timeline.items,
            read=story.body,
            replacements=story.replacements,
            decisions=story.decisions(),
            redact=redactor.text,
            cwd=story.state.cwd,
            turns=turns if len(turns) > 1 else None,
        )
    )
    about = tuple(redactor.text(each) for each in _about(folder))
    write_document(RunDocument(report, steps, turns, about), options)


class RunDocument(NamedTuple):
    """What a document shows of a run or session."""

    report: Report
    steps: Steps
    turns: Sequence[TurnUse]
    about: tuple[str, ...] = ()
    """Further facts, such as when it started."""


def write_document(document: RunDocument, options: ShowOptions) -> None:
    """Write the format that the options ask for."""
    report, steps, turns, about = document
    if (options.html is not None) + options.md + options.json > 1:
        raise click.UsageError("--html, --md and --json can't be combined.")
    if options.html is not None:
        _write(Path(options.html), html_page(report, steps, about=about))
    elif options.json:
        put_json(sys.stdout, msgspec.json.encode(document_object(report, steps, turns)))
    else:
        for line in markdown_lines(report, steps, full=options.full):
            click.echo(line)


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
