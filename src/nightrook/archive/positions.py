"""What of a file is new since it was last read."""

import os
import time
from hashlib import blake2b
from typing import NamedTuple

from nightrook.archive.ledger.sources import Source

_SAMPLE = 1024  # bytes that are compared, at the start and before the position
_LONGEST_REST = 1024 * 1024  # bytes of a line without a newline that are compared
_SETTLED_NS = 2_000_000_000  # clocks of files are coarse: a file can change twice in one moment


class Stamp(NamedTuple):
    """What changes when a file is written to."""

    inode: int
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, stat: os.stat_result) -> "Stamp":
        """The stamp of a file."""
        return cls(stat.st_ino, stat.st_size, stat.st_mtime_ns)


def start_position(fd: int, source: Source, stamp: Stamp) -> int:
    """Where to read on: behind what was read if the file has only grown, else at its start.

    A source whose earlier bytes have changed, or may have, is marked as rewritten.
    """
    if source.head_hash is None:  # it was not read before
        return 0
    is_same_file = source.inode in (0, stamp.inode)
    has_grown = stamp.size > source.size or not source.inode
    is_unchanged = stamp.mtime_ns == source.mtime_ns
    only_grown = is_same_file and (has_grown or is_unchanged)
    if only_grown and _hashes(fd, source) == (
        source.head_hash,
        source.tail_hash,
    ):
        return source.position
    source.rewritten = True
    return 0


def note_position(fd: int, source: Source, position: int) -> None:
    """Note how far a file was read."""
    source.position = position
    source.head_hash, source.tail_hash = _hashes(fd, source)


def note_stamp(source: Source, stamp: Stamp) -> None:
    """Note the state of a file, by which it is known to be unchanged.

    A file that changed just now has no inode noted: it is compared again next time.
    """
    settled = time.time_ns() - stamp.mtime_ns > _SETTLED_NS
    source.inode = stamp.inode if settled else 0
    source.size, source.mtime_ns = stamp.size, stamp.mtime_ns


def _hashes(fd: int, source: Source) -> tuple[bytes, bytes]:
    """Of the first bytes, and of those around the position: a line at the end is read as well."""
    position = source.position
    length = min(position, _SAMPLE)
    rest = min(max(source.size - position, 0), _LONGEST_REST)
    return _hash(os.pread(fd, length, 0)), _hash(os.pread(fd, length + rest, position - length))


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).digest()
