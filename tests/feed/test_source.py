"""Reading a stream whose writer is not known: text until a message tells the agent."""

from pathlib import Path

import pytest

from rookery.adapter.lines import DEFAULT_CAP
from rookery.feed.decode import decode
from rookery.feed.source import Reading, Said, Told
from rookery.model.events import SessionStarted
from rookery.model.fold import fold
from rookery.model.records import Record


def read(data: bytes, cut: int, *, agent: str | None = None, detect: bool = True) -> list[Told]:
    reading = Reading(agent, detect=detect)
    told: list[Told] = []
    for begin in range(0, len(data), cut):
        told += reading.feed(data[begin : begin + cut])
    return told + reading.close()


@pytest.mark.parametrize("cut", [7, 1000, 1 << 30])
def test_an_agent_s_stream_gives_the_records_that_decoding_gives(session: Path, cut: int) -> None:
    assert read(session.read_bytes(), cut) == list(decode(session))


@pytest.mark.parametrize("cut", [7, 1 << 30])
def test_lines_before_the_first_message_are_told_once_and_as_text(session: Path, cut: int) -> None:
    noise = b"> project@1.0.0 agent\n{ not: json }\r\n\n"
    told = read(noise + session.read_bytes(), cut)
    assert told[:3] == [
        Said("stdout", "> project@1.0.0 agent"),
        Said("stdout", "{ not: json }"),
        Said("stdout", ""),
    ]
    records = [one for one in told if isinstance(one, Record)]
    assert len(records) == len(told) - 3
    assert isinstance(records[0].event, SessionStarted)
    assert records[0].offset == len(noise)
    assert [record.event for record in records[:-1]] == [
        record.event for record in list(decode(session))[:-1]
    ]


def test_the_state_counts_the_lines_that_were_told_as_text(session: Path) -> None:
    reading = Reading(None, detect=True)
    reading.feed(b"noise\n" + session.read_bytes())
    reading.close()
    assert reading.agent == "claude"
    assert reading.state.unreadable == fold(decode(session)).unreadable + 1
    assert not reading.only_text


def test_a_message_alone_without_a_newline_tells_the_agent_too(session: Path) -> None:
    line = session.read_bytes().split(b"\n")[0]
    reading = Reading(None, detect=True)
    assert reading.feed(line) == []
    records = [one for one in reading.close() if isinstance(one, Record)]
    assert isinstance(records[0].event, SessionStarted)


def test_plain_text_stays_text() -> None:
    reading = Reading(None, detect=True)
    assert reading.feed(b"one\ntw") == [Said("stdout", "one")]
    assert reading.feed(b"o") == []
    assert reading.close() == [Said("stdout", "two")]
    assert reading.agent is None
    assert reading.only_text


def test_nothing_is_not_text() -> None:
    reading = Reading(None, detect=True)
    assert reading.close() == []
    assert not reading.only_text


def test_a_raw_command_s_messages_are_text_unless_detection_was_asked_for(session: Path) -> None:
    assert all(isinstance(one, Said) for one in read(session.read_bytes(), 1000, detect=False))


def test_a_stream_that_is_text_for_long_is_text_for_good(session: Path) -> None:
    reading = Reading(None, detect=True)
    line = b"x" * 100_000 + b"\n"
    for _ in range(DEFAULT_CAP // len(line) + 1):
        reading.feed(line)
    assert reading._head == b""  # nothing is held for a decoder that cannot come any more
    assert all(isinstance(one, Said) for one in reading.feed(session.read_bytes()))
