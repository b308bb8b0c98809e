"""The output of `rook`: redacts secrets, breaks commands for CI, and survives a broken pipe.

`guard_outputs` replaces standard output and standard error by a `SafeOutput` before a command runs.
It redacts secrets, and where a CI service reads the log, it breaks the lines that the service would
run as commands. It doesn't make agent text safe for a terminal: `nightrook.model.safe` does, where
the words of a line are made.

The functions that put a line survive an output that breaks, such as a pipe whose reader left: the
text is lost, the run is not.
"""

import os
import sys
from collections import deque
from collections.abc import Mapping
from stat import S_ISREG
from typing import IO, Any, BinaryIO, TextIO, cast

import click

from nightrook.ci.services import services_of
from nightrook.model.redaction.redactor import RedactedLines, Redactor

FRAME_S = 0.1
"""Seconds between two updates of a status line."""

_MOST_HELD = 1000  # lines


class SafeOutput:
    """A text stream that replaces secrets, and in CI breaks lines that the service would run.

    It has no `buffer`, so that nothing gets around it by accident.
    """

    def __init__(self, stream: IO[str], environ: Mapping[str, str]) -> None:
        self._stream = stream
        self._redactor = Redactor(environ)
        self._redacted = RedactedLines(self._redactor)
        services = services_of(environ)
        self._in_ci = bool(services) and not _is_file(stream)
        self._headings = any(service.has_headings for service in services)
        self._held: deque[str] | None = None

    def write(self, text: str) -> int:
        """Write text without its secrets; pieces must not end inside of a line."""
        shown = self._redacted(text)  # guards: text-redacted
        if self._in_ci:
            from nightrook.model.safe import defused  # so that --help stays quick

            shown = defused(shown, headings=self._headings)  # guards: ci-commands-in-text
        if self._held is None:
            self._stream.write(shown)
        elif shown:
            self._held.extend(f"{line}\n" for line in shown.removesuffix("\n").split("\n"))
        return len(text)

    def hold(self) -> None:
        """Hold back the last lines of the output until `release` or `drop`."""
        self._held = deque(maxlen=_MOST_HELD)

    def release(self) -> None:
        """Write the text that was held back."""
        held, self._held = self._held, None
        if held:
            self._stream.write("".join(held))
            self._stream.flush()

    def drop(self) -> None:
        """Drop the text that was held back."""
        self._held = None

    def write_command(self, line: str) -> None:
        """Write a line that a CI service is meant to run: it is not broken."""
        self._stream.write(f"{self._redacted(line)}\n")
        self._stream.flush()

    def writelines(self, lines: list[str]) -> None:
        """Write pieces of text, each as `write` does."""
        for line in lines:
            self.write(line)

    def write_json(self, data: bytes) -> None:
        """Write lines of JSON without their secrets; for a terminal and in CI with escapes."""
        from nightrook.model.safe import defused_json, safe_json  # so that --help stays quick

        data = self._redactor.data(data)  # guards: json-redacted
        is_terminal = self._stream.isatty()
        if is_terminal or self._in_ci:
            text = data.decode("utf-8", "replace")
            text = safe_json(text) if is_terminal else text  # guards: json-on-terminal
            # guards: ci-commands-in-json
            data = (defused_json(text) if self._in_ci else text).encode()
        self._stream.flush()
        self.exact.write(data)
        self.exact.flush()

    @property
    def reaches_ci(self) -> bool:
        """True if a CI service reads it as its log."""
        return self._in_ci

    @property
    def exact(self) -> BinaryIO:
        """The stream of bytes below, for a copy of an agent's output: nothing is replaced."""
        return cast(TextIO, self._stream).buffer

    def redacted(self, text: str) -> str:
        """Text without its secrets, for what is laid out before it is written."""
        return self._redactor.text(text)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # guards: no-way-around
            raise AttributeError(name)
        return getattr(self._stream, name)


def _is_file(stream: IO[str]) -> bool:
    """True for a stream that goes to a file of the user's own, not to a log."""
    try:
        return S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return False


def guard_outputs() -> None:
    """Make standard output and standard error safe."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, SafeOutput):
            setattr(sys, name, SafeOutput(stream, os.environ))


def guarded(out: TextIO) -> SafeOutput:
    """The safe output that standard output or standard error is; another stream is made safe."""
    stream: object = out
    return stream if isinstance(stream, SafeOutput) else SafeOutput(out, os.environ)


def put(out: TextIO, words: str) -> None:
    """Write a line; if that fails, the run continues without output, and is recorded."""
    try:
        out.write(f"{words}\n")
        out.flush()
    except OSError as error:
        go_unseen(out, error)


def put_json(out: TextIO, data: bytes) -> None:
    """Write a line of JSON as `put` writes text."""
    try:
        guarded(out).write_json(data + b"\n")
    except OSError as error:
        go_unseen(out, error)


def put_control(out: TextIO, sequence: str) -> None:
    """Write a sequence that a terminal acts on and does not show, as `put` writes text."""
    try:
        out.write(sequence)
        out.flush()
    except OSError as error:
        go_unseen(out, error)


def put_command(out: TextIO, line: str) -> None:
    """Write a line that a CI service is meant to run, as `put` writes text."""
    try:
        guarded(out).write_command(line)
    except OSError as error:
        go_unseen(out, error)


def say(message: str) -> None:
    """Print a line of rook itself to standard error."""
    from nightrook.model.safe import safe_line  # so that --help stays quick

    click.echo(f"[rook] {safe_line(message)}", err=True)


_gone: set[int] = set()  # the descriptors of outputs that broke


def is_gone(out: TextIO) -> bool:
    """True for an output that broke: text written to it is lost."""
    return out.fileno() in _gone


def go_unseen(out: TextIO, error: OSError) -> None:
    """Discard all further output; say why, unless the reader has just closed the pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, out.fileno())
    os.close(nowhere)
    _gone.add(out.fileno())
    if not isinstance(error, BrokenPipeError) and out is not sys.stderr:
        guarded(sys.stderr).release()
        put(sys.stderr, f"[rook] cannot write: {error.strerror or error}; the run continues")
