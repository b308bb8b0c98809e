"""Decoding recorded streams, from wherever they come."""

import io
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import nightrook
from nightrook.adapter.lines import DEFAULT_CAP, Oversized
from nightrook.model.events import SessionStarted, StreamClosed, Unreadable
from nightrook.model.records import Record
from nightrook.story.decode import StreamDecoder, text_of
from tests.rights import ordinary_rights
from tests.runs.scripted import play

NOISE = b"> project@1.0.0 agent\n{ not: json }\r\n\n"


def by_hand(data: bytes) -> list[nightrook.Record]:
    decoder = nightrook.decoder("claude")
    return decoder.feed(data) + decoder.close()


def test_a_path_an_open_file_and_pieces_of_bytes_give_the_same_records(session: Path) -> None:
    data = session.read_bytes()
    pieces = [data[:100], data[100:5000], b"", data[5000:]]
    with session.open("rb") as file:
        assert list(nightrook.decode(file)) == by_hand(data)
        assert not file.closed
    assert list(nightrook.decode(session)) == by_hand(data)
    assert list(nightrook.decode(str(session))) == by_hand(data)
    assert list(nightrook.decode(pieces)) == by_hand(data)
    assert list(nightrook.decode(io.BytesIO(data), agent="claude")) == by_hand(data)


def test_a_pipe_gives_records_as_they_come(session: Path) -> None:
    first, second, *_ = session.read_bytes().split(b"\n")
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as file, os.fdopen(writing, "wb", buffering=0) as pipe:
        pipe.write(first + b"\n")
        records = nightrook.decode(file, agent="claude")
        assert isinstance(next(records).event, SessionStarted)
        pipe.write(second + b"\n")
        threading.Thread(target=pipe.close).start()
        assert isinstance(list(records)[-1].event, StreamClosed)


def test_a_missing_file_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(nightrook.UnreadableSourceError, match="no such file"):
        list(nightrook.decode(tmp_path / "missing"))


def test_a_folder_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(nightrook.UnreadableSourceError, match="is a folder"):
        list(nightrook.decode(tmp_path))


def test_a_forbidden_file_is_a_typed_error(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.touch(mode=0o000)
    forbidden = pytest.raises(nightrook.UnreadableSourceError, match="may not be read")
    with ordinary_rights(), forbidden:
        list(nightrook.decode(path))


class Failing(io.RawIOBase):
    """A file on a disk that fails, or with a name too long to open."""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        raise OSError(5, "Input/output error")


def test_a_file_that_fails_while_it_is_read_is_a_typed_error() -> None:
    with pytest.raises(nightrook.UnreadableSourceError, match="the stream: Input/output error"):
        list(nightrook.decode(Failing()))


def test_a_file_may_not_be_read_is_said_plainly(tmp_path: Path) -> None:
    from nightrook.story.decode import _why

    assert _why(PermissionError(13, "Permission denied")) == "may not be read"


def test_lines_of_no_agent_are_an_error_that_names_the_way_out() -> None:
    with pytest.raises(nightrook.UndetectedAgentError, match="agent= or --agent"):
        list(nightrook.decode([b'{"type":"nobody"}\nhello\n']))


def test_noise_before_the_first_message_does_not_hide_the_agent(session: Path) -> None:
    noise = b"npm warn deprecated\n[1, 2]\n{broken\n"
    records = list(nightrook.decode([noise, session.read_bytes()]))
    assert [record.offset for record in records[:3]] == [0, 20, 27]
    assert all(isinstance(record.event, Unreadable) for record in records[:3])
    assert isinstance(records[3].event, SessionStarted)


def test_a_named_agent_needs_no_message_to_be_recognised() -> None:
    records = list(nightrook.decode([b"hello\n"], agent="claude"))
    assert [type(record.event) for record in records] == [Unreadable, StreamClosed]


def test_a_last_line_without_newline_can_tell_the_agent() -> None:
    line = b'{"type":"result","subtype":"success","result":"done","session_id":"s"}'
    assert list(nightrook.decode([line])) == by_hand(line)


def test_endless_bytes_of_no_agent_are_given_up() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 1_000_000

    with pytest.raises(nightrook.UndetectedAgentError):
        next(nightrook.decode(endless()))


def test_leaving_early_closes_a_file_that_was_given_by_path(session: Path) -> None:
    records = nightrook.decode(session)
    next(records)
    records.close()  # type: ignore[attr-defined]  # a warning of an unclosed file would be an error


def test_the_line_cap_can_be_set(session: Path) -> None:
    records = list(nightrook.decode(session, agent="claude", cap=100))
    assert {
        record.event.reason for record in records[:-1] if isinstance(record.event, Unreadable)
    } == {"oversized"}


def read(decoder: StreamDecoder, data: bytes, cut: int = 1 << 30) -> list[Record]:
    records: list[Record] = []
    for begin in range(0, len(data), cut):
        records += decoder.feed(data[begin : begin + cut])
    return records + decoder.close()


@pytest.mark.parametrize("cut", [7, 1000, 1 << 30])
def test_a_detected_stream_has_the_records_of_a_named_one(session: Path, cut: int) -> None:
    expected = list(nightrook.decode(session, "claude"))
    assert read(StreamDecoder(detect=True), session.read_bytes(), cut) == expected
    assert read(StreamDecoder("claude"), session.read_bytes(), cut) == expected


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


def test_a_line_is_text_without_its_end_and_a_huge_one_is_a_warning() -> None:
    assert text_of(b"a\xff\r\n") == "a\ufffd"
    assert text_of(Oversized(12_000_000, b"x")) == "[rook] WARNING: skipped a line of 12.0 MB"


@pytest.fixture
def run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = play(tmp_path, "say=hi").folder.path
    monkeypatch.setenv("ROOK_HOME", str(tmp_path / "home"))
    return path


def test_a_run_is_decoded_by_its_folder_or_its_name_with_arrival_times(run_folder: Path) -> None:
    records = list(nightrook.decode(run_folder))
    assert list(nightrook.decode(run_folder.name)) == records
    assert list(nightrook.decode(run_folder.name[:3])) == records
    assert all(record.at is not None for record in records[:-1])
    stream = list(nightrook.decode(run_folder / "stdout.raw"))
    assert [record.event for record in stream] == [record.event for record in records]
    assert all(record.at is None for record in stream)


def test_a_file_is_meant_before_a_run_of_that_name(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(run_folder.name).write_bytes((run_folder / "stdout.raw").read_bytes().split(b"\n")[0])
    assert len(list(nightrook.decode(run_folder.name))) < len(list(nightrook.decode(run_folder)))


def test_a_name_that_is_neither_is_a_missing_file(run_folder: Path) -> None:
    with pytest.raises(nightrook.UnreadableSourceError, match="no such file"):
        list(nightrook.decode("zzzzzz"))
    with pytest.raises(nightrook.UnreadableSourceError, match="is a folder, not a file"):
        list(nightrook.decode(run_folder.parent))
