"""`rook gc`: what it lists, what it does, and that every command reads what it compressed."""

import os
import re
import time
from pathlib import Path

import pytest
from tests.cli.desk import Desk

from nightrook.store.list import newest_first
from nightrook.store.run_folder import RunFolder

DAY_S = 86_400
READERS = (
    ("decode", "{folder}/stdout.raw"),
    ("show", "{run}", "--full"),
    ("show", "{run}", "--md"),
    ("replay", "{run}", "--instant"),
    ("attach", "{run}"),
    ("decode", "{run}"),
    ("decode", "{run}", "--summary"),
    ("report", "{run}"),
    ("runs", "--json"),
    ("cost", "--by", "run", "--csv"),
)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def old_run(desk: Desk) -> RunFolder:
    """A run of the scripted agent that ended a month ago."""
    done = desk.rook("run", "Fix it", "--agent", "claude")
    assert done.returncode == 0, done.stderr
    (folder,) = list(newest_first(desk.home / "runs-home"))
    at = time.time() - 30 * DAY_S
    for path in (*folder.path.iterdir(), folder.path):
        os.utime(path, (at, at))
    return folder


def outputs(desk: Desk, run: RunFolder) -> dict[str, tuple[int, str, str]]:
    """What every command prints about a run, without how long ago it was."""
    found = {}
    for words in READERS:
        done = desk.rook(*(word.format(run=run.name, folder=run.path) for word in words))
        assert done.returncode == 0, done.stderr
        stdout = re.sub(r"just now|\d+ min ago", "now", done.stdout)
        found[" ".join(words)] = (done.returncode, stdout, done.stderr)
    return found


def test_every_command_reads_a_compressed_run_as_before_and_it_comes_back(desk: Desk) -> None:
    run = old_run(desk)
    before, stream = outputs(desk, run), (run.path / "stdout.raw").read_bytes()
    done = desk.rook("gc", run.name, "--yes")
    assert (done.returncode, "compressed the logs of 1 run" in done.stderr) == (0, True)
    assert not (run.path / "stdout.raw").exists()
    assert outputs(desk, run) == before
    resumed = desk.rook("run", "--resume", run.name, "More")
    assert resumed.returncode == 0, resumed.stderr
    assert desk.rook("gc", "--restore", "--yes").returncode == 0
    assert (run.path / "stdout.raw").read_bytes() == stream


def test_without_yes_it_only_lists(desk: Desk) -> None:
    run = old_run(desk)
    with open(run.path / "stderr.raw", "ab") as log:
        log.write(b"warning\n" * 20_000)
    os.utime(run.path / "stderr.raw", (1, 1))
    done = desk.rook("gc")
    assert (done.returncode, done.stdout.split()[:4]) == (0, ["NAME", "CHANGED", "SIZE", "AFTER"])
    assert run.name in done.stdout
    assert "would compress the logs of 1 run, about " in done.stderr
    assert (run.path / "stdout.raw").exists()
    assert "no logs to compress" in desk.rook("gc", "--older-than", "60d").stderr
    assert "no logs to compress" in desk.rook("gc", "--keep", "1").stderr


def test_a_pinned_run_is_neither_compressed_nor_removed(desk: Desk) -> None:
    run = old_run(desk)
    assert desk.rook("gc", "--pin", run.name).returncode == 0
    assert "is pinned" in desk.rook("gc", run.name, "--yes").stderr
    assert "is pinned" in desk.rook("rm", run.name).stderr
    assert (run.path / "stdout.raw").exists()
    desk.rook("gc", "--unpin", run.name)
    assert desk.rook("gc", run.name, "--yes").returncode == 0
    assert not (run.path / "stdout.raw").exists()


def test_a_run_whose_log_was_changed_is_reported_and_the_exit_code_says_so(desk: Desk) -> None:
    run = old_run(desk)
    with open(run.path / "stdout.raw", "r+b") as log:
        log.write(b"X")
    done = desk.rook("gc", run.name, "--yes")
    assert (done.returncode, "left as it is" in done.stderr) == (1, True)


def test_names_are_needed_to_pin_and_kept_texts_may_be_absent(desk: Desk) -> None:
    assert desk.rook("gc", "--pin").returncode == 2
    assert desk.rook("gc", "--max-text", "1MB", "--yes").returncode == 0


def test_kept_copies_and_texts_are_forgotten_by_age_after_they_were_listed(desk: Desk) -> None:
    copy = desk.home / "runs-home" / "kept" / "claude" / "a.jsonl.zst"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"x" * 2000)
    os.utime(copy, (1, 1))
    assert desk.rook("search", "nothing").returncode == 1  # it makes the index
    listed = desk.rook("gc", "--text-older-than", "30d").stderr
    assert "would forget 2.0 kB of 2.0 kB of kept copies" in listed
    assert "would forget 0 B of 0 B of kept texts" in listed
    assert copy.exists()
    assert desk.rook("gc", "--text-older-than", "30d", "--yes").returncode == 0
    assert not copy.exists()
