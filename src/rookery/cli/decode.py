"""`rook decode`: recorded streams in, events out."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import BinaryIO

import click

from rookery import agents
from rookery.core.errors import RookeryError, UnreadableSourceError
from rookery.core.records import Record, dump
from rookery.display.plain import PlainDisplay
from rookery.folder.streams import Feeding, open_source, read_chunks

_LOOKED_AT = 4096  # a NUL in so many first bytes means that a file is no text

_EXAMPLES = """\b
Examples:
  rook decode session.jsonl                  events as JSON lines
  rook decode --format text session.jsonl    as a person reads them
  claude -p "hi" --output-format stream-json --verbose | rook decode -
"""


@click.command("decode", epilog=_EXAMPLES)
@click.option("--agent", metavar="NAME", help="The agent that wrote it (detected by default).")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "text"]),
    default="jsonl",
    show_default=True,
    help="JSON lines for programs, text for people.",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...|-")
def command(agent: str | None, form: str, files: tuple[str, ...]) -> None:
    """Turn what an agent wrote to its standard output into neutral events.

    A file that cannot be decoded gives a line on stderr; the others are still printed, and the
    exit code is then 2.
    """
    if agent is not None:
        try:
            agents.agent(agent)
        except RookeryError as error:
            raise click.UsageError(str(error)) from error
    failed = False
    for file in files:
        try:
            _print(file, agent, form)
        except RookeryError as error:
            sys.stdout.flush()
            click.echo(f"[rook] {error}", err=True)
            failed = True
    if failed:
        raise click.exceptions.Exit(2)


def _print(file: str, agent: str | None, form: str) -> None:
    name = "standard input" if file == "-" else file
    feeding = Feeding(name, agent)
    say = _say_jsonl if form == "jsonl" else _TextSayer(feeding)
    with nullcontext(sys.stdin.buffer) if file == "-" else open_source(file) as source:
        for chunk in _text_chunks(source, name):
            say(feeding.feed(chunk))
    say(feeding.close())


def _say_jsonl(records: Iterable[Record]) -> None:
    sys.stdout.buffer.write(b"".join(dump(record) + b"\n" for record in records))
    sys.stdout.buffer.flush()


class _TextSayer:
    """Prints records as plain lines, once the agent is known."""

    def __init__(self, feeding: Feeding) -> None:
        self._feeding = feeding
        self._display: PlainDisplay | None = None

    def __call__(self, records: Iterable[Record]) -> None:
        for record in records:
            if self._display is None:
                self._display = PlainDisplay(self._feeding.agent or "agent")
            for line in self._display.lines(record):
                click.echo(line)


def _text_chunks(source: BinaryIO, name: str) -> Iterator[bytes]:
    """Give the chunks of a source, unless it is empty or no text."""
    seen = 0
    for chunk in read_chunks(source, name):
        if b"\0" in chunk[: max(0, _LOOKED_AT - seen)]:
            raise UnreadableSourceError(name, "is not text (it holds NUL bytes)")
        seen += len(chunk)
        yield chunk
    if not seen:
        raise UnreadableSourceError(name, "is empty")
