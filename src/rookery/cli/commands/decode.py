"""`rook decode` and `rook schema`: recorded streams in, events out, and their shape."""

import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import click
import msgspec

from rookery import agents
from rookery.cli.live.output import put_json
from rookery.cli.options.parameters import argument, takes
from rookery.cli.safe_output import guarded
from rookery.config.command_options import DecodeOptions
from rookery.display.context import RunContext
from rookery.display.plain import PlainDisplay
from rookery.feed.decode import StrictDecoder, open_source, read_chunks
from rookery.feed.integrity import changed_run
from rookery.model.errors import RookeryError, UnreadableSourceError
from rookery.model.events import StreamClosed, Unknown, Unreadable
from rookery.model.fold import Fold, fold
from rookery.model.records import Record, dump, schema
from rookery.model.redaction.deltas import UnsplitSecrets
from rookery.model.safe import safe_line
from rookery.prices import PriceBook
from rookery.runs.summary import summarise

_LOOKED_AT = 4096  # a NUL in this many first bytes means that a file is not text

_NOT_UNDERSTOOD = (Unknown, Unreadable, StreamClosed)
_MOST_STRANGE = 100  # unknown lines that are kept to detect their agent

_EXAMPLES = """\b
Examples:
  rook decode session.jsonl                  events as JSON lines
  rook decode --format text session.jsonl    text for people
  rook decode --summary *.jsonl              one object per file: what happened, what it cost
  claude -p "hi" --output-format stream-json --verbose | rook decode -
"""


@click.command("decode", epilog=_EXAMPLES)
@takes("decode", DecodeOptions)
@argument("files", nargs=-1, required=True, metavar="FILE...|-", completes="files")
def command(options: DecodeOptions, files: tuple[str, ...]) -> None:
    """Turn what an agent wrote to its standard output into neutral events.

    A file that cannot be decoded is reported on stderr; the others are still printed, and the exit
    code is then 2.
    """
    if options.agent is not None:
        try:
            agents.agent(options.agent)
        except RookeryError as error:
            raise click.UsageError(str(error)) from error
    failed = False
    for file in files:
        name = "standard input" if file == "-" else file
        decoder = StrictDecoder(name, options.agent)
        try:
            if options.summary:
                _print_summary(file, decoder)
            elif options.format == "text":
                _print_text(file, decoder, verbose=options.verbose)
            else:
                _print_records(file, decoder)
        except RookeryError as error:
            sys.stdout.flush()
            click.echo(f"[rook] {safe_line(str(error))}", err=True)
            failed = True
    if failed:
        raise click.exceptions.Exit(2)


@click.command("schema", epilog="Example:  rook schema > record.schema.json")
def schema_() -> None:
    """Print the JSON Schema of a record, as `rook decode` writes one on each line."""
    put_json(sys.stdout, msgspec.json.format(msgspec.json.encode(schema()), indent=2))


def _print_records(file: str, decoder: StrictDecoder) -> None:
    secrets, out = UnsplitSecrets(os.environ), guarded(sys.stdout)
    for records in _records(file, decoder):
        out.write_json(b"".join(dump(secrets.unsplit(record)) + b"\n" for record in records))


def _records(file: str, decoder: StrictDecoder) -> Iterator[list[Record]]:
    """Yield a file's records as its bytes arrive; at the end, warn if the agent is wrong."""
    doubt = _Doubt()
    with nullcontext(sys.stdin.buffer) if file == "-" else open_source(file) as source:
        for chunk in _text_chunks(source, decoder.name):
            yield doubt.over(decoder.feed(chunk))
    yield doubt.over(decoder.close())
    doubt.warn(decoder)
    if Path(file).suffix == ".raw" and (how := changed_run(Path(file).parent)):
        click.echo(f"[rook] WARNING: {safe_line(f'{file} was changed: {how}')}", err=True)


class _Doubt:
    """Notices that the named agent is wrong: none of the lines is one of its messages."""

    def __init__(self) -> None:
        self._understood = False
        self._strange: list[bytes] = []

    def over(self, records: list[Record]) -> list[Record]:
        """Look at records, and return them."""
        for event in (record.event for record in ([] if self._understood else records)):
            self._understood = self._understood or not isinstance(event, _NOT_UNDERSTOOD)
            if isinstance(event, Unknown) and event.raw and len(self._strange) < _MOST_STRANGE:
                self._strange.append(bytes(event.raw))
        return records

    def warn(self, decoder: StrictDecoder) -> None:
        """Warn if nothing was understood, and name the agent whose messages they seem to be."""
        if self._understood or not self._strange:
            return
        found = agents.detect(b"\n".join(self._strange))
        hint = f"; they look like {found.name}'s: --agent {found.name}" if found else ""
        words = f"{decoder.name}: none of its lines is a message of {decoder.agent}{hint}"
        click.echo(f"[rook] WARNING: {safe_line(words)}", err=True)


def _shown(batches: Iterator[list[Record]]) -> Iterator[Record]:
    """Yield the records of each batch; flush after each, so that a reader gets them at once."""
    for records in batches:
        yield from records
        sys.stdout.flush()


def _print_text(file: str, decoder: StrictDecoder, *, verbose: bool) -> None:
    folded = Fold(_shown(_records(file, decoder)), PriceBook())
    display: PlainDisplay | None = None
    for record in folded:
        if display is None:  # the first record comes when the agent is known
            name = decoder.agent or "agent"
            context = RunContext(
                cwd=folded.state.cwd,
                snapshot=folded.state.snapshot,
                redact=guarded(sys.stdout).redacted,
            )
            display = PlainDisplay(sys.stdout, name, context=context, verbose=verbose)
        display.show(record)


def _print_summary(file: str, decoder: StrictDecoder) -> None:
    state = fold(chain.from_iterable(_records(file, decoder)), PriceBook())
    name = "-" if file == "-" else file
    put_json(sys.stdout, msgspec.json.encode(summarise(state, file=name, agent=decoder.agent)))


def _text_chunks(source: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the chunks of a source, unless it is empty or not text."""
    seen = 0
    for chunk in read_chunks(source, name):
        if b"\0" in chunk[: max(0, _LOOKED_AT - seen)]:
            raise UnreadableSourceError(name, "is not text (it contains NUL bytes)")
        seen += len(chunk)
        yield chunk
    if not seen:
        raise UnreadableSourceError(name, "is empty")
