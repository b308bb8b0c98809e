"""A reader that is a table: every type is read, and the silent ones are known."""

from collections.abc import Sequence

import msgspec

from nightrook.adapter.drift import ALWAYS_LOOKED_AT
from nightrook.adapter.memory import Memory
from nightrook.adapter.reader import decoder_of
from nightrook.adapter.shapes import Shape
from nightrook.model.events import Event, StreamClosed, Text, Unknown, UnknownField


class Said(Shape, tag="said"):
    text: str | None = None


def said(memory: Memory, message: Said, line: bytes) -> Sequence[Event]:
    return [*memory.begin_turn(), Text(id=memory.new_id("text"), text=message.text or "")]


def remembered() -> Memory:
    return Memory({"said": "type text", "beat": "type"})


decoder = decoder_of("parrot", {Said: said}, remembered, silent=("beat",))


def decoded(*messages: object) -> list[Event]:
    reader = decoder()
    data = b"".join(msgspec.json.encode(message) + b"\n" for message in messages)
    return [record.event for record in reader.feed(data) + reader.close()]


def test_each_type_is_read_by_its_function() -> None:
    _, text, closed = decoded({"type": "said", "text": "Hi"})
    assert text == Text(id="text-1", text="Hi")
    assert isinstance(closed, StreamClosed)
    assert decoder().agent == "parrot"


def test_a_silent_type_is_known_and_counted() -> None:
    (closed,) = decoded({"type": "beat"}, {"type": "beat"})
    assert isinstance(closed, StreamClosed)
    assert (closed.lines, closed.silent) == (2, 2)
    assert isinstance(decoded({"type": "tick"})[0], Unknown)


def test_the_first_messages_of_every_type_are_looked_at() -> None:
    new = [{"type": "said", "text": "Hi", "mood": "good"}] * (ALWAYS_LOOKED_AT + 5)
    closed = decoded(*new, {"type": "beat", "at": 5})[-1]
    assert isinstance(closed, StreamClosed)
    assert closed.unknown_fields == (
        UnknownField(type="beat", field="at", count=1),
        UnknownField(type="said", field="mood", count=ALWAYS_LOOKED_AT),
    )


def test_streams_do_not_share_a_memory() -> None:
    first, second = decoder(), decoder()
    line = b'{"type":"said","text":"Hi"}\n'
    assert first.feed(line) == second.feed(line)
