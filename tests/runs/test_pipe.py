"""A piped stream: read from any kind of descriptor, stored first, shown even without a log."""

import asyncio
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nightrook
from nightrook.model.records import Record
from nightrook.runs import pipe as pipe_module
from nightrook.runs.pipe import PipedRun, Spool, SpoolReader
from tests.process.recording import PATIENCE_S


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue  # the test closed it


def recorded(piped: PipedRun) -> tuple[str, list[Record]]:
    """Read to the end; the status, and the records as a reader of the feed gets them."""

    async def main() -> tuple[str, list[Record]]:
        reading = asyncio.create_task(_all(piped))
        async with asyncio.timeout(PATIENCE_S):
            verdict = await piped.record()
            return verdict.status, await reading

    return asyncio.run(main())


async def _all(piped: PipedRun) -> list[Record]:
    return [record async for record in piped.feed.since()]


def test_a_regular_file_is_read_to_its_end(session: Path, tmp_path: Path) -> None:
    with session.open("rb") as file:
        piped = PipedRun(file.fileno(), home=tmp_path)
        _, records = recorded(piped)
    assert piped.folder is not None
    assert (piped.folder.path / "stdout.raw").read_bytes() == session.read_bytes()
    assert [one.event for one in records] == [one.event for one in nightrook.decode(session)]
    assert all(one.at is not None for one in records[:-1])


def test_a_regular_file_is_not_watched_because_its_end_would_not_be_reported(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched: list[int] = []
    loop = asyncio.SelectorEventLoop
    watch = loop.add_reader

    def watch_as_macos_does(self: Any, fd: int, *rest: Any) -> None:
        if stat.S_ISREG(os.fstat(fd).st_mode):
            watched.append(fd)
        watch(self, fd, *rest)

    monkeypatch.setattr(loop, "add_reader", watch_as_macos_does)
    with session.open("rb") as file:
        recorded(PipedRun(file.fileno(), home=tmp_path))
    assert watched == []


def test_an_empty_source_leaves_nothing(tmp_path: Path) -> None:
    with Path(os.devnull).open("rb") as file:
        piped = PipedRun(file.fileno(), home=tmp_path / "home")
        assert recorded(piped) == ("not_started", [])
    assert piped.folder is None
    assert not (tmp_path / "home").exists()


def test_a_pipe_is_read_as_it_comes_and_a_stop_ends_it(
    session: Path, tmp_path: Path, pipe: tuple[int, int]
) -> None:
    reading, writing = pipe
    piped = PipedRun(reading, home=tmp_path)

    async def main() -> str:
        recording = asyncio.create_task(piped.record())
        os.write(writing, session.read_bytes().split(b"\n")[0] + b"\n")
        first = await anext(piped.feed.since())
        assert first.seq == 0
        assert not recording.done()  # the writer has not closed its end
        piped.stop()
        return (await recording).status

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE_S)) == "interrupted"


def test_without_a_home_a_slow_reader_gets_everything_and_the_writer_waits(
    session: Path, monkeypatch: pytest.MonkeyPatch, pipe: tuple[int, int]
) -> None:
    monkeypatch.setattr(pipe_module, "_MOST_UNREAD", 1000)
    reading, writing = pipe
    data = session.read_bytes()[:60_000]  # it fits the pipe

    async def main() -> bytes:
        piped = PipedRun(reading, home=None)
        chunks = piped.feed.chunks("stdout")
        recording = asyncio.create_task(piped.record())
        os.write(writing, data)
        os.close(writing)
        while not piped.feed.count:
            await asyncio.sleep(0)
        for _ in range(100):
            await asyncio.sleep(0)
        assert not recording.done()  # it waits for the reader
        read = b"".join([chunk async for chunk in chunks])
        await recording
        return read

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE_S)) == data


def test_a_home_that_cannot_be_used_is_reported_and_the_stream_is_read(
    session: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.write_bytes(b"a file")
    warnings: list[str] = []
    with session.open("rb") as file:
        piped = PipedRun(file.fileno(), home=home, warn=warnings.append)
        _, records = recorded(piped)
    assert len(records) == len(list(nightrook.decode(session)))
    assert len(warnings) == 1
    assert warnings[0].startswith("nothing is recorded: ")


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
