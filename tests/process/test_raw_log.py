"""Raw logs: what was written is on disk."""

import os
from pathlib import Path

import pytest

from nightrook.process.raw_log import Arrivals, Log


def test_what_came_since_the_last_sync_is_synced_when_the_log_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[bytes] = []
    real = os.fsync

    def fsync(fd: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{fd}")).read_bytes())
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    folder = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    arrivals = Arrivals(folder, "arrivals")
    log = Log(folder, "stdout.raw", b"o", arrivals)
    log.append(b"one\n")
    log.sync()
    log.append(b"two\n")
    log.close()
    arrivals.close()
    os.close(folder)
    assert synced == [b"one\n", b"one\ntwo\n"]
