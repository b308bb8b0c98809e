"""The logs of a run, and when their bytes arrived: how they are read, packed or not.

A packed log is an ordinary file of zstd or gzip, which their own programs can read: frames that are
compressed by themselves, so that any part of it can be read. At its end is the seek table of zstd's
seekable format, in a frame that they pass over: with gzip, in the header of an empty member.
"""

import io
import os
import re
import struct
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from nightrook.model.errors import RunFolderError
from nightrook.store.file_names import PACKED_SUFFIXES
from nightrook.store.files import open_file

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Stream = Literal["stdout", "stderr"]

_STREAMS: dict[bytes, Stream] = {b"o": "stdout", b"e": "stderr"}
_ARRIVAL = re.compile(rb"(\d{1,11}\.\d{6}) ([oeOE]) (\d{1,19}) (\d{1,19})")
_LONGEST_ARRIVAL = 256


class Arrival(NamedTuple):
    """Bytes of a log that arrived, or that a full disk lost there."""

    at: float
    stream: Stream
    offset: int
    length: int
    lost: int


def read_arrivals(chunks: Iterable[bytes]) -> Iterator[Arrival]:
    """Read the lines of the file; a torn last line and any damaged one are left out."""
    rest = b""
    for data in chunks:
        *lines, rest = (rest + data).split(b"\n")
        rest = rest[-_LONGEST_ARRIVAL:]  # guards: arrivals-bounded
        yield from (arrival for arrival in map(parse_arrival, lines) if arrival is not None)


def parse_arrival(line: bytes) -> Arrival | None:
    """Read one line, without its newline; None if it is damaged."""
    found = _ARRIVAL.fullmatch(line)
    if found is None:
        return None
    at, letter, offset, count = found.groups()
    lost = letter.isupper()
    length = int(count)
    stream = _STREAMS[letter.lower()]
    return Arrival(float(at), stream, int(offset), 0 if lost else length, length if lost else 0)


_ATTEMPTS = 2  # a log may be packed or unpacked between two looks


class LogFile(Protocol):
    """A log that is open to read."""

    @property
    def size(self) -> int:
        """Current size in bytes."""

    def read_at(self, size: int, offset: int) -> bytes:
        """Read at most so many bytes at an offset; nothing at its end."""

    def close(self) -> None:
        """Close the file."""


class _RawLog:
    """A log as its recorder wrote it, or writes it now."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @property
    def size(self) -> int:
        return os.fstat(self._fd).st_size

    def read_at(self, size: int, offset: int) -> bytes:
        return os.pread(self._fd, size, offset)

    def close(self) -> None:
        os.close(self._fd)


class LogStream(io.RawIOBase):
    """A log as a file that is read from its beginning to its end."""

    def __init__(self, log: LogFile) -> None:
        self._log = log
        self._offset = 0

    def readable(self) -> bool:
        """Return True: a log can always be read."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read the next bytes into a buffer; return how many they are."""
        view = memoryview(buffer).cast("B")
        data = self._log.read_at(len(view), self._offset)
        view[: len(data)] = data
        self._offset += len(data)
        return len(data)

    def close(self) -> None:
        """Close the log."""
        if not self.closed:
            self._log.close()
        super().close()


def open_log(path: Path) -> LogFile | None:
    """Open a log by the path that its recorder gave it; None if there is none.

    If it is there both packed and as it was written, the latter is read.
    """
    for _ in range(_ATTEMPTS):
        raw = open_file(path)
        if raw is not None:
            return _RawLog(raw)
        if (log := open_packed(path)) is not None:
            return log
    return None


def open_packed(path: Path) -> LogFile | None:
    """Open the packed form of a log; None if there is none."""
    for suffix in PACKED_SUFFIXES:
        packed = path.with_name(path.name + suffix)
        fd = open_file(packed)
        if fd is not None:
            try:
                return PackedLog(fd, CODECS[suffix], packed)
            except BaseException:
                os.close(fd)
                raise
    return None


FRAME = 1 << 20
"""Bytes of a log that are compressed together; more in a log of gigabytes."""

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
    """The zstandard package is not installed."""


class Codec(NamedTuple):
    """A way to compress frames."""

    suffix: str
    """Suffix added to the name of a log."""

    compress: Callable[[bytes], bytes]
    decompress: Callable[[bytes, int], bytes]
    wrap: Callable[[bytes], bytes]
    """Puts the table of frames where programs pass over it."""

    behind: int
    """Bytes that follow the table."""


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
        """Bytes of the log."""
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
        # guards: packed-checked
        if frames + before != begin or not all(0 < size <= _LARGEST_FRAME for _, size in sizes):
            raise RunFolderError(str(self._path), _DAMAGED)
        return sizes
