"""The format of a packed log: frames that are compressed by themselves, and a table of them.

A packed log is an ordinary file of zstd or gzip, which their own programs can read. At its end is
the seek table of zstd's seekable format, in a frame that they pass over: with gzip, in the header
of an empty member.
"""

import os
import struct
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from nightrook.model.errors import RunFolderError

FRAME = 1 << 20
"""How many bytes of a log are compressed together; more in a log of gigabytes."""

_MOST_FRAMES = 8000  # that fit the header of a gzip member
_LARGEST_FRAME = 1 << 28
_ENTRY = struct.Struct("<II")  # the sizes of a frame, compressed and not
_FOOTER = struct.Struct("<IBI")  # how many frames there are, no checksums, a magic number
_MAGIC = 0x8F92EAB1
_SKIPPED = struct.Struct("<II")  # how a frame begins that zstd passes over, and its size
_SKIPPED_MAGIC = 0x184D2A5E
_MEMBER = b"\x1f\x8b\x08\x04\0\0\0\0\x00\xff"  # the header of a gzip member with an extra field
_EXTRA = struct.Struct("<H2sH")
_DAMAGED = "is cut off or damaged"
_NEEDS_ZSTANDARD = "needs zstandard to be read: pip install 'nightrook[archive]'"
_EMPTY = b"\x03\x00" + bytes(8)  # no data, and its checksum and size


class _NoZstandardError(Exception):
    """What reads zstd is not installed."""


class Codec(NamedTuple):
    """A way to compress frames."""

    suffix: str
    """What is added to the name of a log."""

    compress: Callable[[bytes], bytes]
    decompress: Callable[[bytes, int], bytes]
    wrap: Callable[[bytes], bytes]
    """Puts the table of frames where programs pass over it."""

    behind: int
    """How many bytes follow the table."""


def _gzip(data: bytes) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def _gunzip(data: bytes, size: int) -> bytes:
    return zlib.decompressobj(31).decompress(data, size)


def _in_member(table: bytes) -> bytes:
    return _MEMBER + _EXTRA.pack(len(table) + 4, b"RK", len(table)) + table + _EMPTY


def _zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(level=9, write_content_size=True).compress(data)


def _unzstd(data: bytes, size: int) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise _NoZstandardError from None
    return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)


def _in_skipped(table: bytes) -> bytes:
    return _SKIPPED.pack(_SKIPPED_MAGIC, len(table)) + table


ZSTD = Codec(".zst", _zstd, _unzstd, _in_skipped, 0)
GZIP = Codec(".gz", _gzip, _gunzip, _in_member, len(_EMPTY))
CODECS: Mapping[str, Codec] = {codec.suffix: codec for codec in (ZSTD, GZIP)}


def best_codec() -> Codec:
    """The codec for new packed logs: zstd if it is installed."""
    from importlib.util import find_spec  # only a command that packs needs it

    return GZIP if find_spec("zstandard") is None else ZSTD


def packed(chunks: Callable[[int], bytes], size: int, codec: Codec) -> Iterator[bytes]:
    """Compress a log of a size; `chunks` returns its next bytes."""
    frame = FRAME
    while size > frame * _MOST_FRAMES:
        frame *= 2
    entries: list[bytes] = []
    while data := chunks(frame):
        made = codec.compress(data)
        entries.append(_ENTRY.pack(len(made), len(data)))
        yield made
    yield codec.wrap(b"".join(entries) + _FOOTER.pack(len(entries), 0, _MAGIC))


class PackedLog:
    """A packed log, open to read: any part of it, as if it were not compressed."""

    def __init__(self, fd: int, codec: Codec, path: Path) -> None:
        """Open what a descriptor, which is closed with it, has; a RunFolderError if damaged."""
        self._fd = fd
        self._codec = codec
        self._path = path
        sizes = self._table()
        self._starts = [0, *accumulate(compressed for compressed, _ in sizes)]
        self._offsets = [0, *accumulate(size for _, size in sizes)]
        self.size = self._offsets[-1]
        """How many bytes the log has."""
        self._frame = -1  # the one that is in memory
        self._data = b""

    def read_at(self, size: int, offset: int) -> bytes:
        """Read so many bytes at an offset; less at the end."""
        parts: list[bytes] = []
        while size > 0 and offset < self.size:
            number = bisect_right(self._offsets, offset) - 1
            begin = offset - self._offsets[number]
            part = self._read(number)[begin : begin + size]
            parts.append(part)
            offset, size = offset + len(part), size - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _read(self, number: int) -> bytes:
        if number != self._frame:
            begin, size = self._starts[number], self._offsets[number + 1] - self._offsets[number]
            data = os.pread(self._fd, self._starts[number + 1] - begin, begin)
            self._data, self._frame = self._decompressed(data, size), number
        return self._data

    def _decompressed(self, data: bytes, size: int) -> bytes:
        try:
            made = self._codec.decompress(data, size)
        except _NoZstandardError:
            raise RunFolderError(str(self._path), _NEEDS_ZSTANDARD) from None
        except Exception as error:  # whatever the library raises
            raise RunFolderError(str(self._path), _DAMAGED) from error
        if len(made) != size:
            raise RunFolderError(str(self._path), _DAMAGED)
        return made

    def _table(self) -> list[tuple[int, int]]:
        """The sizes of the frames, compressed and not; they must add up to the file."""
        end = os.fstat(self._fd).st_size - self._codec.behind
        footer = os.pread(self._fd, _FOOTER.size, max(0, end - _FOOTER.size))
        count, flags, magic = _FOOTER.unpack(footer.ljust(_FOOTER.size, b"\0"))
        length = count * _ENTRY.size
        begin = end - _FOOTER.size - length
        if (flags, magic) != (0, _MAGIC) or begin < 0 or count > _MOST_FRAMES:
            raise RunFolderError(str(self._path), _DAMAGED)
        sizes = list(_ENTRY.iter_unpack(os.pread(self._fd, length, begin)))
        frames = sum(compressed for compressed, _ in sizes)
        before = len(self._codec.wrap(b"")) - self._codec.behind
        if frames + before != begin or not all(0 < size <= _LARGEST_FRAME for _, size in sizes):
            raise RunFolderError(str(self._path), _DAMAGED)
        return sizes
