"""Packs and unpacks the logs of a finished run; a crash at any point loses nothing.

The new file is written beside the old one, synced, compared with it byte by byte, and only then
the old one is removed. While both are there, readers use what the recorder wrote. A run that is
pinned is neither packed nor removed.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from nightrook.model.errors import RunFolderError
from nightrook.store.file_names import PACKED_LOGS, PACKED_SUFFIXES, PINNED, log_file
from nightrook.store.files import Folder, keeping_times, open_file, remove_leftovers, replace_by
from nightrook.store.logs import FRAME, Codec, LogFile, open_log, open_packed, packed

_CHUNK = 1 << 20


class Packing(NamedTuple):
    """Bytes of a run's logs before and after."""

    before: int
    after: int


def raw_size(run: Path) -> int:
    """Return the bytes of a run's logs that are not packed."""
    return sum(_file_size(run / log_file(log)) for log in PACKED_LOGS)


def packed_size(run: Path) -> int:
    """Return the bytes of a run's packed logs."""
    paths = (path for log in PACKED_LOGS for path in _packed_paths(run / log_file(log)))
    return sum(map(_file_size, paths))


def estimate(run: Path, codec: Codec) -> int:
    """About how many bytes the logs of a run would take: a part of each is tried."""
    total = 0
    for log in PACKED_LOGS:
        path = run / log_file(log)
        if size := _file_size(path):
            with closing(_opened(path)) as file:
                sample = file.read_at(FRAME // 4, max(0, size // 2 - FRAME // 8))
            total += size * len(codec.compress(sample)) // max(1, len(sample))
    return total


def pack(run: Path, codec: Codec, digests: dict[str, str]) -> Packing:
    """Pack the logs of a run; `digests` are those that its recorder wrote, as far as known.

    A log that is not what the recorder wrote is left as it is, with a RunFolderError.
    """
    before = after = 0
    with Folder.kept(run) as folder, keeping_times(folder):
        remove_leftovers(folder)
        for log in PACKED_LOGS:
            name = log_file(log)
            size = _file_size(run / name)
            if size:
                before += size
                after += _pack(folder, name, codec, digests.get(log))
    return Packing(before, after)


def unpack(run: Path, digests: dict[str, str]) -> Packing:
    """Write the logs of a run as they were before they were packed."""
    before = after = 0
    with Folder.kept(run) as folder, keeping_times(folder):
        remove_leftovers(folder)
        for log in PACKED_LOGS:
            path = run / log_file(log)
            packed_log = open_packed(path)
            if packed_log is None:
                continue
            before += sum(_file_size(other) for other in _packed_paths(path))
            if not path.exists():
                with closing(packed_log):
                    _unpack(folder, path.name, packed_log, digests.get(log))
            else:
                packed_log.close()
            after += _file_size(path)
            for other in _packed_paths(path):
                folder.discard(other.name)
    return Packing(before, after)


def _pack(folder: Folder, name: str, codec: Codec, digest: str | None) -> int:
    """Pack a log and remove it; return how many bytes it takes now."""
    path = folder.path / name
    with closing(_opened(path)) as raw:
        _check(raw, digest, path)  # guards: changed-log-unpacked
        target = f"{name}{codec.suffix}"
        replace_by(folder, target, lambda: packed(_reader(raw), raw.size, codec), like=name)
        made = open_packed(path)
        if made is None or not _is_same(made, raw):  # guards: packed-same
            folder.discard(target)
            raise RunFolderError(str(path), "could not be packed: the copy differs")
    for other in _packed_paths(path):
        if other.name != target:
            folder.discard(other.name)
    folder.discard(name)
    return _file_size(folder.path / target)


def _unpack(folder: Folder, name: str, log: LogFile, digest: str | None) -> None:
    path = folder.path / name
    _check(log, digest, path)  # guards: changed-pack-kept
    (packed_path,) = (other for other in _packed_paths(path) if other.exists())
    replace_by(folder, name, lambda: _chunks(log), like=packed_path.name)


def _check(log: LogFile, digest: str | None, path: Path) -> None:
    """Refuse a log that differs from what its recorder wrote: it stays as it was found."""
    if digest is None:
        return
    made = sha256()
    for data in _chunks(log):
        made.update(data)
    if made.hexdigest() != digest:
        raise RunFolderError(str(path), "is not what the recorder wrote: left as it is")


def _is_same(one: LogFile, other: LogFile) -> bool:
    with closing(one):
        if one.size != other.size:
            return False
        pairs = zip(_chunks(one), _chunks(other), strict=True)
        return all(first == second for first, second in pairs)


def _chunks(log: LogFile) -> Iterator[bytes]:
    read = _reader(log)
    while data := read(_CHUNK):
        yield data


def _reader(log: LogFile) -> Callable[[int], bytes]:
    """Returns the next bytes of a log, as many as wanted up to its end."""
    position = 0

    def read(size: int) -> bytes:
        nonlocal position
        data = log.read_at(size, position)
        position += len(data)
        return data

    return read


def _packed_paths(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in PACKED_SUFFIXES]


def _opened(path: Path) -> LogFile:
    log = open_log(path)
    if log is None:
        raise RunFolderError(str(path), "was removed meanwhile")
    return log


def _file_size(path: Path) -> int:
    """The size of a plain file; 0 if there is none."""
    fd = open_file(path)
    if fd is None:
        return 0
    try:
        return os.fstat(fd).st_size
    finally:
        os.close(fd)


def pin(run: Path) -> None:
    """Protect a run from compression and removal until it is unpinned."""
    with Folder.kept(run) as folder, keeping_times(folder):
        folder.create(PINNED, b"")


def unpin(run: Path) -> None:
    """Allow compression and removal of a run again."""
    with Folder.kept(run) as folder, keeping_times(folder):
        folder.discard(PINNED)


def is_pinned(run: Path) -> bool:
    """True if a run is protected from compression and removal."""
    return os.path.lexists(run / PINNED)
