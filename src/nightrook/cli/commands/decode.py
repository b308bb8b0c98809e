"""`rook decode`: recorded streams in, events out."""

import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import click
import msgspec

from nightrook import agents
from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.terminal.output import guarded, put_json
from nightrook.config.command_options import DecodeOptions
from nightrook.display.event_lines import RunContext
from nightrook.display.plain import PlainDisplay
from nightrook.model.errors import NightrookError, UnreadableSourceError
from nightrook.model.events import StreamClosed, Unknown, Unreadable
from nightrook.model.fold import Fold, fold
from nightrook.model.records import Record, dump
from nightrook.model.redaction.deltas import UnsplitSecrets
from nightrook.model.safe import safe_line
from nightrook.prices import PriceBook
from nightrook.runs.run_result import summarise
from nightrook.story.decode import StrictDecoder, named_run, open_source, read_chunks
from nightrook.story.integrity import find_tampering
from nightrook.story.tail import Piece, pieces

_LOOKED_AT = 4096  # a NUL in this many first bytes means that a file is not text

_NOT_UNDERSTOOD = (Unknown, Unreadable, StreamClosed)
_MOST_STRANGE = 100  # unknown lines that are kept to detect their agent

_EXAMPLES = """\b
Examples:
  rook decode session.jsonl                events as JSON lines
  rook decode k7f3                         those of a run, with their times
  rook decode --format text session.jsonl  text for people
  rook decode --summary *.jsonl            one object per file, with its cost
  claude -p "hi" --output-format stream-json --verbose | rook decode -
"""


@click.command("decode", epilog=_EXAMPLES)
@takes("decode", DecodeOptions)
@argument("files", nargs=-1, required=True, metavar="FILE|RUN...|-", completes="files")
def command(options: DecodeOptions, files: tuple[str, ...]) -> None:
    """Turn what an agent wrote to its standard output into neutral events.

    RUN is the name or the folder of a recorded run. What cannot be decoded is reported on stderr;
    the others are still printed, and the exit code is then 2.
    """
    if options.agent is not None:
        try:
            agents.agent(options.agent)
        except NightrookError as error:
            raise click.UsageError(str(error)) from error
    failed = False
    for file in files:
        try:
            source = _Source(file, options.agent)
            if options.summary:
                _print_summary(source)
            elif options.format == "text":
                _print_text(source, verbose=options.verbose)
            else:
                _print_records(source)
        except NightrookError as error:
            sys.stdout.flush()
            click.echo(f"[rook] {safe_line(str(error))}", err=True)
            failed = True
    if failed:
        raise click.exceptions.Exit(2)


class _Source:
    """A file, a run or standard input, with its decoder."""

    def __init__(self, file: str, agent: str | None) -> None:
        self.file = file
        self._run = None if file == "-" else named_run(file)
        info = self._run.info() if self._run else None
        name = "standard input" if file == "-" else file
        self.decoder = StrictDecoder(name, agent or (info.agent if info else None))

    def records(self) -> Iterator[list[Record]]:
        """Yield the records as the bytes come; at the end, warn of likely problems."""
        doubt = _Doubt()
        for data, at in self._pieces():
            yield doubt.over(self.decoder.feed(data, at))
        yield doubt.over(self.decoder.close())
        doubt.warn(self.decoder)
        if how := self._change():
            click.echo(f"[rook] WARNING: {safe_line(f'{self.file} was changed: {how}')}", err=True)

    def _pieces(self) -> Iterator[Piece]:
        if self._run is not None:
            yield from pieces(self._run.path)
            return
        with nullcontext(sys.stdin.buffer) if self.file == "-" else open_source(self.file) as file:
            for chunk in _text_chunks(file, self.decoder.name):
                yield chunk, None

    def _change(self) -> str | None:
        """Return the difference of a run's log from the recorded one; None if it is intact."""
        if self._run is not None:
            return find_tampering(self._run.path)
        path = Path(self.file)
        return find_tampering(path.parent) if path.suffix == ".raw" else None


def _print_records(source: _Source) -> None:
    secrets, out = UnsplitSecrets(os.environ), guarded(sys.stdout)
    for records in source.records():
        # guards: decoded-deltas-whole
        out.write_json(b"".join(dump(secrets.unsplit(record)) + b"\n" for record in records))


class _Doubt:
    """Notices that the named agent is wrong: none of the lines is one of its messages."""

    def __init__(self) -> None:
        self._understood = False
        self._strange: list[bytes] = []

    def over(self, records: list[Record]) -> list[Record]:
        """Inspect records, and return them."""
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


def _print_text(source: _Source, *, verbose: bool) -> None:
    folded = Fold(_shown(source.records()), PriceBook())
    display: PlainDisplay | None = None
    for record in folded:
        if display is None:  # the first record comes when the agent is known
            name = source.decoder.agent or "agent"
            context = RunContext(
                cwd=folded.state.cwd,
                snapshot=folded.state.snapshot,
                redact=guarded(sys.stdout).redacted,
            )
            display = PlainDisplay(sys.stdout, name, context=context, verbose=verbose)
        display.show(record)


def _print_summary(source: _Source) -> None:
    state = fold(chain.from_iterable(source.records()), PriceBook())
    summary = summarise(state, file=source.file, agent=source.decoder.agent)
    put_json(sys.stdout, msgspec.json.encode(summary))


def _text_chunks(source: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the chunks of a source, unless it is empty or not text."""
    seen = 0
    for chunk in read_chunks(source, name):
        if _is_binary(chunk[: max(0, _LOOKED_AT - seen)]):
            raise UnreadableSourceError(name, "is not text (it contains NUL bytes)")
        seen += len(chunk)
        yield chunk
    if not seen:
        raise UnreadableSourceError(name, "is empty")


def _is_binary(head: bytes) -> bool:
    """True for bytes that are not text; between messages, NUL bytes are only noise."""
    return b"\0" in head and not any(line.startswith(b"{") for line in head.split(b"\n"))
