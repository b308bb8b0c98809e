"""Packed logs: any part can be read, other programs can read them, and damage is noticed."""

import gzip
import io
import os
import random
from pathlib import Path

import pytest
import zstandard

from nightrook.model.errors import RunFolderError
from nightrook.store.packed import format as packed_format
from nightrook.store.packed.format import CODECS, GZIP, ZSTD, Codec, PackedLog, packed
from tests.rules import each

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
