"""Arrivals, and the format of packed logs."""

import gzip
import io
import os
import random
import tracemalloc
from pathlib import Path

import pytest
import zstandard

from nightrook.model.errors import RunFolderError
from nightrook.store import logs as packed_format
from nightrook.store import run_folder
from nightrook.store.logs import (
    CODECS,
    GZIP,
    ZSTD,
    Arrival,
    Codec,
    PackedLog,
    packed,
    read_arrivals,
)
from nightrook.store.run_folder import RunFolder
from tests.rules import each
from tests.store.samples import append

ARRIVALS = (
    b"1700000000.000000 o 0 100\n"
    b"1700000000.250000 e 0 7\n"
    b"1700000001.000000 O 100 5000\n"
    b"1700000001.500000 o 100 20\n"
    b"1700000002.000000 E 7 1\n"
)
ARRIVED = [
    Arrival(1700000000.0, "stdout", 0, 100, 0),
    Arrival(1700000000.25, "stderr", 0, 7, 0),
    Arrival(1700000001.0, "stdout", 100, 0, 5000),
    Arrival(1700000001.5, "stdout", 100, 20, 0),
    Arrival(1700000002.0, "stderr", 7, 0, 1),
]


def test_arrivals_tell_when_bytes_came_and_where_some_were_lost(folder: RunFolder) -> None:
    assert list(folder.arrivals()) == []
    append(folder, "arrivals", ARRIVALS)
    assert list(folder.arrivals()) == ARRIVED


def test_every_beginning_of_the_arrivals_gives_the_whole_lines_in_it(folder: RunFolder) -> None:
    path = folder.path / "arrivals"
    for end in range(len(ARRIVALS) + 1):
        path.write_bytes(ARRIVALS[:end])
        assert list(folder.arrivals()) == ARRIVED[: ARRIVALS[:end].count(b"\n")]


def test_a_tail_of_zeroes_after_a_power_loss_is_left_out(folder: RunFolder) -> None:
    append(folder, "arrivals", ARRIVALS + b"\0" * 4096)
    assert list(folder.arrivals()) == ARRIVED


def test_damaged_arrivals_are_left_out_and_the_others_read(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder, "_CHUNK", 37)
    first, rest = ARRIVALS[:26], ARRIVALS[26:]
    junk = [
        b"\n",
        b"1700000000.000000 x 0 1\n",
        b"1700000000.0 o 0 1\n",
        b"nan o 0 1\n",
        b"1700000000.000000 o -1 1\n",
        b"1700000000.000000 o 0 1 1\n",
        b"1700000000.000000 o " + b"9" * 5000 + b" 1\n",
        "1700000000.000000 o ٣ 1\n".encode(),
        b"x" * 10_000 + b"1700000000.000000 o 0 1\n",
    ]
    append(folder, "arrivals", first + b"".join(junk) + rest)
    assert list(folder.arrivals()) == ARRIVED


def test_a_line_without_end_is_not_kept() -> None:
    piece = b"x" * 65536
    tracemalloc.start()
    try:
        assert list(read_arrivals(piece for _ in range(100))) == []
        assert tracemalloc.get_traced_memory()[1] < 10 * len(piece)
    finally:
        tracemalloc.stop()


SIZE = 300_000


def content(size: int = SIZE) -> bytes:
    numbers = random.Random(1)
    return b"".join(b'{"n":%d}\n' % numbers.randrange(10**9) for _ in range(size // 8))[:size]


@pytest.fixture(autouse=True)
def small_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_format, "FRAME", 4096)


def made(folder: Path, codec: Codec, data: bytes) -> Path:
    path = folder / f"log{codec.suffix}"
    path.write_bytes(b"".join(packed(io.BytesIO(data).read, len(data), codec)))
    return path


def opened(path: Path, codec: Codec) -> PackedLog:
    fd = os.open(path, os.O_RDONLY)
    try:
        return PackedLog(fd, codec, path)
    except BaseException:
        os.close(fd)
        raise


@each("codec", CODECS.values())
def test_any_part_reads_as_the_log_itself(codec: Codec, tmp_path: Path) -> None:
    data = content()
    log = opened(made(tmp_path, codec, data), codec)
    numbers = random.Random(2)
    parts = [(numbers.randrange(SIZE + 100), numbers.randrange(20_000)) for _ in range(200)]
    for offset, size in (*parts, (0, SIZE), (SIZE, 10), (0, 0), (4095, 2), (4096, 4096)):
        assert log.read_at(size, offset) == data[offset : offset + size]
    assert log.size == SIZE
    log.close()


def test_the_programs_of_the_format_read_it_whole(tmp_path: Path) -> None:
    data = content()
    assert gzip.decompress(made(tmp_path, GZIP, data).read_bytes()) == data
    stream = zstandard.ZstdDecompressor().stream_reader(
        io.BytesIO(made(tmp_path, ZSTD, data).read_bytes()), read_across_frames=True
    )
    assert stream.read() == data


def test_a_large_log_has_larger_frames_so_that_the_table_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_format, "_MOST_FRAMES", 10)
    data = content()
    log = opened(made(tmp_path, GZIP, data), GZIP)
    assert log.read_at(SIZE, 0) == data
    log.close()


@each("codec", CODECS.values())
def test_every_damaged_byte_is_noticed_or_does_not_matter(codec: Codec, tmp_path: Path) -> None:
    data = content(20_000)
    whole = made(tmp_path, codec, data).read_bytes()
    path = tmp_path / "damaged"
    for at in range(0, len(whole), 97):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            log = opened(path, codec)
        except RunFolderError:
            continue
        try:
            assert len(log.read_at(10**6, 0)) == len(data)  # its digest says whether it is the same
        except RunFolderError:
            pass
        finally:
            log.close()


@each("codec", CODECS.values())
def test_a_log_that_was_cut_or_lengthened_is_refused(codec: Codec, tmp_path: Path) -> None:
    path = made(tmp_path, codec, content(20_000))
    whole = path.read_bytes()
    cut = [whole[:size] for size in (0, 5, len(whole) // 2, len(whole) - 1)]
    for data in (*cut, whole + b"x", whole[:9] + b"x" + whole[9:]):
        path.write_bytes(data)
        with pytest.raises(RunFolderError, match="damaged"):
            opened(path, codec)


def test_without_zstandard_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path, ZSTD, content(5000))
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    log = opened(path, ZSTD)
    with pytest.raises(RunFolderError, match=r"nightrook\[archive\]"):
        log.read_at(1, 0)
    log.close()
