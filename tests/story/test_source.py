"""Decoding a stream whose agent is not known: text until the first message identifies it."""

from pathlib import Path

import pytest

from nightrook.adapter.lines import DEFAULT_CAP, Oversized
from nightrook.model.events import SessionStarted, Unreadable
from nightrook.model.fold import Beginning, fold
from nightrook.model.records import Record
from nightrook.story.decode import decode
from nightrook.story.source import Source, StreamDecoder, text_of

NOISE = b"> project@1.0.0 agent\n{ not: json }\r\n\n"


def read(decoder: StreamDecoder | Source, data: bytes, cut: int = 1 << 30) -> list[Record]:
    records: list[Record] = []
    for begin in range(0, len(data), cut):
        records += decoder.feed(data[begin : begin + cut])
    return records + decoder.close()


@pytest.mark.parametrize("cut", [7, 1000, 1 << 30])
def test_a_detected_stream_has_the_records_of_a_named_one(session: Path, cut: int) -> None:
    expected = list(decode(session, "claude"))
    assert read(StreamDecoder(detect=True), session.read_bytes(), cut) == expected
    assert read(Source("claude"), session.read_bytes(), cut) == expected


@pytest.mark.parametrize("cut", [7, 1 << 30])
def test_text_before_the_first_message_is_measured_and_is_unreadable(
    session: Path, cut: int
) -> None:
    decoder = StreamDecoder(detect=True)
    records = read(decoder, NOISE + session.read_bytes(), cut)
    assert decoder.agent == "claude"
    assert decoder.text_size == len(NOISE)
    before = [record.event for record in records if record.offset < decoder.text_size]
    assert [type(event) for event in before] == [Unreadable, Unreadable]
    first = next(record for record in records if record.offset >= decoder.text_size)
    assert isinstance(first.event, SessionStarted)
    assert [record.seq for record in records] == [*range(len(records))]


def test_arrival_times_are_those_of_the_pieces_even_before_the_agent_is_known() -> None:
    decoder = StreamDecoder(detect=True)
    assert decoder.feed(b"one\n", 1.0) == []
    records = decoder.feed(b'{"type":"system","subtype":"init","session_id":"s"}\n', 2.0)
    assert [record.at for record in records] == [1.0, 2.0, 2.0]


def test_the_state_counts_the_lines_before_the_first_message(session: Path) -> None:
    source = Source(detect=True)
    read(source, b"noise\n" + session.read_bytes())
    assert source.agent == "claude"
    assert source.state.unreadable == fold(decode(session)).unreadable + 1


def test_a_message_without_a_newline_identifies_the_agent_at_the_end(session: Path) -> None:
    decoder = StreamDecoder(detect=True)
    assert decoder.feed(session.read_bytes().split(b"\n")[0]) == []
    assert isinstance(decoder.close()[0].event, SessionStarted)
    assert decoder.text_size == 0


def test_plain_text_is_known_as_text_line_by_line() -> None:
    decoder = StreamDecoder(detect=True)
    assert decoder.feed(b"one\ntw") == []
    assert decoder.text_size == 4
    decoder.feed(b"o")
    assert decoder.text_size == 4
    assert decoder.close() == []
    assert (decoder.agent, decoder.text_size) == (None, 7)


def test_without_detection_everything_is_text(session: Path) -> None:
    decoder = StreamDecoder()
    data = session.read_bytes()
    assert read(decoder, data) == []
    assert decoder.text_size == len(data)


def test_after_a_lot_of_text_no_agent_is_looked_for(session: Path) -> None:
    decoder = StreamDecoder(detect=True)
    line = b"x" * 100_000 + b"\n"
    for _ in range(DEFAULT_CAP // len(line) + 1):
        decoder.feed(line)
    assert decoder.gave_up
    assert decoder._held == []  # nothing is kept for a decoder that cannot come any more
    assert read(decoder, session.read_bytes()) == []
    assert decoder.agent is None


def test_a_record_is_folded_once() -> None:
    source, records = Source("claude"), read(Source("claude"), b"noise\n")
    for record in (records[0], records[0]):
        source.fold(record)
    assert source.state.records == 1


def test_a_model_that_the_stream_lacks_is_looked_for_when_tokens_need_it() -> None:
    lines = (
        b'{"type":"thread.started","thread_id":"t"}\n'
        b'{"type":"turn.started"}\n'
        b'{"type":"turn.completed","usage":{"input_tokens":9,"output_tokens":1}}\n'
    )
    asked: list[str] = []

    def found(session: str) -> str:
        asked.append(session)
        return "gpt-5"

    source = Source("codex", find_model=found)
    source.feed(lines)  # all in one piece
    assert (asked, source.state.model) == (["t"], "gpt-5")
    assert source.state.ledger.cost.usd
    named = Source("codex", beginning=Beginning(model="gpt-5"), find_model=found)
    named.feed(lines)
    assert asked == ["t"]
    unknown = Source("codex", find_model=lambda session: None)
    unknown.feed(lines)
    assert unknown.state.ledger.cost.usd is None


def test_a_line_is_text_without_its_end_and_a_huge_one_is_a_warning() -> None:
    assert text_of(b"a\xff\r\n") == "a\ufffd"
    assert text_of(Oversized(12_000_000, b"x")) == "[rook] WARNING: skipped a line of 12.0 MB"
