"""Logs that are not what the recorder wrote are noticed by every reader."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import ExitInfo, WrittenLog
from nightrook.story.integrity import checked_verdict, find_tampering, tampering_of
from tests.store.samples import INFO, VERDICT, append

LOG = b"a line\n" * 1000


def written(data: bytes) -> WrittenLog:
    return WrittenLog(size=len(data), sha256=hashlib.sha256(data).hexdigest())


EXIT = ExitInfo(
    started=True,
    exit_code=0,
    ended_at=1500.0,
    logs={"stdout": written(LOG), "stderr": written(b"")},
)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = create_run(tmp_path, INFO)
    append(folder, "stdout", LOG)
    folder.write_exit(EXIT)
    success = msgspec.structs.replace(VERDICT, status="success", log_sizes=EXIT.log_sizes)
    folder.write_verdict(success)
    return folder


def flip(path: Path) -> None:
    path.write_bytes(b"A" + path.read_bytes()[1:])


def cut(path: Path) -> None:
    os.truncate(path, 10)


def extend(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"forged\n")


def link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


SIZE = len(LOG)
CHANGES: list[tuple[Callable[[Path], None], str]] = [
    (flip, "stdout.raw is not what the recorder wrote"),
    (cut, f"stdout.raw has 10 bytes, but the recorder wrote {SIZE}"),
    (extend, f"stdout.raw has {SIZE + 7} bytes, but the recorder wrote {SIZE}"),
    (Path.unlink, f"stdout.raw is missing, but the recorder wrote {SIZE}"),
    (link, f"stdout.raw is not a plain file, but the recorder wrote {SIZE}"),
    (fifo, f"stdout.raw is not a plain file, but the recorder wrote {SIZE}"),
]


@pytest.mark.parametrize(
    ("change", "how"), CHANGES, ids=lambda value: getattr(value, "__name__", "")
)
def test_a_log_that_was_changed_is_incomplete(
    folder: RunFolder, change: Callable[[Path], None], how: str
) -> None:
    assert (tampering_of(folder, EXIT), find_tampering(folder.path)) == (None, None)
    assert checked_verdict(folder) == folder.verdict()
    change(folder.path / "stdout.raw")
    assert (tampering_of(folder, EXIT), find_tampering(folder.path)) == (how, how)
    found = checked_verdict(folder)
    assert found is not None
    assert (found.status, found.exit_code, found.facts.recorder.tampered) == ("incomplete", 3, how)
    assert found.sentence == f"the saved output was changed: {how}"


@pytest.mark.parametrize("change", [cut, extend, Path.unlink, link, fifo])
def test_a_change_of_size_is_noticed_without_reading_the_log(
    folder: RunFolder, change: Callable[[Path], None]
) -> None:
    change(folder.path / "stdout.raw")
    found = folder.verdict()
    assert found is not None
    assert found.status == "incomplete"


def test_bytes_on_a_stderr_that_was_empty_are_noticed(folder: RunFolder) -> None:
    append(folder, "stderr", b"x")
    assert tampering_of(folder, EXIT) == "stderr.raw has 1 bytes, but the recorder wrote 0"


def test_a_run_of_an_earlier_version_is_not_compared(folder: RunFolder) -> None:
    folder.write_exit(msgspec.structs.replace(EXIT, logs={}))
    folder.write_verdict(VERDICT)
    flip(folder.path / "stdout.raw")
    assert checked_verdict(folder) == VERDICT


def test_a_folder_without_a_run_is_not_compared(tmp_path: Path) -> None:
    assert find_tampering(tmp_path / "k7f3") is None
    assert find_tampering(Path("/")) is None
