"""Stored lines are read once, by one table: as events for people and as calls for the ledger."""

from collections.abc import Sequence
from typing import Any

import msgspec

from nightrook.adapter.history import Call, Facts, Finding, History, Limit, Noted, Session, Used
from nightrook.adapter.reader import Row, stored_of, stream_of
from nightrook.adapter.shapes import Count, Shape
from nightrook.adapter.stored import Stored, StoredMemory, note_time
from nightrook.adapter.usage import reported
from nightrook.model.events import Event, StreamClosed, Text, Usage, UsageReported


class Said(Shape, tag="said"):
    at: float | None = None
    text: str | None = None


class Spent(Shape, tag="spent"):
    at: float | None = None
    id: str | None = None
    tokens: Count | None = None
    left: float | None = None


class Memory(StoredMemory):
    def __init__(self) -> None:
        super().__init__({})
        self.facts = Facts()


def said(memory: Memory, line: Said, raw: bytes) -> Sequence[Event]:
    note_time(memory, line.at)
    return (Text(id=memory.new_id("text"), text=line.text or ""),)


def spent(memory: Memory, line: Spent, raw: bytes) -> Sequence[Noted]:
    note_time(memory, line.at)
    report = reported(Usage(input=line.tokens), message_id=line.id)
    hidden = Used(report=report, id=f"{line.id}-again", is_event=False)
    limit = Limit(at=memory.facts.at or 0, window="day", used=line.left)
    return (report, hidden, Session(id="s", title="Work"), limit)


def begin(parts: Sequence[str]) -> Facts:
    return Facts(session=parts[-1], project="/app")


TABLE = (Row(Said, said, "both"), Row(Spent, spent, "stored", (b'"spent"',)))
STORED = Stored("parrot", TABLE, Memory, facts=Facts, begin=begin, time="at")


def line(**fields: Any) -> bytes:
    return msgspec.json.encode(fields)


LINES = [
    line(type="said", at=5, text="Hi"),
    line(type="spent", at=6, id="m", tokens=9, left=0.5),
]


def findings(*lines: bytes) -> Sequence[Finding]:
    return STORED.findings(lines, begin(("home", "s")))


def test_the_events_of_a_session_have_the_times_of_its_lines() -> None:
    decoder = STORED.decoder()
    *records, closed = [*decoder.feed(b"\n".join(LINES) + b"\n"), *decoder.close()]
    assert [(record.at, record.event) for record in records] == [
        (5, Text(id="text-1", text="Hi")),
        (6, UsageReported(message_id="m", scope="message", semantics="final", input=9)),
    ]
    assert isinstance(closed.event, StreamClosed)


def test_the_same_lines_are_calls_sessions_and_limits_for_the_ledger() -> None:
    call = Call(id="m", session="s", at=6, input=9, project="/app")
    assert findings(LINES[1]) == [
        call,
        msgspec.structs.replace(call, id="m-again"),
        Session(id="s", title="Work"),
        Limit(at=6, window="day", used=0.5),
    ]


def test_a_line_with_nothing_but_a_time_has_the_time_of_the_next_call() -> None:
    call, *_ = findings(b'{"at":4}', line(type="spent", id="m", tokens=1))
    assert isinstance(call, Call)
    assert call.at == 4


def test_what_cannot_be_read_is_not_a_call() -> None:
    assert findings(b"", b'{"spent"', b'["spent"]', b'{"type":"dance","is":"spent"}') == []


def test_a_usage_that_nothing_identifies_is_not_a_call() -> None:
    unnamed = Used(report=reported(Usage(input=9)))
    stored = Stored(
        "parrot",
        (TABLE[0], Row(Spent, lambda *_: [unnamed], "stored", (b'"spent"',))),
        Memory,
        facts=Facts,
        begin=begin,
    )
    assert stored.findings([LINES[1]], begin(("s",))) == []
    *records, _ = [*(decoder := stored.decoder()).feed(LINES[1] + b"\n"), *decoder.close()]
    assert [record.event for record in records] == [unnamed.report]


def test_the_table_is_split_by_where_its_lines_occur() -> None:
    assert stream_of(TABLE) == {Said: said}
    assert stored_of(TABLE) == {Said: said, Spent: spent}
    assert STORED.needles == (b'"spent"',)


def test_a_history_without_a_reader_has_no_lines_to_read() -> None:
    reader = History(agent="parrot", places=(), recognises=bool).stored()
    assert (reader.needles, reader.time) == ((), None)
    assert reader.findings([LINES[1]], reader.begin(("s",))) == ()
