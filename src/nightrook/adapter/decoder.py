"""`LineDecoder` decodes one JSON message per line; a `Reader` defines what an agent's mean.

    bytes ─LineBuffer─▶ lines ─strict decoding─▶ messages ─the reader's table─▶ events ─▶ records
          (newlines)      │   (by tag, typed)                 (with a memory)     (seq, at, offset)
                          │ refused
                          ▼
           blank? ─ too long? ─ repaired, and what does not fit is dropped ─ unknown ─ unreadable

A decoder is fed bytes in chunks of any size, and returns the same records for any chunks. It does
no I/O, has no clock (the caller passes the time of arrival) and never raises on what agents write.

- **Every line counts once**, as one of: understood (it has events), silent (known, without events),
  unknown (`Unknown` keeps the whole message), unreadable (`Unreadable`, with the reason), blank.
  `StreamClosed` has the counts, so that nothing is lost unseen.
- **A function of the table** gets the memory of the stream, a message of its shape, and the line's
  JSON. It may rely on the types of the fields, and on nothing else: any field may be missing, any
  message may come at any time or twice. It returns one event or a sequence, and never raises.
- **Strict first.** A typed decoder of msgspec reads a line in one pass, skips the fields that no
  shape has, and picks the shape by its tag. Nearly all lines pass. What it refuses is parsed again
  slowly (`salvage`): text is repaired, and a field of an unexpected type is dropped and counted as
  drift, so that a surprise in one field never costs the line.
- **Too long** is a line over the cap: only its ends are kept (`lines`), the reader gets a message
  made of them (`oversized`, as `Shortened`), and an `Unreadable` says at which byte all of it is.
- **Records are numbered without gaps**, and have the position of their line, so that a viewer can
  read bulky parts from the log instead of keeping them. What no line reports has no length.
- **Memory is bounded**: once per megabyte the memory lets go of its oldest items.
- **Closing** decodes a last line without newline, which may be cut, ends what is open (a call as
  `orphaned`), and reports the counts. It can be done once; feeding a closed decoder is an error.

Two loops do the same: `_record` for the single line that a running agent writes, `_records` for
files. They are most of the time that a run, a replay or an import takes.

`ChoosingDecoder` is for an agent that writes one of two formats: the first message shows which.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Protocol, get_args

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.drift import Drift
from nightrook.adapter.lines import DEFAULT_CAP, Line, LineBuffer, Oversized
from nightrook.adapter.oversized import Shortened, shortened
from nightrook.model.events import Event, StreamClosed, Unknown, Unreadable
from nightrook.model.records import Decoder, Record

_BOM = b"\xef\xbb\xbf"
_TRIM_SIZE = 1_000_000  # bytes between two looks at how much is remembered
_MOST_HELD = 1 << 20  # bytes of noise before the first message
_load = msgspec.json.Decoder().decode

Events = Event | Sequence[Event]
"""The result of decoding a message: one event, or a tuple or list of any number of events."""


def as_sequence(events: Events) -> Sequence[Event]:
    """Return the events of a message as a sequence, even if there is only one."""
    return events if isinstance(events, Sequence) else (events,)


class Reader(Protocol):
    """The reader of one agent's messages. It gets decoded messages and never sees invalid JSON."""

    memory: Any
    """The reader's state for the stream."""

    table: Mapping[type[msgspec.Struct], Callable[[Any, Any, bytes], Events]]
    """The function for each message shape that turns memory, message and its JSON into events.

    A reader may change the functions while it reads, but must not replace the table.
    """

    @property
    def results(self) -> int:
        """The number of turns the agent has finished."""

    drift: Drift
    """The counts of unknown fields."""

    def type_of(self, message: Any) -> str:
        """Return the type of a message, for the report of unknown fields."""

    def close(self) -> tuple[Sequence[Event], int]:
        """End every open span; return the events and the number of open tool calls."""


