"""Reads the sessions that an agent keeps on disk, by its table: as events and as calls.

    a stored line ──▶ its function in the table ──▶ events, and what only the ledger needs
                                                      │                        │
                          `decoder`: the events ◀┴▶ `findings`: calls, sessions and limits

Both readings decode a line by the same shape and call the same function. The ledger's is quick
because it never sees most lines: the archive looks for the `needles` of the table in the bytes of
each, and decodes only those that hold one. It also resumes in the middle of a file, so whatever a
function needs to know for the ledger is in the `Facts` of the memory, which are plain data. What
else the memory has, as open calls, is not there then, and no call may depend on it.

`adapter.history` describes where the sessions are. An agent whose sessions are large can have a
quicker way for the ledger (`history.Counting`), and its table only for the events.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events, LineDecoder, as_sequence
from nightrook.adapter.history import Call, Facts, Finding, Limit, Session, Used, call_of
from nightrook.adapter.lines import DEFAULT_CAP, Line
from nightrook.adapter.memory import Memory
from nightrook.adapter.reader import Read, Row, Table, TableReader, union_of
from nightrook.adapter.shapes import seconds_since_1970
from nightrook.model.events import Event, UsageReported
from nightrook.model.records import Record


class TimedMemory(Memory):
    """The state of reading a stored session: also the time of the last line."""

    at: float | None = None


class StoredMemory(TimedMemory):
    """The state of reading a stored session with one table for all of its lines."""

    facts: Any
    """The part that the ledger needs, a struct derived from `Facts`."""

    @property
    def at(self) -> float | None:  # type: ignore[override]
        """The time of the last line."""
        at: float | None = self.facts.at
        return at


class SessionMemory(StoredMemory):
    """The state of sessions that do not report the end of a turn: its last answer is the end."""

    said: str | None = None
    """The agent's last text in this turn."""

    is_answered = False
    """True if the last message was an answer and nothing followed it."""

    failure: str | None = None
    """The reason why the last request failed."""

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
        """Ignore the arrival time of the bytes."""

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
    at = seconds_since_1970(written)
    if at is None:
        return
    if isinstance(memory, StoredMemory):
        memory.facts.at = at
    else:
        memory.at = at


