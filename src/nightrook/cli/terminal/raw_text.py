"""Text that is not an agent's message, made safe to print."""

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TextIO

from nightrook import agents
from nightrook.cli.terminal.output import guarded
from nightrook.display.console import Paint
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe, safe_line, uncoloured, without_sequences
from nightrook.model.text import suggested
from nightrook.store.logs import Stream
from nightrook.story.story import Story
from nightrook.story.tail import last_bytes, log_size

_LAST = 64 * 1024  # bytes, in which the last lines are looked for
_MOST = 20  # lines


def shown_text(line: str) -> str:
    """A line of plain text, safe to print."""
    return safe(uncoloured(line))


class RawOutput:
    """Writes an agent's own bytes: exact to a file or pipe, safe and whole lines to a terminal."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._partial = b""

    def write(self, data: bytes) -> None:
        """Write the next bytes; on a terminal, a line that is not complete waits."""
        if not self._out.isatty():
            exact = guarded(self._out).exact
            exact.write(data)
            exact.flush()
            return
        lines, newline, rest = (self._partial + data).rpartition(b"\n")
        self._partial = rest
        if newline:
            self._out.write(safe(lines.decode("utf-8", "replace")) + "\n")
            self._out.flush()

    def close(self) -> None:
        """Write the text that is held back."""
        if self._partial:
            self.write(b"\n")


def without_chatter(agent: str | None, lines: Iterable[str]) -> list[str]:
    """Lines of an agent's stderr that are of use, safe to print."""
    chatter, complaints = _beginnings(agent)
    shown = [
        line
        for line in lines
        if (plain := without_sequences(line)).startswith(complaints)
        and not plain.startswith(chatter)
    ]
    return [safe_line(uncoloured(line)) for line in shown]


def last_words(story: Story, paint: Paint, *, full: bool = False) -> Iterator[str]:
    """The last lines of text, if only they can explain why a run ended; all with `full`.

    That is so for a command that no adapter knows, and for an agent that did not start or ended
    without a result.
    """
    state, folder, ending = story.state, story.folder, story.ending
    raw = story.agent is None
    if folder is None or (not raw and (ending is None or ending.ok or state.results)):
        return
    streams: tuple[Stream, ...] = ("stderr",) if raw or state.heard else ("stdout", "stderr")
    for stream in streams:
        size = log_size(folder.path, stream)
        data = last_bytes(folder.path, stream, size if full else _LAST)
        # guards: log-lines-redacted
        text = guarded(sys.stdout).redacted(data.decode("utf-8", "replace"))
        lines = [shown_text(line) for line in text.split("\n")]  # of what has no secrets
        if lines[-1] == "":
            lines.pop()
        shown = lines if full else lines[-_MOST:]
        if not any(line.strip() for line in shown):
            continue
        cut = size > len(data) or len(shown) < len(lines)
        more = f", its last lines (all: {suggested('show', folder.name, '--full')})" if cut else ""
        yield f"{paint('prefix', '[rook]')} it wrote to {stream}{more}:"
        yield from shown


@cache
def _beginnings(agent: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The beginnings of lines that are left out, and of those that alone are shown."""
    try:
        known = agents.agent(agent) if agent else None
    except NightrookError:
        known = None  # its package is gone
    return (known.chatter, known.complaints or ("",)) if known else ((), ("",))
