"""The reader contract, and the one decoder for agents that write a JSON message per line."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Protocol, get_args

import msgspec

from rookery.adapter import salvage
from rookery.adapter.drift import Drift
from rookery.adapter.lines import DEFAULT_CAP, Line, LineBuffer, Oversized
from rookery.model.events import Event, StreamClosed, Unknown, Unreadable
from rookery.model.records import Record

_BOM = b"\xef\xbb\xbf"

Told = Event | Sequence[Event]
"""What a message tells: one event, or a tuple or list of any number."""


def several(told: Told) -> Sequence[Event]:
    """Give what a message tells as a sequence."""
    return told if isinstance(told, Sequence) else (told,)


class Reader(Protocol):
    """What one agent's messages mean. The driver reads lines; a reader never sees bad JSON."""

    memory: Any
    """What it remembers of the stream."""

    table: Mapping[type[msgspec.Struct], Callable[[Any, Any, bytes], Told]]
    """For each message shape the function that turns memory, message and its JSON into events.

    A reader may change the functions while it reads, but not put another table in its place.
    """

    @property
    def results(self) -> int:
        """How many turns the agent has finished."""

    drift: Drift
    """Where unknown fields are counted."""

    def type_of(self, message: Any) -> str:
        """Name a message's type for the drift report."""

    def close(self) -> tuple[Sequence[Event], int]:
        """End every open span; give the events and how many tool calls were open."""


class LineDecoder:
    """A decoder for JSON lines: `shapes` is the union of an agent's message types, by tag.

    `untagged` is the shape of messages that have no tag, if there are such; they are read slowly.
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
        self._eventless = 0  # lines that gave no event, blank or silent
        self._closed = False

    def feed(self, data: bytes, at: float | None = None) -> list[Record]:
        """Decode the lines that these bytes complete."""
        if self._closed:
            raise ValueError("this decoder is closed; a new stream needs a new decoder")
        self._at = at
        lines = self._lines.feed(data)
        if len(lines) == 1:
            return self._record(lines[0])
        return self._records(lines) if lines else []

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
        for event in (*events, closed):
            records.append(Record(self._seq, None, self._offset, 0, event))
            self._seq += 1
        return records

    def _record(self, line: Line) -> list[Record]:
        """Do for one line what `_records` does for many: an agent at work writes one at a time.

        Without the loops a small line takes half the time.
        """
        told: Any
        data: Any = line  # an oversized one is refused, as a line that is no JSON is
        try:
            message = self._shapes.decode(data)
        except (ValueError, RecursionError, TypeError):
            told = self._salvage(line)
        else:
            told = self._reader.table[type(message)](self._reader.memory, message, data)
        size = len(line)
        offset, at = self._offset, self._at
        self._offset += size
        self._line_count += 1
        if not told:
            self._eventless += 1
            return []
        seq = self._seq
        if type(told) is tuple or type(told) is list:
            self._seq += len(told)
            return [Record(n, at, offset, size - 1, event) for n, event in enumerate(told, seq)]
        self._seq += 1
        return [Record(seq, at, offset, size - 1, told)]

    def _records(self, lines: list[Line]) -> list[Record]:
        """Number what the lines tell and say where in the stream it was told."""
        records: list[Record] = []
        seq, offset, at = self._seq, self._offset, self._at
        eventless = 0
        for told, line in zip(self._told(lines), lines, strict=True):
            size = len(line)
            if not told:
                eventless += 1
            elif type(told) is tuple or type(told) is list:
                for event in told:
                    records.append(Record(seq, at, offset, size - 1, event))
                    seq += 1
            else:
                records.append(Record(seq, at, offset, size - 1, told))
                seq += 1
            offset += size
        self._seq, self._offset = seq, offset
        self._line_count += len(lines)
        self._eventless += eventless
        return records

    def _told(self, lines: list[Line]) -> list[Any]:
        """Give what each line tells. Every line of every stream passes here.

        Three tight loops, over lines, messages and events, take a tenth less time than one.
        """
        decode, table, memory = self._shapes.decode, self._reader.table, self._reader.memory
        told: list[Any] = []
        rest: Iterator[Any] = iter(lines)
        while len(told) < len(lines):
            messages: list[Any] = []
            with suppress(ValueError, RecursionError, TypeError):
                messages.extend(map(decode, rest))  # keeps what came before a line it refuses
            read: list[Any] = lines[len(told) : len(told) + len(messages)]
            pairs = zip(messages, read, strict=True)
            told += [table[type(message)](memory, message, line) for message, line in pairs]
            if len(told) < len(lines):
                told.append(self._salvage(lines[len(told)]))
        return told

    def _salvage(self, line: Line) -> Sequence[Event]:
        """Read a line that is no message of the expected shapes, as far as it goes."""
        if isinstance(line, Oversized):
            return (salvage.unreadable(line.head, "oversized"),)
        if not line.removeprefix(_BOM).strip():
            self._blank += 1
            return ()
        mended = salvage.parse(line)
        if isinstance(mended, Unreadable):
            return (mended,)
        events: list[Event] = []
        if isinstance(mended.value, dict):
            events += self._fit(mended.value, mended.json)
        elif isinstance(mended.value, list) and all(isinstance(m, dict) for m in mended.value):
            # A whole session in one array is what some agents write when asked for plain JSON.
            for message in mended.value:
                events += self._fit(message, msgspec.json.encode(message))
        else:
            events.append(salvage.unreadable(line, "not_an_object"))
        return events

    def _fit(self, value: dict[str, Any], raw: bytes) -> Sequence[Event]:
        """Read a message after dropping the fields that do not fit its shape."""
        name = value.get(self._tag_field)
        shapes = self._shapes
        if self._untagged is not None and self._tag_field not in value:
            shapes = self._untagged
        elif not isinstance(name, str) or name not in self._tags:
            name = name if isinstance(name, str) else None
            return (Unknown(name=name, raw=salvage.own(raw)),)
        fitted = salvage.fit(value, shapes)
        if fitted.value is None:
            name = f"{name}/{fitted.stranger}" if fitted.stranger else name
            return (Unknown(name=name, raw=salvage.own(raw)),)
        for field in fitted.dropped:
            self._reader.drift.add(self._reader.type_of(fitted.value), field)
        told = self._reader.table[type(fitted.value)](self._reader.memory, fitted.value, raw)
        return several(told)


@cache
def _json_decoder(shapes: Any) -> msgspec.json.Decoder[Any]:
    """Make a JSON decoder for some shapes, or give the one that was made before."""
    return msgspec.json.Decoder(shapes)


def _mark_cut(records: list[Record], last: Line | None) -> tuple[list[Record], bool]:
    """Put right the records of a last line without newline, and tell if it was cut short.

    The hot loop took its last byte for a newline; and if it looks like the beginning of a
    message, its end was lost: the agent's pipe was cut.
    """
    truncated = False
    head = last.head if isinstance(last, Oversized) else last or b""
    begun = head.removeprefix(_BOM).lstrip()[:1] in (b"{", b"[")
    for n, record in enumerate(records):
        event = record.event
        if isinstance(event, Unreadable) and begun:
            truncated = True
            if event.reason == "not_json":
                event = Unreadable(reason="truncated", preview=event.preview)
        records[n] = Record(record.seq, record.at, record.offset, record.length + 1, event)
    return records, truncated
