"""All other recorded streams: nobody has read their events, but they must decode beyond doubt."""

import re
from collections import Counter
from pathlib import Path

import pytest

import rookery
from rookery.core.events import (
    StreamClosed,
    TaskFinished,
    TaskStarted,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    Unknown,
    Unreadable,
)

HERE = Path(__file__).parent / "recordings"
RECORDINGS = sorted(HERE.glob("*/*.jsonl"))
PLAIN_TEXT = {"s30_formats__text", "s30_formats__text_api_error"}
"""Recorded with `--output-format text`."""

NO_RESULT = {"s23b_sigterm_text", "s23d_sigterm_tool", "s23e_sigkill_tool"}
"""Killed before they could write a result."""

NEW = b'"claude_code_version":"2.1.999"'


@pytest.fixture(params=RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def recording(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.fixture
def events(recording: Path) -> list[rookery.Event]:
    decoder = rookery.decoder("claude")
    records = decoder.feed(recording.read_bytes()) + decoder.close()
    return [record.event for record in records]


def test_there_are_recordings_of_both_newer_versions() -> None:
    counts = Counter(path.parent.name for path in RECORDINGS)
    assert counts["2.1.197"] >= 20
    assert counts["2.1.325"] >= 20


def test_no_message_and_no_field_is_unknown(events: list[rookery.Event]) -> None:
    assert [event for event in events if isinstance(event, Unknown)] == []
    closed = events[-1]
    assert isinstance(closed, StreamClosed)
    assert closed.unknown_fields == ()


def test_only_plain_text_is_unreadable(recording: Path, events: list[rookery.Event]) -> None:
    unreadable = any(isinstance(event, Unreadable) for event in events)
    assert unreadable == (recording.stem in PLAIN_TEXT)


def test_every_span_ends_exactly_once(events: list[rookery.Event]) -> None:
    for start, end in ((ToolStarted, ToolFinished), (TaskStarted, TaskFinished)):
        begun = Counter(event.id for event in events if isinstance(event, start))
        ended = Counter(event.id for event in events if isinstance(event, end))
        assert begun == ended
        assert set(begun.values()) <= {1}


def test_every_result_ends_a_turn(recording: Path, events: list[rookery.Event]) -> None:
    turns = sum(isinstance(event, TurnFinished) for event in events)
    closed = events[-1]
    assert isinstance(closed, StreamClosed)
    assert closed.results == turns
    assert bool(turns) == (recording.stem not in NO_RESULT | PLAIN_TEXT)


def test_the_table_of_fields_knows_all_that_the_checked_versions_wrote() -> None:
    real = HERE.parent.glob("cases/*-[12].*/wire.jsonl")
    for path in [*RECORDINGS, *real]:
        # Fields are looked at only if the version is new.
        wire = re.sub(rb'"claude_code_version":"[^"]+"', NEW, path.read_bytes())
        decoder = rookery.decoder("claude")
        closed = (decoder.feed(wire) + decoder.close())[-1].event
        assert isinstance(closed, StreamClosed)
        assert (path, closed.unknown_fields) == (path, ())
