"""All other recorded streams: nobody has read their events, but they must decode beyond doubt."""

from collections import Counter
from pathlib import Path

import pytest

import rookery
from rookery.model.events import (
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


@pytest.fixture(params=recordings(), ids=full_name_of)
def recording(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.fixture
def events(recording: Path) -> list[rookery.Event]:
    decoder = rookery.decoder(agent_of(recording))
    records = decoder.feed(recording.read_bytes()) + decoder.close()
    return [record.event for record in records]


def test_no_message_and_no_field_is_unknown(events: list[rookery.Event]) -> None:
    assert [event for event in events if isinstance(event, Unknown)] == []
    closed = events[-1]
    assert isinstance(closed, StreamClosed)
    assert closed.unknown_fields == ()


def test_only_plain_text_is_unreadable(recording: Path, events: list[rookery.Event]) -> None:
    unreadable = any(isinstance(event, Unreadable) for event in events)
    assert unreadable == (recording.stem in facts(agent_of(recording)).get("plain_text", ()))


def test_every_span_ends_exactly_once(events: list[rookery.Event]) -> None:
    for start, end in ((ToolStarted, ToolFinished), (TaskStarted, TaskFinished)):
        begun = Counter(event.id for event in events if isinstance(event, start))
        ended = Counter(event.id for event in events if isinstance(event, end))
        assert begun == ended
        assert set(begun.values()) <= {1}


def test_every_result_ends_a_turn(events: list[rookery.Event]) -> None:
    closed = events[-1]
    assert isinstance(closed, StreamClosed)
    assert closed.results == sum(isinstance(event, TurnFinished) for event in events)
