"""Shows the progress of an import, on a terminal and after a second."""

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Self, TextIO

from nightrook.archive.cost import Archive, up_to_date
from nightrook.display.console import columns, look_of
from nightrook.display.numbers import percent, size

_QUIET_S = 1.0  # most imports end before
_STEP_S = 0.1
_WIDEST = 30
_CLEAR = "\r\x1b[K"


@contextmanager
def current_archive() -> Iterator[Archive]:
    """Import what agents have written since the last import, with a bar, and open the ledger."""
    with ExitStack() as stack:
        with ImportBar(sys.stderr, os.environ) as bar:
            archive = stack.enter_context(up_to_date(progress=bar))
        yield archive


class ImportBar:
    """Call it with the bytes that were read and those that there are to read."""

    def __init__(
        self, out: TextIO, environ: Mapping[str, str], *, quiet_s: float = _QUIET_S
    ) -> None:
        self._out = out
        self._shown = look_of(out, environ).terminal
        self._next = time.monotonic() + quiet_s
        self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the bar from the screen, until it is drawn again."""
        if self._drawn:
            self._drawn = False
            self._write(_CLEAR)

    def __call__(self, done: int, total: int) -> None:
        """Draw the bar, at most ten times a second."""
        now = time.monotonic()
        if not self._shown or now < self._next:
            return
        self._next = now + _STEP_S
        self._drawn = True
        self._write(_CLEAR + bar(done, total, columns(self._out)))

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def bar(done: int, total: int, width: int) -> str:
    """One line that is narrower than the screen."""
    share = min(done / total, 1.0) if total else 1.0
    text = f" {percent(share)} of {size(max(total, done))}"
    label = "reading sessions "
    room = min(width - len(label) - len(text) - 1, _WIDEST)
    if room < 4:
        return (label + text.strip())[: max(width - 1, 0)]
    full = round(share * room)
    return f"{label}{'█' * full}{'░' * (room - full)}{text}"
