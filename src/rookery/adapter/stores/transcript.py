"""`Transcript`, how the sessions that an agent keeps on disk are read as events.

`History` says where the sessions are and what they used; a transcript says what happened in them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from rookery.adapter.decoder import LineDecoder
from rookery.adapter.lines import DEFAULT_CAP, Line
from rookery.adapter.memory import Memory
from rookery.adapter.reader import Table, TableReader, union_of
from rookery.adapter.times import seconds_since_1970
from rookery.model.records import Decoder, Record


def _has_id(parts: Sequence[str], session: str) -> bool:
    """Return whether the path has the id of the session in it."""
    return any(session in part for part in parts)


def _not_named(parts: Sequence[str]) -> str | None:
    """Return None: only the lines of a file say which session it is."""
    return None


def _not_of_a_task(parts: Sequence[str]) -> str | None:
    """Return None: every file is a session of its own."""
    return None


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """How the stored sessions of one agent are read as events."""

    agent: str
    recognises: Callable[[Mapping[str, Any]], bool]
    """Returns whether a line is one of this agent's stored sessions, and not of its stream."""

    decoder: Callable[..., Decoder]
    """Returns a decoder for the lines of one stored session; takes `cap`, the longest line."""

    task_of: Callable[[Sequence[str]], str | None] = _not_of_a_task
    """Returns the task whose events a file has, given the parts of its path.

    None if the file is a session of its own. A session's main file has a `task_started` with that
    id, which says in which call the task happened.
    """

    session_of: Callable[[Sequence[str]], str | None] = _not_named
    """Returns the id of the session that a file belongs to, if its path says it."""

    is_of: Callable[[Sequence[str], str], bool] = _has_id
    """Returns whether a file belongs to a session, given the parts of its path and the id."""

    resume: Callable[[str], Sequence[str]] | None = None
    """Returns the command that resumes a session, to be typed in its folder; None if none does."""

    lines: Callable[[bytes], Sequence[bytes]] | None = None
    """Cuts a file that is one document into lines of JSON; never raises."""

    query: str | None = None
    """Selects the lines of the session `:key` of a SQLite store, each a row with one JSON text."""


class TimedMemory(Memory):
    """What is remembered of a stored session: also the time of the last line."""

    at: float | None = None


class TranscriptDecoder(LineDecoder):
    """Decodes stored lines: a record has the time that its line reports, not one of arrival."""

    def __init__(
        self, agent: str, table: Table[Any], memory: TimedMemory, *, cap: int = DEFAULT_CAP
    ) -> None:
        self._memory = memory
        reader = TableReader(memory, table, looked_at=0)
        super().__init__(agent, union_of(table), reader, cap=cap)

    @property
    def _at(self) -> float | None:
        return self._memory.at

    @_at.setter
    def _at(self, _: float | None) -> None:
        """Ignore when the bytes arrived."""

    def _records(self, lines: list[Line]) -> list[Record]:
        return [record for line in lines for record in self._record(line)]


def transcript_decoder(
    agent: str, table: Table[Any], memory: Callable[[], TimedMemory]
) -> Callable[..., TranscriptDecoder]:
    """Return a function that makes a decoder for one stored session from a table.

    The memory has `at`, which the functions of the table set with `note_time`.
    """

    def decoder(*, cap: int = DEFAULT_CAP) -> TranscriptDecoder:
        return TranscriptDecoder(agent, table, memory(), cap=cap)

    return decoder


def note_time(memory: TimedMemory, written: object) -> None:
    """Remember the time of a line; one without a time has that of the line before it."""
    memory.at = seconds_since_1970(written) or memory.at
