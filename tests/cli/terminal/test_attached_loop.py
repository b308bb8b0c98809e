"""`rook attach LOOP` as a user calls it."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.commands.test_run import until
from tests.loops.playing import install
from tests.warm import ROOK, rook

from nightrook.store.list import newest_first


@contextmanager
def attached(name: str, *flags: str) -> Iterator[subprocess.Popen[str]]:
    command = [str(ROOK), "attach", name, *flags]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def detached(work: Path) -> Iterator[str]:
    done = rook("loop", "-d", "Fix it", "--until", "DONE", "--cwd", str(work))
    assert done.returncode == 0, done.stderr
    name = done.stdout.removesuffix("\n")
    try:
        yield name
    finally:
        rook("stop", name)


def own_lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("[rook] ")]


def test_a_loop_is_followed_live_and_ctrl_c_leaves_it_working(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no", "hang-in-tool sigint-result"], monkeypatch)
    with (
        detached(work) as name,
        attached(name) as leaving,
        attached(name, "--from-now") as staying,
    ):
        until(leaving, "[rook] ── iteration 2 of 20 · claude ──")
        until(leaving, "[claude] Bash")
        leaving.send_signal(signal.SIGINT)
        _, err = leaving.communicate(timeout=60)
        assert leaving.returncode == 130
        assert f"[rook] loop {name} continues: rook attach {name} · rook stop {name}\n" in err
        assert "Traceback" not in err
        until(staying, "[rook] ── iteration 2 of 20 · claude ──")
        stopped = rook("attach", name, "--stop")
        out, _ = staying.communicate(timeout=60)
    assert (stopped.returncode, staying.returncode) == (130, 130)
    for shown in (stopped.stdout, out):
        assert [line.split()[:2] for line in shown.split("\n")[-6:-4]] == [
            ["1", "success"],
            ["2", "interrupted"],
        ]
        assert shown.endswith(f"[rook] resume:  rook loop --resume {name}\n")


def test_a_loop_that_has_ended_is_shown_by_its_steps_and_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no", "say=DONE write-file=ok"], monkeypatch)
    flags = ("--until", "DONE", "--check", "test -f ok", "--cwd", str(work))
    done = rook("loop", "Fix it", *flags)
    name = done.stdout.split()[1]
    again = rook("attach", name)
    assert again.returncode == 0
    assert own_lines(again.stdout) == own_lines(done.stdout)
    assert again.stdout.split("\n")[-6:] == done.stdout.split("\n")[-6:]  # the table
    assert rook("attach", name, "-q").stdout == "DONE\n"
    assert json.loads(rook("attach", name, "--json").stdout)["loop"] == name
    refused = rook("attach", name, "--stop")
    assert refused.returncode == 2
    assert "is not running" in refused.stderr


def test_a_loop_that_is_killed_ends_for_who_is_attached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["hang-in-tool sigint-result"], monkeypatch)
    with detached(work) as name, attached(name) as following:
        until(following, "[claude] Bash")
        info = next(newest_first(tmp_path / "home")).info()
        assert info is not None
        assert info.runner_pid is not None
        os.kill(info.runner_pid, signal.SIGKILL)
        out, _ = following.communicate(timeout=60)
    assert following.returncode == 3
    assert "[rook] cut off: rook was killed while the loop was running" in out