class Stored:
    """Reads stored lines by the rows of an agent's table that are not about its stream alone.

    `memory` makes a memory for a file; `begin` makes its facts from the parts of the file's path.
    `silent` are the lines without events, and `untagged` is the shape of lines without a type.
    `time` is the field with the time of a line, if lines without a needle have it as well;
    `time_of` finds it for an event whose shape leaves it out. `start` matches how a message begins,
    to find one behind another that was cut.
    """

    def __init__(
        self,
        agent: str,
        rows: Iterable[Row],
        memory: Callable[[], StoredMemory],
        *,
        facts: type[Facts] = Facts,
        begin: Callable[[Sequence[str]], Facts] | None = None,
        silent: Table[Any] | None = None,
        untagged: type[msgspec.Struct] | None = None,
        time: str | None = None,
        time_of: Callable[[bytes], object] | None = None,
        start: re.Pattern[bytes] | None = None,
    ) -> None:
        self._agent = agent
        self._memory = memory
        self.facts = facts
        self.begin = begin or (lambda _: facts())
        self.time = time
        self._start = start
        rows = [row for row in rows if row.where != "stream"]
        shown = [row for row in rows if row.where != "ledger"]
        counted = [row for row in rows if row.where == "ledger" or row.needles]
        if time_of is not None:
            shown = [row._replace(read=_timed(row.read, time_of)) for row in shown]
        self._table: Table[Any] = {
            **{row.shape: _only_events(row.read) if row.needles else row.read for row in shown},
            **(silent or {}),
        }
        self._counted = {row.shape: row.read for row in counted}
        self.needles = tuple(dict.fromkeys(needle for row in counted for needle in row.needles))
        tagged = [shape for shape in self._counted if shape is not untagged]
        shapes = [union_of(tagged)] if tagged else []
        if untagged in self._counted:
            shapes.append(untagged)
        self._decoders = [msgspec.json.Decoder(shape) for shape in shapes]
        self._untagged = untagged

    def decoder(self, *, cap: int = DEFAULT_CAP) -> TranscriptDecoder:
        """Return a decoder for the events of one stored session."""
        untagged = self._untagged if self._untagged in self._table else None
        memory = self._memory_with(self.facts())
        return TranscriptDecoder(self._agent, self._table, memory, untagged=untagged, cap=cap)

    def _memory_with(self, facts: Facts) -> StoredMemory:
        memory = self._memory()
        memory.facts = facts
        return memory

    def findings(self, lines: Sequence[bytes], facts: Any) -> Sequence[Finding]:
        """Read lines that hold a needle and follow each other; the facts change with them."""
        memory = self._memory_with(facts)
        found: list[Any] = []
        decode, counted = self._decoders[0].decode, self._counted
        for line in lines:
            messages: Iterable[Any]
            try:
                messages = (decode(line),)
            except (ValueError, RecursionError):
                messages = self._other_messages(line, facts)
            for message in messages:
                read: Any = counted[type(message)](memory, message, line)
                for noted in read if type(read) is tuple else as_sequence(read):
                    if type(noted) in _FINDINGS:
                        found.append(noted)
                    elif isinstance(noted, (Used, UsageReported)):
                        used = noted if isinstance(noted, Used) else Used(report=noted)
                        if used.id or used.report.message_id:  # any other could count twice
                            found.append(call_of(used, facts))
        return found

    def _other_messages(self, line: bytes, facts: Facts) -> Iterator[Any]:
        """Decode a line that is not one message with a type: it has none, or is damaged."""
        for decoder in self._decoders[1:]:
            with suppress(ValueError, RecursionError):
                yield decoder.decode(line)
                return
        for part in salvage.whole_messages(line):
            if (message := self._salvaged(part)) is not None:
                yield message
            elif self.time is not None:
                self._note_time(part, facts)

    def _salvaged(self, line: bytes) -> Any:
        """Read as much as possible of a message; None if its shape is unknown."""
        for decoder in self._decoders:
            if (message := salvage.decode_part(line, decoder)) is not None:
                return message
        if self._start is None:
            return None
        return salvage.decode_after_cut(line, self._decoders[0], self._start)

    def _note_time(self, line: bytes, facts: Facts) -> None:
        """Record the time of a line of another type, or of one that has nothing else."""
        fields = salvage.decode_part(line, _fields_decoder) or {}
        time = salvage.decode_part(fields.get(self.time or "", b""), _any_decoder)
        facts.at = seconds_since_1970(time) or facts.at


_FINDINGS = frozenset({Call, Session, Limit})
_any_decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder(object)
_fields_decoder: msgspec.json.Decoder[dict[str, msgspec.Raw]] = msgspec.json.Decoder(
    dict[str, msgspec.Raw]
)


def _timed(
    read: Callable[[Any, Any, bytes], Any], time_of: Callable[[bytes], object]
) -> Callable[[Any, Any, bytes], Any]:
    """Return a function that notes the time of a line before it is read."""

    def timed(memory: Any, message: Any, line: bytes) -> Any:
        note_time(memory, time_of(line))
        return read(memory, message, line)

    return timed


def _only_events(read: Callable[[Any, Any, bytes], Any]) -> Read[Any]:
    """Return a function that leaves out what only the ledger needs."""

    def events(memory: Any, message: Any, line: bytes) -> Events:
        kept: list[Event] = []
        for noted in as_sequence(read(memory, message, line)):
            if isinstance(noted, Used):
                kept += (noted.report,) if noted.is_event else ()
            elif not isinstance(noted, Call | Session | Limit):
                kept.append(noted)
        return kept

    return events
