"""Reads the bulky parts of a timeline's items from the raw log: whole texts, inputs, outputs."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from nightrook.model.events import Event, Text, Thinking, ToolFinished, ToolStarted, UserMessage
from nightrook.model.records import Record
from nightrook.model.text import first_line
from nightrook.model.timeline import LONGEST_FIRST_LINE, Item, ItemKind, Place
from nightrook.story.decode import StreamDecoder
from nightrook.story.tail import read_at

_CONTEXTS = (0, 64 << 10, 1 << 20, 16 << 20)
"""Bytes before a message that are read with it: some agents write a text in pieces."""

_FURTHEST = 1 << 20  # how far to look for a better match than one that was found
_HEAD = 8 << 10  # bytes at the beginning of a log, where an agent may introduce itself
_LARGEST = 64 << 20  # of a message; more would not be shown


class Body(msgspec.Struct, frozen=True):
    """Messages of an item: the event that began it, and the one that ended it."""

    start: Event | None = None
    result: ToolFinished | None = None

    @property
    def text(self) -> str | None:
        """The whole text of a text, a thought or a message."""
        return self.start.text if isinstance(self.start, (Text, Thinking, UserMessage)) else None


Fits = Callable[[Event], bool]
"""Test for the event that is looked for."""

ReadAt = Callable[[int, int], bytes]
"""Reads so many bytes of a log at an offset."""


class Bodies:
    """Reads the bodies of a timeline's items; `decode` decodes some lines of the log."""

    def __init__(self, read_at: ReadAt, decode: Callable[[bytes], Iterable[Record]]) -> None:
        self._read_at = read_at
        self._decode = decode

    def read(self, item: Item) -> Body:
        """Read the body of an item; parts missing in the log are None."""
        if item.place is None:
            return Body()
        start = self._find(
            item.place, lambda event: _begins(event, item), lambda event: _is_start(event, item)
        )
        if item.result is None or item.tool is None:
            return Body(start)
        # What a call returned is read with the call: what some outputs mean depends on it.
        call = self._line(item.place) if start is not None else b""
        result = self._find(
            item.result, lambda event: _ends(event, item), lambda event: _is_end(event, item), call
        )
        return Body(start, result if isinstance(result, ToolFinished) else None)

    def _find(self, place: Place, fits: Fits, is_it: Fits, before: bytes = b"") -> Event | None:
        """The event that fits among those of a message, or of more that came before it.

        What a message means may depend on others, so one that only fits is the second choice.
        """
        second: Event | None = None
        for context in _CONTEXTS:
            data = before + self._line(place, context)
            if context < place.offset:  # else it begins with the head
                data = self._head() + data if context else data
            for event in filter(fits, self._decoded(data)):
                if is_it(event):
                    return event
                second = second or event
            if context >= (place.offset if second is None else min(place.offset, _FURTHEST)):
                break
        return second

    def _head(self) -> bytes:
        """The first messages of the log."""
        data = self._read_at(0, _HEAD)
        return data[: data.rfind(b"\n") + 1]

    def _line(self, place: Place, context: int = 0) -> bytes:
        """A message, with whole messages from so many bytes before it."""
        begin = max(0, place.offset - context)
        size = min(place.offset + place.length - begin, _LARGEST)
        data = self._read_at(begin, size)
        if context and begin:
            data = data[data.find(b"\n") + 1 :]
        return data if data.endswith(b"\n") else data + b"\n"

    def _decoded(self, data: bytes) -> Iterator[Event]:
        return (record.event for record in self._decode(data))


def run_bodies(folder: Path, agent: str | None) -> Bodies:
    """The bodies of a run's items; `agent` wrote its log."""

    def decode(data: bytes) -> list[Record]:
        decoder = StreamDecoder(agent)
        return [*decoder.feed(data), *decoder.close()]

    return Bodies(partial(read_at, folder, "stdout"), decode)


def _begins(event: Event, item: Item) -> bool:
    if isinstance(event, ToolStarted):
        return item.tool is not None and event.id == item.key
    return isinstance(event, (Text, Thinking, UserMessage)) and _looks_like(event, item)


def _is_start(event: Event, item: Item) -> bool:
    """True if the start of a call is read as it was read in its stream."""
    return not isinstance(event, ToolStarted) or (event.name, event.kind) == (item.name, item.tool)


def _is_end(event: Event, item: Item) -> bool:
    """True if the end of a call is read as it was read in its stream."""
    return isinstance(event, ToolFinished) and event.status == item.status


def _ends(event: Event, item: Item) -> bool:
    return isinstance(event, ToolFinished) and event.id == item.key and event.status != "orphaned"


def _looks_like(event: Text | Thinking | UserMessage, item: Item) -> bool:
    """True if a text is an item's: ids of texts may depend on what was written before."""
    text = event.text or ""
    same = (_KINDS[type(event)], len(text)) == (item.kind, item.size)
    return same and first_line(text, LONGEST_FIRST_LINE) == item.title


_KINDS: dict[type, ItemKind] = {Text: "text", Thinking: "thinking", UserMessage: "message"}
