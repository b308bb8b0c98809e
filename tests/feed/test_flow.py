"""Bytes from one thread to readers of any speed: each reads all of them, in order."""

import threading
from pathlib import Path

from rookery.feed import flow as flow_module
from rookery.feed.flow import Flow, FlowReader
from tests.process.recording import PATIENCE_S


class Writer:
    """Writes to a log as a recorder does, and to the flow what the log cannot take."""

    def __init__(self, folder: Path) -> None:
        self.flow = Flow()
        self.flow.folder = folder
        self._log = folder / "stdout.raw"
        self._log.touch()
        self._kept = 0

    def keep(self, data: bytes) -> None:
        with self._log.open("ab") as file:
            file.write(data)
        self._kept += len(data)
        self.flow.add(self._kept, b"", 1.0)

    def lose(self, data: bytes) -> None:
        self.flow.add(self._kept, data, 1.0)


def everything(reader: FlowReader) -> bytes:
    read = b""
    while pieces := reader.read():
        read += b"".join(data for data, _ in pieces)
    return read


def test_what_the_log_lacks_comes_in_its_place(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    early, late = writer.flow.reader(), writer.flow.reader()
    writer.lose(b"a")
    writer.keep(b"bc")
    assert early.read() == [(b"a", 1.0)]
    writer.lose(b"d")
    writer.lose(b"e")
    writer.keep(b"f")
    writer.flow.end()
    assert everything(early) == b"bcdef"
    assert everything(late) == b"abcdef"


def test_a_reader_waits_for_what_is_to_come(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    reader = writer.flow.reader()
    read: list[bytes] = []
    thread = threading.Thread(target=lambda: read.append(everything(reader)))
    thread.start()
    writer.keep(b"one ")
    writer.lose(b"two")
    assert thread.is_alive()
    writer.flow.end()
    thread.join(PATIENCE_S)
    assert read == [b"one two"]


def test_what_is_kept_never_makes_the_writer_wait(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    reader = writer.flow.reader()
    for _ in range(3):
        writer.keep(b"x" * flow_module._MOST_LOOSE)
    writer.flow.end()
    assert len(everything(reader)) == 3 * flow_module._MOST_LOOSE


def test_what_is_in_memory_alone_has_a_limit_and_the_slowest_sets_the_pace(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    quick, slow = writer.flow.reader(), writer.flow.reader()
    thread = threading.Thread(target=writer.lose, args=(b"x" * (flow_module._MOST_LOOSE + 1),))
    thread.start()
    quick.read()
    assert thread.is_alive()
    slow.read()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_nobody_waits_for_a_reader_that_left(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    reader = writer.flow.reader()
    thread = threading.Thread(target=writer.lose, args=(b"x" * (flow_module._MOST_LOOSE + 1),))
    thread.start()
    assert thread.is_alive()
    reader.close()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_a_writer_that_has_given_up_waits_for_nobody(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.flow.reader()
    thread = threading.Thread(target=writer.lose, args=(b"x" * (flow_module._MOST_LOOSE + 1),))
    thread.start()
    assert thread.is_alive()
    writer.flow.given_up = True
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
