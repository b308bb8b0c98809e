"""`rook loop --detach` as a user calls it."""

from pathlib import Path

import pytest
from tests.loops.playing import calls, install
from tests.warm import rook


def test_a_detached_loop_prints_its_name_and_works_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no", "say=DONE"], monkeypatch)
    done = rook("loop", "-d", "Fix it", "--until", "DONE", "--cwd", str(work))
    name = done.stdout.removesuffix("\n")
    assert (done.returncode, name[:5]) == (0, "loop-")
    attached = rook("attach", name)
    assert attached.returncode == 0
    assert "[rook] done · the goal is met" in attached.stdout
    assert calls(tmp_path) == 2
    assert (tmp_path / "home/loops" / name / "runner.log").read_bytes() == b""


def test_a_detached_loop_that_cannot_start_says_so_and_exits_with_9(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["bad-flag"], monkeypatch)
    done = rook("loop", "-d", "-q", "Fix it", "--until", "DONE", "--cwd", str(work))
    assert done.returncode == 9
    assert done.stderr.startswith("[rook] it has ended already: not started · ")
    assert done.stderr.endswith(f" · rook show {done.stdout}")


def test_a_detached_loop_without_iterations_has_ended_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no"], monkeypatch)
    done = rook("loop", "-d", "Fix it", "--check", "true", "--cwd", str(work))
    assert (done.returncode, calls(tmp_path)) == (0, 0)
    assert "[rook] it has ended already: done · every check passes already" in done.stderr
    quiet = rook("loop", "-d", "-q", "Fix it", "--check", "true", "--cwd", str(work))
    assert (quiet.returncode, quiet.stderr) == (0, "")
    refused = rook("loop", "-d", "Fix it", "--format", "jsonl")
    assert refused.returncode == 2
    assert "--detach and --format can't be combined" in refused.stderr
