"""A screen that nobody reads, or that cannot be written, does not stop a run."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.cli.commands.test_run import Desk, status
from tests.process.recording import wait_for
from tests.warm import ROOK


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_reader_that_leaves_does_not_stop_the_run(desk: Desk) -> None:
    with subprocess.Popen(
        [ROOK, "run", "x"],
        cwd=desk.folder,
        env=desk.environment("delay=0.1 say=one say=two say=three"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        process.wait(60)
        assert process.stderr is not None
        told = process.stderr.read()
    assert "Traceback" not in told
    assert "success" in told
    assert process.returncode == 0
    assert '"three"' in desk.rook("show").stdout


def test_a_screen_that_cannot_be_written_does_not_stop_the_run(desk: Desk) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [ROOK, "run", "x"],
            cwd=desk.folder,
            env=desk.environment("say=hi"),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert "[rook] cannot write: No space left on device; the run continues" in done.stderr
    assert done.returncode == 0
    assert '"hi"' in desk.rook("show").stdout


def test_a_closed_stdout_changes_nothing_but_what_is_seen(desk: Desk) -> None:
    command = ["sh", "-c", 'exec "$0" run x >&-', str(ROOK)]
    done = subprocess.run(
        command,
        cwd=desk.folder,
        env=desk.environment("say=x"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "[rook] success" in done.stderr


def test_a_stalled_reader_does_not_stop_a_budget(desk: Desk) -> None:
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "x" * 79}]}}
    usage = {"input_tokens": 5000, "output_tokens": 1}
    spent = {"type": "assistant", "message": {"id": "m", "content": [], "usage": usage}}
    wire = "".join(json.dumps(line) + "\n" for line in [*[said] * 3000, spent])
    (desk.folder / "wire").write_text(wire)
    (desk.folder / "claude").write_text(f"#!/bin/sh\ncat {desk.folder}/wire; exec sleep 1000\n")
    with desk.going("run", "--max-tokens", "1000", "x", script="") as process:
        # Nobody reads the 270 kB that it shows: the run must be stopped all the same.
        wait_for(lambda: status(desk) not in ("", "running"))
        process.communicate()
    assert status(desk) == "over_budget"
    assert process.returncode == 5
