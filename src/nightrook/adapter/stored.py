"""`Transcript`, how the sessions that an agent keeps on disk are read as events.

`History` says where the sessions are and what they used; a transcript says what happened in them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from nightrook.adapter.decoder import LineDecoder
from nightrook.adapter.lines import DEFAULT_CAP, Line
from nightrook.adapter.memory import Memory
from nightrook.adapter.reader import Table, TableReader, union_of
from nightrook.adapter.shapes import seconds_since_1970
from nightrook.model.events import Event
from nightrook.model.records import Decoder, Record


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
    id, which says in which call the task happened, or the id is that of the call.
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

    changes: str | None = None
    """Selects the sessions of a store, each with a mark that differs when it has changed.

    None if the first query of the agent's history selects all sessions that have events.
    """


class TimedMemory(Memory):
    """What is remembered of a stored session: also the time of the last line."""

    at: float | None = None


class SessionMemory(TimedMemory):
    """For sessions that do not report when a turn ends: it ends with its last answer."""

    said: str | None = None
    """What the agent said last in this turn."""

    is_answered = False
    """Whether the last message was an answer, after which nothing else came."""

    failure: str | None = None
    """Why the last request failed."""

    def note_answer(self, text: str | None, *, is_last: bool) -> None:
        """Remember a message of the model; it is the last one if it calls no tool."""
        self.said, self.failure = text or self.said, None
        self.is_answered = is_last

    def next_turn(self) -> list[Event]:
        """End the turn that is open, and begin another."""
        events = self.settle_turn()
        self.in_turn = False
        return [*events, *self.begin_turn()]

    def settle_turn(self, reason: str | None = None) -> list[Event]:
        """Report the end of the open turn, as far as the session shows that it ended."""
        if not self.in_turn or not (self.is_answered or self.failure or reason):
            return []
        reason = reason or ("api_error" if self.failure is not None else None)
        message = self.said if reason is None else self.failure
        self.said, self.failure, self.is_answered = None, None, False
        return [self.finish_turn(reason, message)]

    def close(self) -> tuple[Sequence[Event], int]:
        """End the turn if it was answered, and everything else that is open."""
        ended = self.settle_turn()
        events, open_tools = super().close()
        return [*ended, *events], open_tools


class TranscriptDecoder(LineDecoder):
    """Decodes stored lines: a record has the time that its line reports, not one of arrival."""

    def __init__(
        self,
        agent: str,
        table: Table[Any],
        memory: TimedMemory,
        *,
        untagged: type[msgspec.Struct] | None = None,
        cap: int = DEFAULT_CAP,
    ) -> None:
        self._memory = memory
        reader = TableReader(memory, table, looked_at=0)
        tagged = [shape for shape in table if shape is not untagged]
        super().__init__(agent, union_of(tagged), reader, untagged=untagged, cap=cap)

    @property
    def _at(self) -> float | None:
        return self._memory.at

    @_at.setter
    def _at(self, _: float | None) -> None:
        """Ignore when the bytes arrived."""

    def _records(self, lines: list[Line]) -> list[Record]:
        return [record for line in lines for record in self._record(line)]


def transcript_decoder(
    agent: str,
    table: Table[Any],
    memory: Callable[[], TimedMemory],
    *,
    untagged: type[msgspec.Struct] | None = None,
) -> Callable[..., TranscriptDecoder]:
    """Return a function that makes a decoder for one stored session from a table.

    The memory has `at`, which the functions of the table set with `note_time`. `untagged` is the
    shape of lines without a type, if the agent writes any.
    """

    def decoder(*, cap: int = DEFAULT_CAP) -> TranscriptDecoder:
        return TranscriptDecoder(agent, table, memory(), untagged=untagged, cap=cap)

    return decoder


def note_time(memory: TimedMemory, written: object) -> None:
    """Remember the time of a line; one without a time has that of the line before it."""
    memory.at = seconds_since_1970(written) or memory.at
