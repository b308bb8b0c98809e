"""Logs are packed and unpacked byte by byte; whatever happens meanwhile, nothing is lost."""

import errno
import hashlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from nightrook.model.errors import RunFolderError, UnsafeRunError
from nightrook.store.logs import GZIP, ZSTD, open_log
from nightrook.store.packing import (
    Packing,
    estimate,
    is_pinned,
    pack,
    packed_size,
    pin,
    raw_size,
    unpack,
    unpin,
)
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import WrittenLog
from nightrook.story.integrity import find_tampering
from nightrook.story.tail import log_chunks, log_size, pieces, read_at
from tests.store.samples import EXIT, INFO, VERDICT, append

OUT = b'{"type":"text","text":"hello"}\n' * 2_000
ERRORS = b"warning\n" * 300
TIMES = b"".join(b"%d.000000 o %d 31\n" % (1000 + n, 31 * n) for n in range(2_000))


def written(data: bytes) -> WrittenLog:
    return WrittenLog(size=len(data), sha256=hashlib.sha256(data).hexdigest())


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = create_run(tmp_path, msgspec.structs.replace(INFO, recorder_pid=None))
    append(folder, "stdout", OUT)
    append(folder, "stderr", ERRORS)
    append(folder, "arrivals", TIMES)
    logs = {"stdout": written(OUT), "stderr": written(ERRORS)}
    folder.write_exit(msgspec.structs.replace(EXIT, logs=logs))
    sizes = {log: each.size for log, each in logs.items()}
    folder.write_verdict(msgspec.structs.replace(VERDICT, log_sizes=sizes))
    for path in (*folder.path.iterdir(), folder.path):
        os.utime(path, (5000, 5000))
    return folder


def digests(run: RunFolder) -> dict[str, str]:
    exit = run.exit()
    assert exit is not None
    return {log: each.sha256 for log, each in exit.logs.items()}


def packed(run: RunFolder, codec: object = ZSTD) -> Packing:
    return pack(run.path, codec, digests(run))  # type: ignore[arg-type]


def names(run: RunFolder) -> set[str]:
    return {path.name for path in run.path.iterdir()}


def is_whole(run: RunFolder) -> bool:
    """Whether the logs read as they were written."""
    return (
        b"".join(log_chunks(run.path, "stdout")) == OUT
        and b"".join(log_chunks(run.path, "stderr")) == ERRORS
        and len(list(run.arrivals())) == 2_000
        and find_tampering(run.path) is None
        and run.verdict() == msgspec.structs.replace(VERDICT, log_sizes=_sizes(run))
    )


def _sizes(run: RunFolder) -> dict[str, int]:
    exit = run.exit()
    return {} if exit is None else exit.log_sizes


def test_packed_logs_read_like_others_by_any_way_of_reading(run: RunFolder) -> None:
    before = [*pieces(run.path)]
    raw = raw_size(run.path)
    packing = packed(run)
    assert names(run) >= {"stdout.raw.zst", "stderr.raw.zst", "arrivals.zst"}
    assert not names(run) & {"stdout.raw", "stderr.raw", "arrivals"}
    assert packing == Packing(raw, packed_size(run.path))
    assert packing.after * 4 < packing.before
    assert is_whole(run)
    assert [*pieces(run.path)] == before
    assert (log_size(run.path, "stdout"), raw_size(run.path)) == (len(OUT), 0)
    assert read_at(run.path, "stdout", 31 * 777, 31) == OUT[:31]


def test_packing_keeps_the_age_and_the_privacy_of_a_run(run: RunFolder) -> None:
    packed(run)
    times = {path.stat().st_mtime for path in (run.path, run.path / "stdout.raw.zst")}
    assert times == {5000}
    assert (run.path / "stdout.raw.zst").stat().st_mode & 0o777 == 0o600


def test_unpacked_logs_are_those_of_before(run: RunFolder) -> None:
    before = {path.name: path.read_bytes() for path in run.path.iterdir()}
    for codec in (ZSTD, GZIP):
        packed(run, codec)
        assert is_whole(run)
        unpack(run.path, digests(run))
        assert {path.name: path.read_bytes() for path in run.path.iterdir()} == before
        assert (run.path / "stdout.raw").stat().st_mtime == 5000


def test_packing_twice_and_with_another_codec_changes_nothing_more(run: RunFolder) -> None:
    packed(run, GZIP)
    assert packed(run, ZSTD) == Packing(0, 0)
    assert is_whole(run)


def test_the_estimate_is_near(run: RunFolder) -> None:
    guess = estimate(run.path, ZSTD)
    assert 0 < guess < raw_size(run.path) / 4


