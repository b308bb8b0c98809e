"""`rook attach BATCH` and `rook stop BATCH` as a user calls them."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.cli.commands.test_run import until
from tests.loops.playing import install
from tests.process.recording import wait_for
from tests.warm import ROOK, rook

from nightrook.store.folders import BATCHES


def test_a_batch_is_followed_and_stopped_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=done", "hang-in-tool sigint-result"], monkeypatch)
    (work / "tasks.jsonl").write_text('{"prompt": "One"}\n{"prompt": "Two"}\n')
    command = [str(ROOK), "batch", "tasks.jsonl", "--jobs", "1"]
    with subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, text=True) as running:
        try:
            until(running, "1: success")
            name = BATCHES.paths(tmp_path / "home")[0].name
            attached = rook("attach", name, "--stop")
            assert running.wait(60) == attached.returncode == 130
        finally:
            running.kill()
    assert attached.stdout.startswith("1: success")
    assert [line.split()[:2] for line in attached.stdout.split("\n")[2:4]] == [
        ["1", "success"],
        ["2", "not"],
    ]
    assert f"resume:  rook batch --resume {name}" in attached.stdout
    assert json.loads(rook("attach", name, "--json").stdout)["status"] == "interrupted"
    refused = rook("stop", name)
    assert refused.returncode == 2
    assert f"batch '{name}' is not running" in refused.stderr


def test_a_detached_batch_runs_to_its_end_and_its_command_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=done"], monkeypatch)
    (work / "tasks.jsonl").write_text('{"prompt": "One"}\n{"prompt": "Two"}\n')
    on_end = f'echo "$ROOK_STATUS" >> {tmp_path}/ended'
    done = rook("batch", "-d", "tasks.jsonl", "--on-end", on_end, cwd=work)
    name = done.stdout.removesuffix("\n")
    assert (done.returncode, name[:6]) == (0, "batch-")
    assert f"rook attach {name} · rook stop {name}" in done.stderr
    attached = rook("attach", name)
    assert attached.returncode == 0
    assert "2 of 2 tasks done · 0 failed" in attached.stdout
    wait_for(lambda: (tmp_path / "ended").exists() and (tmp_path / "ended").read_text())
    assert (tmp_path / "ended").read_text() == "success\n"
    assert (tmp_path / "home/batches" / name / "runner.log").read_bytes() == b""
