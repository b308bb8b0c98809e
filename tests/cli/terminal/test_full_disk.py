"""A disk or a record that is full: the verdict is saved, or the user is warned."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.commands.test_run import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def small_disk(desk: Desk) -> Iterator[Path]:
    disk = desk.folder / "home"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("tmpfs cannot be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_has_room_for_the_verdict(desk: Desk, small_disk: Path) -> None:
    done = desk.rook("run", "x", script="flood=2000000 say=Fine.")
    assert done.returncode == 3  # what was lost held the result
    assert "the disk was full" in done.stderr
    assert "saved output, not all of it: rook show" in done.stderr
    assert "incomplete" in desk.rook("runs").stdout
    (folder,) = (small_disk / "runs").iterdir()
    assert not (folder / ".room").exists()


def test_a_verdict_that_cannot_be_kept_is_told(desk: Desk, small_disk: Path) -> None:
    fill = f"cat /dev/zero >> {small_disk}/filler"
    program = desk.folder / "claude"
    words = program.read_text().replace("exec ", "")
    program.write_text(f"{words}exec 2>/dev/null; rm -f {small_disk}/runs/*/.room; {fill}; true\n")
    done = desk.rook("run", "x", script="say=Fine.")
    assert done.returncode == 0
    assert "[rook] success" in done.stderr
    assert "WARNING: the verdict could not be saved" in done.stderr
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "not kept" in desk.rook("runs").stdout
    (small_disk / "filler").unlink()
    assert "success" in desk.rook("runs").stdout  # it is judged anew, now that there is room


def test_a_record_that_reached_its_limit_says_where_it_ends(desk: Desk) -> None:
    words = ("exec", "--max-log-size", "1kB", "--", "sh", "-c", "seq 5000; touch ended")
    done = desk.rook(*words)
    assert done.returncode == 0
    assert "WARNING: the record ends after 1.0 kB (max_log_size): 22.9 kB of output" in done.stderr
    assert "the disk was full" not in done.stderr
    assert [path.stat().st_size for path in (desk.folder / "home").glob("runs/*/stdout.raw")] == [
        1000
    ]
