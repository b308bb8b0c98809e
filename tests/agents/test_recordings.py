"""All other recorded streams: nobody has read their events, but they must decode beyond doubt."""

from collections import Counter
from pathlib import Path

import nightrook
from nightrook.model.events import (
    StreamClosed,
    TaskFinished,
    TaskStarted,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    Unknown,
    Unreadable,
)
from tests.recorded import agent_of, facts, full_name_of, recordings
from tests.rules import each

every_recording = each("recording", recordings(), ids=full_name_of)


def events_of(recording: Path) -> list[nightrook.Event]:
    decoder = nightrook.decoder(agent_of(recording))
    records = decoder.feed(recording.read_bytes()) + decoder.close()
    return [record.event for record in records]


@every_recording
def test_no_message_and_no_field_is_unknown(recording: Path) -> None:
    events = events_of(recording)
    assert [event for event in events if isinstance(event, Unknown)] == []
    closed = events[-1]
    assert isinstance(closed, StreamClosed)
    assert closed.unknown_fields == ()


@every_recording
def test_only_plain_text_is_unreadable(recording: Path) -> None:
    events = events_of(recording)
    unreadable = any(isinstance(event, Unreadable) for event in events)
    assert unreadable == (recording.stem in facts(agent_of(recording)).get("plain_text", ()))


@every_recording
def test_every_span_ends_exactly_once(recording: Path) -> None:
    events = events_of(recording)
    for start, end in ((ToolStarted, ToolFinished), (TaskStarted, TaskFinished)):
        begun = Counter(event.id for event in events if isinstance(event, start))
        ended = Counter(event.id for event in events if isinstance(event, end))
        assert begun == ended
        assert set(begun.values()) <= {1}


@every_recording
def test_every_result_ends_a_turn(recording: Path) -> None:
    events = events_of(recording)
    closed = events[-1]
    assert isinstance(closed, StreamClosed)
    assert closed.results == sum(isinstance(event, TurnFinished) for event in events)
