"""`rook export`: stored sessions for other programs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path
from typing import Any, Literal

import click

from nightrook.archive.export import Format, Table, calls, events, sessions, write
from nightrook.archive.search.documents import DocumentFilter
from nightrook.archive.session_files import user_homes
from nightrook.cli.import_bar import current_archive
from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.session_filter import document_filter
from nightrook.cli.terminal.output import guarded
from nightrook.config.archive_options import ExportOptions, SessionFilter
from nightrook.model.safe import safe_line
from nightrook.model.text import count
from nightrook.store.home import home_folder

_EXAMPLES = """\b
Examples:
  rook export --jsonl events.jsonl
  rook export calls --csv calls.csv --since 2026-11
  rook export sessions --jsonl - | jq -r .title
  rook export events --parquet events.parquet --kind prompt
"""
_STDOUT = "-"

What = Literal["events", "calls", "sessions"]


@click.command("export", epilog=_EXAMPLES)
@takes("export", SessionFilter, ExportOptions)
@argument(
    "what", required=False, default="events", type=click.Choice(["events", "calls", "sessions"])
)
def command(wanted: SessionFilter, options: ExportOptions, what: What) -> None:
    """Export what agents keep on disk: their events, calls or sessions.

    Events are prompts, answers, thinking, commands, paths and outputs, with their whole texts.
    Calls have their tokens and costs, each counted once. Secrets are redacted unless --raw says
    otherwise.
    """
    written, path = _target(options)
    chosen = document_filter(wanted)
    _refuse_ignored(what, wanted)
    exact = options.raw or written == "parquet"
    with _table(what, chosen, raw=options.raw) as table, _opened(path, exact=exact) as out:
        rows = write(table, out, written)
    if path != _STDOUT:
        click.echo(f"[rook] {count(rows, 'row')} written to {safe_line(path)}", err=True)


def _target(options: ExportOptions) -> tuple[Format, str]:
    given: list[tuple[Format, object]] = [
        ("jsonl", options.jsonl),
        ("csv", options.csv),
        ("parquet", options.parquet),
    ]
    chosen = [(written, str(path)) for written, path in given if path is not None]
    if len(chosen) != 1:
        raise click.UsageError("name one of --jsonl FILE, --csv FILE or --parquet FILE")
    return chosen[0]


def _refuse_ignored(what: What, wanted: SessionFilter) -> None:
    """Refuse filters that only events have: the rows would not be the selected ones."""
    given = {"--kind": wanted.kind, "--tool": wanted.tool, "--status": wanted.status}
    ignored = [option for option, value in given.items() if value is not None]
    if what != "events" and ignored:
        raise click.UsageError(f"{', '.join(ignored)}: only events can be chosen by it, not {what}")


@contextmanager
def _table(what: What, wanted: DocumentFilter, *, raw: bool) -> Iterator[Table]:
    redact = str if raw else guarded(sys.stdout).redacted
    if what == "events":
        yield events(user_homes(), wanted, redact, home_folder())
        return
    with current_archive() as archive:
        connection = archive.ledger.connection
        made = calls if what == "calls" else sessions
        yield made(connection, wanted, redact)


class _Printed(RawIOBase):
    """Prints whole lines, so that no terminal and no CI service takes one for a command."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        sys.stdout.write(bytes(data).decode("utf-8", "replace"))
        return len(data)


@contextmanager
def _opened(path: str, *, exact: bool) -> Iterator[Any]:
    if path == _STDOUT:
        sys.stdout.flush()
        yield guarded(sys.stdout).exact if exact else _Printed()
        sys.stdout.flush()
        return
    try:
        with Path(path).open("wb") as out:
            yield out
    except IsADirectoryError:
        raise click.UsageError(f"{path} is a folder: name a file") from None
    except (FileNotFoundError, PermissionError) as error:
        raise click.UsageError(f"{path} can't be written: {error.strerror}") from None
