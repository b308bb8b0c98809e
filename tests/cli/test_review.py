"""What a review found: ends that hung, lied or ended in a traceback."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.test_run import Desk
from tests.warm import ROOK


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_raw_command_that_is_missing_is_not_started_and_can_be_shown(desk: Desk) -> None:
    done = desk.rook("exec", "--", "no-such-program")
    assert done.returncode == 9
    assert "there is no program" in done.stderr
    assert desk.rook("show").returncode == 0


def test_a_silent_raw_command_that_is_stopped_timed_out(desk: Desk) -> None:
    assert desk.rook("exec", "--timeout", "0.3", "--", "sleep", "20").returncode == 124


def test_a_reader_that_goes_away_does_not_stop_the_run(desk: Desk) -> None:
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


def test_a_damaged_folder_does_not_hide_the_other_runs(desk: Desk) -> None:
    desk.rook("run", "x")
    broken = desk.folder / "home" / "runs" / "zzzz"
    broken.mkdir(mode=0o700)
    (broken / "run.json").write_text("{")
    done = desk.rook("runs")
    assert done.returncode == 0
    assert "success" in done.stdout
    assert "damaged" in done.stdout


def test_json_of_a_raw_command_is_one_object_and_quiet_its_output(desk: Desk) -> None:
    told = json.loads(desk.rook("exec", "--json", "--", "echo", "hi").stdout)
    assert (told["ok"], told["status"]) == (True, "success")
    told = json.loads(desk.rook("exec", "--json", "--", "false").stdout)
    assert (told["ok"], told["status"]) == (False, "failed")
    assert desk.rook("exec", "-q", "--", "echo", "hi").stdout == "hi\n"


def test_a_prompt_that_is_not_utf_8_is_mended(desk: Desk) -> None:
    assert desk.rook("run", "a\udcffb").returncode == 0


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
    (desk.folder / "claude").write_text(f"#!/bin/sh\ncat {desk.folder}/wire; exec sleep 60\n")
    with desk.going("run", "--max-tokens", "1000", "x", script="") as process:
        # Nobody reads the 270 kB that it shows: the run must be stopped all the same.
        told = ""
        for _ in range(200):
            told = desk.rook("runs", "--json").stdout.split("\n")[0]
            if told and json.loads(told)["status"] != "running":
                break
        process.communicate(timeout=30)
    assert json.loads(told)["status"] == "over_budget"
    assert process.returncode == 5


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


def test_the_json_of_a_run_tells_what_a_script_needs_to_go_on(desk: Desk) -> None:
    told = json.loads(desk.rook("run", "--json", "x", script="say=Fine.").stdout)
    (name,) = (path.name for path in (desk.folder / "home" / "runs").iterdir())
    assert (told["run"], told["exit_code"], told["sentence"]) == (name, 0, "done")
    assert told["session"]
    assert told["duration_s"] > 0
    assert (told["turns"], told["steps"]) == (1, 2)  # a prompt, and what the last lines call turns
    assert told["resets_in_s"] is None
    assert (told["ok"], told["text"]) == (True, "Fine.")


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["--version"], []])
def test_no_page_ends_in_a_traceback_if_it_cannot_be_written(desk: Desk, words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [ROOK, *words],
            env=desk.environment(""),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert "Traceback" not in done.stderr
    assert done.returncode != 0
