"""The plain display, for a log, a pipe or CI: it writes lines and nothing else."""

from collections.abc import Iterator
from threading import Lock
from typing import Any, Self, TextIO

from nightrook.display.context import RunContext
from nightrook.display.plain_lines import PlainLines
from nightrook.display.texts import ShownTexts
from nightrook.model.records import Record


class PlainDisplay:
    """Shows the records of one stream as lines of text, each safe to print.

    Without a context, a cost that the agent does not report is unknown. Threads may share a
    display. `options` are those of `PlainLines`.
    """

    def __init__(
        self, out: TextIO, agent: str, *, context: RunContext | None = None, **options: Any
    ) -> None:
        self._out = out
        self._lines = PlainLines(agent, context=context or RunContext(), **options)
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def texts(self) -> ShownTexts:
        """The agent's texts so far."""
        return self._lines.texts

    def show(self, record: Record) -> None:
        """Write the lines that show a record, whole lines even if other threads write too."""
        self.put(list(self.lines(record)))

    def say(self, *lines: str) -> None:
        """Write lines of rook's own, such as a warning."""
        self.put(self._lines.own(*lines))

    def put(self, lines: list[str]) -> None:
        """Write lines that this display returned."""
        if lines:
            with self._lock:
                self._out.write("".join(f"{line}\n" for line in lines))

    def lines(self, record: Record) -> Iterator[str]:
        """Yield the lines, without newline, that show a record; often there are none."""
        return self._lines.lines(record)

    def head(self, record: Record) -> str | None:
        """What runs, once the agent has said so: a line for stderr."""
        return self._lines.head(record)

    def tick(self, now: float) -> None:
        """Nothing: a log has no line that changes."""

    def pause(self) -> None:
        """Nothing: there is no status line in the way."""

    def resume(self) -> None:
        """Nothing: there was no status line in the way."""

    def close(self) -> None:
        """Write what was held back, and flush the output."""
        self.put(list(self._lines.released()))
        self._out.flush()
