"""`rook show` of a run that is running."""

import re
from pathlib import Path

import pytest
from tests.cli.desk import Desk
from tests.runs.folders import live
from tests.store.samples import VERDICT

PROGRESS = re.compile(r"\[rook\] running · [^·]+ · ~\$0\.00\d\d so far")
LINES = 7  # of a session: the last of them starts a call


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_lines_of_a_live_run_come_after_its_progress_and_before_its_open_call(
    desk: Desk,
) -> None:
    run = live(desk.home / "runs-home", LINES)
    shown = desk.rook("show")
    first, _, *last = shown.stderr.splitlines()
    assert PROGRESS.fullmatch(first)
    assert last == ["[rook] running: Write: new.txt", f"[rook] follow it: rook attach {run.name}"]
    assert shown.stdout.splitlines()[-1] == "[claude] Write: new.txt"


@pytest.mark.parametrize("words", [("--no-pager",), ("--full", "--no-pager")])
def test_the_page_of_a_live_run_begins_with_its_progress_and_shows_its_call_as_running(
    desk: Desk, words: tuple[str, ...]
) -> None:
    run = live(desk.home / "runs-home", LINES)
    code, shown = desk.on_terminal("show", *words, NO_COLOR="1")
    lines = re.sub(r"\x1b\]8;.*?\x1b\\", "", shown).splitlines()  # without links
    assert code == 0
    assert lines[0].startswith(f"run {run.name} · ")
    assert PROGRESS.fullmatch(lines[1])
    calls = [" ".join(line.split()) for line in lines if line.startswith("[claude] ")]
    assert calls[-3:] == [
        "[claude] Read: hello.py",
        "[claude] Edit: hello.py +1 −1",
        "[claude] Write: new.txt running",
    ]
    assert f"[rook] follow it: rook attach {run.name}" in lines
    assert "cut off" not in shown


def test_a_run_that_has_ended_is_not_shown_as_running(desk: Desk) -> None:
    live(desk.home / "runs-home", LINES).write_verdict(VERDICT)
    shown = desk.rook("show")
    page = desk.rook("show", "--full").stdout
    assert "running" not in shown.stdout + shown.stderr + page
    assert "cut off" in page


def test_the_replay_of_a_live_run_has_no_end(desk: Desk) -> None:
    run = live(desk.home / "runs-home", LINES)
    words = ("replay", "--instant", "--format", "jsonl", run.name)
    assert "orphaned" not in desk.rook(*words).stdout
    run.write_verdict(VERDICT)
    assert "orphaned" in desk.rook(*words).stdout
