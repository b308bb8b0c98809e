"""The bytes of a piped stream: each reader reads all of them, in order, from log or memory."""

from pathlib import Path

from nightrook.story.spool import Spool, SpoolReader


class Log:
    """Writes to a log as a recorder does, and to the spool what the log cannot take."""

    def __init__(self, folder: Path) -> None:
        self.spool = Spool()
        self.spool.folder = folder
        self._log = folder / "stdout.raw"
        self._log.touch()
        self._size = 0

    def keep(self, data: bytes) -> None:
        with self._log.open("ab") as file:
            file.write(data)
        self._size += len(data)
        self.spool.add(self._size, b"", 1.0)

    def lose(self, data: bytes) -> None:
        self.spool.add(self._size, data, 1.0)


def everything(reader: SpoolReader) -> bytes:
    read = b""
    while pieces := reader.read():
        read += b"".join(data for data, _ in pieces)
    return read


def test_bytes_that_the_log_lacks_come_in_their_place(tmp_path: Path) -> None:
    log = Log(tmp_path)
    early, late = log.spool.reader(), log.spool.reader()
    assert early.read() == []
    log.lose(b"a")
    log.keep(b"bc")
    assert early.read() == [(b"a", 1.0)]
    log.lose(b"d")
    log.lose(b"e")
    log.keep(b"f")
    assert everything(early) == b"bcdef"
    assert everything(late) == b"abcdef"


def test_bytes_in_the_log_cost_no_memory(tmp_path: Path) -> None:
    log = Log(tmp_path)
    reader = log.spool.reader()
    log.keep(b"x" * 1_000_000)
    assert log.spool.unread == 0
    assert len(everything(reader)) == 1_000_000


def test_the_slowest_reader_decides_what_stays_in_memory(tmp_path: Path) -> None:
    log = Log(tmp_path)
    quick, slow = log.spool.reader(), log.spool.reader()
    log.lose(b"x" * 1000)
    everything(quick)
    assert log.spool.unread == 1000
    everything(slow)
    assert log.spool.unread == 0


def test_nothing_is_kept_for_a_reader_that_left_or_without_readers(tmp_path: Path) -> None:
    log = Log(tmp_path)
    reader = log.spool.reader()
    log.lose(b"x" * 1000)
    reader.close()
    reader.close()
    assert log.spool.unread == 0
    log.lose(b"x" * 1000)
    assert log.spool.unread == 0