def test_a_log_that_was_changed_is_left_as_it_was_found(run: RunFolder) -> None:
    with open(run.path / "stdout.raw", "r+b") as log:
        log.write(b"X")
    with pytest.raises(RunFolderError, match="not what the recorder wrote"):
        packed(run)
    assert "stdout.raw" in names(run)
    assert "stdout.raw.zst" not in names(run)


def test_a_packed_log_that_was_changed_is_noticed_and_not_unpacked(run: RunFolder) -> None:
    packed(run)
    other = run.path.parent / "other"
    other.write_bytes(b"forged\n" * 100)
    forged = b"".join(_packed_bytes(b"X" + OUT[1:]))
    (run.path / "stdout.raw.zst").write_bytes(forged)
    how = find_tampering(run.path)
    assert how is not None
    assert "stdout.raw is not what the recorder wrote" in how
    with pytest.raises(RunFolderError, match="not what the recorder wrote"):
        unpack(run.path, digests(run))


def _packed_bytes(data: bytes) -> list[bytes]:
    import io

    from nightrook.store.logs import packed as pack_bytes

    return list(pack_bytes(io.BytesIO(data).read, len(data), ZSTD))


def test_a_packed_log_that_is_cut_makes_the_run_incomplete(run: RunFolder) -> None:
    packed(run)
    path = run.path / "stdout.raw.zst"
    path.write_bytes(path.read_bytes()[:-3])
    verdict = run.verdict()
    assert verdict is not None
    assert verdict.status == "incomplete"


@pytest.mark.parametrize("name", ["stdout.raw", "stdout.raw.zst"])
def test_a_planted_link_is_neither_read_nor_written(run: RunFolder, name: str) -> None:
    victim = run.path.parent / "victim"
    victim.write_bytes(b"precious")
    (run.path / name).unlink(missing_ok=True)
    (run.path / name).symlink_to(victim)
    with pytest.raises(UnsafeRunError):
        packed(run)
    assert victim.read_bytes() == b"precious"
    assert (run.path / name).is_symlink()
    (run.path / "stdout.raw").unlink()
    if name == "stdout.raw.zst":
        with pytest.raises(UnsafeRunError):
            open_log(run.path / "stdout.raw")


def test_a_full_disk_leaves_everything_as_it_was(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = names(run)
    real = os.write

    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(RunFolderError, match="No space left"):
        packed(run)
    monkeypatch.setattr(os, "write", real)
    assert names(run) == before
    assert is_whole(run)


def test_a_folder_that_cannot_be_written_is_left_as_it_was(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, real = names(run), os.open

    def read_only(path: object, flags: int, *more: object, **options: object) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, "Read-only file system")
        return real(path, flags, *more, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(RunFolderError, match="Read-only"):
        packed(run)
    monkeypatch.setattr(os, "open", real)
    assert names(run) == before


def test_a_copy_that_differs_is_not_used(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = ZSTD._replace(compress=lambda data: ZSTD.compress(b"x" * len(data)))
    with pytest.raises(RunFolderError, match="the copy differs"):
        packed(run, broken)
    assert "stdout.raw.zst" not in names(run)
    assert is_whole(run)


STEPS = ("open", "write", "fsync", "replace", "unlink", "utime")


def dies(work: Callable[[], object], at: int) -> bool:
    """Do something in a process that is killed before its n-th change; whether it was killed."""
    pid = os.fork()
    if pid == 0:
        left = [at]

        def counted(real: Callable[..., object]) -> Callable[..., object]:
            def call(*words: object, **options: object) -> object:
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*words, **options)

            return call

        for name in STEPS:
            setattr(os, name, counted(getattr(os, name)))
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) < 0


@pytest.mark.parametrize("way", ["pack", "unpack"])
def test_killed_at_any_point_nothing_is_lost_and_the_next_time_it_is_done(
    run: RunFolder, way: str
) -> None:
    def work() -> object:
        return packed(run) if way == "pack" else unpack(run.path, digests(run))

    def undo() -> object:
        return unpack(run.path, digests(run)) if way == "pack" else packed(run)

    if way == "unpack":
        packed(run)
    complete = names(run)
    at = 0
    while dies(work, at):
        assert is_whole(run), f"killed at change {at}"
        work()
        assert is_whole(run)
        assert not [name for name in names(run) if name.endswith(".tmp")]
        undo()
        assert names(run) == complete
        at += 1
    assert at > 15


def test_a_pinned_run_says_so_and_stays_as_old_as_it_was(run: RunFolder) -> None:
    pin(run.path)
    assert (is_pinned(run.path), run.path.stat().st_mtime) == (True, 5000)
    unpin(run.path)
    assert (is_pinned(run.path), run.path.stat().st_mtime) == (False, 5000)