class LineDecoder:
    """A decoder for JSON lines: `shapes` is the union of an agent's message types, by tag.

    `untagged` is the shape of messages without a tag, if the agent has any; reading them is slow.
    """

    def __init__(
        self,
        agent: str,
        shapes: Any,
        reader: Reader,
        *,
        untagged: type[msgspec.Struct] | None = None,
        cap: int = DEFAULT_CAP,
    ) -> None:
        self.agent = agent
        self._reader = reader
        self._shapes = _json_decoder(shapes)
        self._untagged = None if untagged is None else _json_decoder(untagged)
        kinds = [shape.__struct_config__ for shape in get_args(shapes)]
        self._tags = frozenset(kind.tag for kind in kinds)
        self._tag_field: str = kinds[0].tag_field
        self._lines = LineBuffer(cap)
        self._seq = 0
        self._offset = 0
        self._at: float | None = None
        self._line_count = 0
        self._blank = 0
        self._eventless = 0  # lines without an event, blank or silent
        self._closed = False
        self._trim_at = _TRIM_SIZE

    def feed(self, data: bytes, at: float | None = None) -> list[Record]:
        """Decode the lines that these bytes complete."""
        if self._closed:
            raise ValueError("this decoder is closed; a new stream needs a new decoder")
        self._at = at
        lines = self._lines.feed(data)
        if len(lines) == 1:
            records = self._record(lines[0])
        else:
            records = self._records(lines) if lines else []
        if self._offset >= self._trim_at:
            self._trim_at = self._offset + _TRIM_SIZE
            trim = getattr(self._reader.memory, "trim", None)  # a memory of another package's own
            records += self._between_lines(trim() if trim is not None else ())
        return records

    def close(self) -> list[Record]:
        """Decode a last line without newline, end what is open and close the stream."""
        if self._closed:
            return []
        self._closed = True
        last = self._lines.close()
        records = [] if last is None else self._record(last)
        records, truncated = _mark_cut(records, last)
        events, open_tools = self._reader.close()
        closed = StreamClosed(
            results=self._reader.results,
            truncated=truncated,
            open_tools=open_tools,
            lines=self._line_count,
            blank=self._blank,
            silent=self._eventless - self._blank,
            unknown_fields=self._reader.drift.fields(),
        )
        self._at = None
        return [*records, *self._between_lines((*events, closed))]

    def _between_lines(self, events: Sequence[Event]) -> list[Record]:
        """Number events that no line reports."""
        seq, self._seq = self._seq, self._seq + len(events)
        return [Record(n, self._at, self._offset, 0, event) for n, event in enumerate(events, seq)]

    def _record(self, line: Line) -> list[Record]:
        """Decode one line as `_records` decodes many: a running agent writes one at a time.

        Without the loops, a short line takes half the time.
        """
        events: Any
        data: Any = line  # an oversized line is refused like one that is not JSON
        try:
            message = self._shapes.decode(data)
        except (ValueError, RecursionError, TypeError):
            events = self._salvage(line)
        else:
            events = self._reader.table[type(message)](self._reader.memory, message, data)
        size = len(line)
        offset, at = self._offset, self._at
        self._offset += size
        self._line_count += 1
        if not events:
            self._eventless += 1
            return []
        seq = self._seq
        if type(events) is list or type(events) is tuple:
            self._seq += len(events)
            return [Record(n, at, offset, size - 1, event) for n, event in enumerate(events, seq)]
        self._seq += 1
        return [Record(seq, at, offset, size - 1, events)]

    def _records(self, lines: list[Line]) -> list[Record]:
        """Number the events of the lines and add their positions in the stream."""
        records: list[Record] = []
        seq, offset, at = self._seq, self._offset, self._at
        eventless = 0
        for events, line in zip(self._events(lines), lines, strict=True):
            size = len(line)
            if not events:
                eventless += 1
            elif type(events) is list or type(events) is tuple:
                length = size - 1
                for event in events:
                    records.append(Record(seq, at, offset, length, event))
                    seq += 1
            else:
                records.append(Record(seq, at, offset, size - 1, events))
                seq += 1
            offset += size
        self._seq, self._offset = seq, offset
        self._line_count += len(lines)
        self._eventless += eventless
        return records

    def _events(self, lines: list[Line]) -> list[Any]:
        """Return the events of each line. Every line of every stream passes through here.

        Three tight loops, over lines, messages and events, take a tenth less time than one.
        """
        decode, table, memory = self._shapes.decode, self._reader.table, self._reader.memory
        events: list[Any] = []
        rest: Iterator[Any] = iter(lines)
        while len(events) < len(lines):
            messages: list[Any] = []
            with suppress(ValueError, RecursionError, TypeError):
                messages.extend(map(decode, rest))  # keeps what came before a line it refuses
            read: list[Any] = lines[len(events) : len(events) + len(messages)]
            pairs = zip(messages, read, strict=True)
            events += [table[type(message)](memory, message, line) for message, line in pairs]
            if len(events) < len(lines):
                events.append(self._salvage(lines[len(events)]))
        return events

    def _salvage(self, line: Line) -> Sequence[Event]:
        """Read as much as possible of a line that doesn't have an expected shape."""
        if isinstance(line, Oversized):
            return self._shorten(line)
        if not line.removeprefix(_BOM).strip():
            self._blank += 1
            return ()
        repaired = salvage.parse(line)
        if isinstance(repaired, Unreadable):
            if repaired.reason == "too_deep":
                return self._read_shallow(line)
            return self._read_text(line, repaired)
        events: list[Event] = []
        if isinstance(repaired.value, dict):
            events += self._fit(repaired.value, repaired.json)
        elif isinstance(repaired.value, list) and all(isinstance(m, dict) for m in repaired.value):
            # Some agents write a whole session as one array when asked for plain JSON.
            for message in repaired.value:
                events += self._fit(message, msgspec.json.encode(message))
        else:
            events.append(salvage.unreadable(line, "not_an_object"))
        return events

    def _read_text(self, line: bytes, unreadable: Unreadable) -> Sequence[Event]:
        """Read a line of plain text, which some agents write before their first message."""
        read = getattr(self._reader.memory, "read_text", None)  # a memory of another package's own
        events: Sequence[Event] | None = None if read is None else read(line)
        return (unreadable,) if events is None else events

    def _shorten(self, line: Oversized) -> Sequence[Event]:
        """Report a line that is too long to keep, and read a message from its two ends."""
        warning = salvage.unreadable(line.head, "oversized")
        short = shortened(line)
        repaired = None if short is None else salvage.parse(short)
        if not isinstance(repaired, salvage.Repaired) or not isinstance(repaired.value, dict):
            return (warning,)
        return (warning, *self._fit(repaired.value, Shortened(repaired.json)))

    def _read_shallow(self, line: bytes) -> Sequence[Event]:
        """Read a message of a known type without values that are nested too deep."""
        rest = salvage.parse(salvage.shallow(line, salvage.DEEPEST_LINE))
        if isinstance(rest, salvage.Repaired) and isinstance(rest.value, dict):
            name = rest.value.get(self._tag_field)
            if isinstance(name, str) and name in self._tags:
                return self._fit(rest.value, rest.json)
        return (salvage.unreadable(line, "too_deep"),)

    def _fit(self, value: dict[str, Any], raw: bytes) -> Sequence[Event]:
        """Read a message after dropping the fields that do not fit its shape."""
        name = value.get(self._tag_field)
        shapes = self._shapes
        if self._untagged is not None and self._tag_field not in value:
            shapes = self._untagged
        elif not isinstance(name, str) or name not in self._tags:
            name = name if isinstance(name, str) else None
            return (Unknown(name=name, raw=salvage.raw_copy(raw)),)
        fitted = salvage.fit(value, shapes)
        if fitted.value is None:
            name = f"{name}/{fitted.unknown_type}" if fitted.unknown_type else name
            return (Unknown(name=name, raw=salvage.raw_copy(raw)),)
        for field in fitted.dropped:
            self._reader.drift.add(self._reader.type_of(fitted.value), field)
        read = self._reader.table[type(fitted.value)]
        return as_sequence(read(self._reader.memory, fitted.value, raw))


