"""Decoding recorded streams, from wherever they come."""

import io
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import nightrook
from nightrook.model.events import SessionStarted, StreamClosed, Unreadable


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


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_forbidden_file_is_a_typed_error(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.touch(mode=0o000)
    with pytest.raises(nightrook.UnreadableSourceError, match="may not be read"):
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
