"""Follows a run from its folder alone: reads its logs by position, and never touches the agent."""

import time
from collections.abc import Iterator
from typing import Self

from rookery.adapter.lines import LineBuffer
from rookery.feed.source import Reading, Said, Told, text_of
from rookery.feed.tail import Tail
from rookery.model.errors import RookeryError
from rookery.model.state import RunState
from rookery.runs.heal import healed, is_cared_for
from rookery.store.file_names import STDERR, STDOUT
from rookery.store.run_folder import RunFolder
from rookery.store.run_formats import VerdictInfo, beginning_of

_LOOK_S = 0.05  # between two looks at logs that do not grow
_CARE_S = 2.0  # between two looks at whether anybody still sees to the run


class Follower:
    """One viewer of a run, in whatever process; several do not know of each other."""

    def __init__(self, folder: RunFolder) -> None:
        info = folder.info()
        if info is None:
            raise RookeryError(f"run {folder.name!r} is being made: try again")
        self.folder = folder
        self.info = info
        self._reading = Reading(info.agent, detect=info.piped, beginning=beginning_of(info))
        self._out = Tail(folder.path, STDOUT, b"o")
        self._err = Tail(folder.path, STDERR, b"e")
        self._err_lines = LineBuffer()
        self._looked_after = float("-inf")
        self.verdict: VerdictInfo | None = None
        """How the run ended; None while it goes on."""

    @property
    def agent(self) -> str | None:
        """The name of the agent, if it is known."""
        return self._reading.agent

    @property
    def label(self) -> str | None:
        """What the lines of the agent begin with, if it is known."""
        return self.info.called or self.agent

    @property
    def state(self) -> RunState:
        """What the run has told so far."""
        return self._reading.state

    def past(self) -> Iterator[list[Told]]:
        """Give what the run had told when this was called, for those who need not show it."""
        out, err = self.folder.size("stdout"), self.folder.size("stderr")
        while (told := self._read(out, err)) is not None:
            yield told

    def news(self) -> Iterator[list[Told]]:
        """Give what the run tells as it comes, up to its end; whatever `past` gave is left out.

        Nothing is given while nothing comes: so whoever shows it gets a turn some times a second.
        """
        while True:
            over = self._is_over()
            while (told := self._read()) is not None:
                yield told
            if over:
                break
            yield []
            time.sleep(_LOOK_S)
        if (last := self._err_lines.close()) is not None:
            yield [Said("stderr", text_of(last))]
        yield self._reading.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._out.close()
        self._err.close()

    def _read(self, out: int | None = None, err: int | None = None) -> list[Told] | None:
        """What the next bytes of the logs tell; None if there are none."""
        outs, errs = self._out.read(out), self._err.read(err)
        if not outs and not errs:
            return None
        told: list[Told] = []
        for data, at in outs:
            told += self._reading.feed(data, at)
        for data, _ in errs:
            told += [Said("stderr", text_of(line)) for line in self._err_lines.feed(data)]
        return told

    def _is_over(self) -> bool:
        """Look for a verdict; once there is one, nothing more is written."""
        if time.monotonic() - self._looked_after > _CARE_S:
            self._looked_after = time.monotonic()
            if not is_cared_for(healed(self.folder)):
                raise RookeryError(f"run {self.folder.name!r} has ended, but its verdict is lost")
        self.verdict = self.folder.verdict()
        return self.verdict is not None