@cache
def _json_decoder(shapes: Any) -> msgspec.json.Decoder[Any]:
    """Return the JSON decoder for some shapes, which is made only once."""
    return msgspec.json.Decoder(shapes)


def _mark_cut(records: list[Record], last: Line | None) -> tuple[list[Record], bool]:
    """Correct the records of a last line without newline, and return whether it was cut short.

    The hot loop counts the last byte as a newline. A line that looks like the beginning of a
    message was cut short: the agent's pipe closed before the end.
    """
    truncated = False
    head = last.head if isinstance(last, Oversized) else last or b""
    is_message = head.removeprefix(_BOM).lstrip()[:1] in (b"{", b"[")
    for n, record in enumerate(records):
        event = record.event
        is_alone = len(records) == 1  # otherwise the ends of a long message were read
        if isinstance(event, Unreadable) and is_message and is_alone:
            truncated = True
            if event.reason == "not_json":
                event = Unreadable(reason="truncated", preview=event.preview)
        records[n] = Record(record.seq, record.at, record.offset, record.length + 1, event)
    return records, truncated


class ChoosingDecoder:
    """Decodes a stream by `other` if `is_other` says so of its first message, else by `usual`.

    Everything before the first message is held back: noise may precede either format.
    """

    def __init__(
        self,
        agent: str,
        is_other: Callable[[Mapping[str, Any]], bool],
        other: Callable[[], Decoder],
        usual: Callable[[], Decoder],
        *,
        cap: int = DEFAULT_CAP,
    ) -> None:
        self.agent = agent
        self._is_other = is_other
        self._other, self._usual = other, usual
        self._chosen: Decoder | None = None
        self._lines = LineBuffer(cap)
        self._held: list[tuple[bytes, float | None]] = []
        self._size = 0

    def feed(self, data: bytes, at: float | None = None) -> list[Record]:
        """Decode the lines that these bytes complete."""
        if self._chosen is not None:
            return self._chosen.feed(data, at)
        self._held.append((data, at))
        self._size += len(data)
        for line in self._lines.feed(data):
            if isinstance(line, bytes) and (found := self._looks(line)) is not None:
                return self._choose(is_other=found)
        return self._choose(is_other=False) if self._size > _MOST_HELD else []

    def close(self) -> list[Record]:
        """Decode a last line without newline, end everything open and close the stream."""
        records = []
        if self._chosen is None:
            last = self._lines.close()
            records = self._choose(is_other=isinstance(last, bytes) and self._looks(last) is True)
        assert self._chosen is not None
        return records + self._chosen.close()

    def _looks(self, line: bytes) -> bool | None:
        """True if a line is a message of the other format; None if it isn't a message."""
        try:
            message = _load(line)
        except (ValueError, RecursionError):
            return None
        return self._is_other(message) if isinstance(message, dict) else None

    def _choose(self, *, is_other: bool) -> list[Record]:
        self._chosen = self._other() if is_other else self._usual()
        held, self._held = self._held, []
        return [record for data, at in held for record in self._chosen.feed(data, at)]
