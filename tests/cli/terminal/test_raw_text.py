"""What `rook show` tells of a run that wrote no message: what it wrote instead."""

from pathlib import Path

import pytest
from tests.cli.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize("words", [("show",), ("show", "--full"), ("replay", "--instant")])
def test_an_agent_that_did_not_start_is_shown_with_its_complaint(
    desk: Desk, words: tuple[str, ...]
) -> None:
    assert desk.rook("run", "hi", ROOK_SCRIPT="bad-flag").returncode == 9
    shown = desk.rook(*words).stdout
    assert "[rook] it wrote to stderr:\nerror: unknown option '--no-such-flag'\n" in shown


def test_text_that_is_no_message_is_shown(desk: Desk) -> None:
    desk.program("claude", "printf 'Please \\033[2Jlog in\\n'; exit 1")
    desk.rook("run", "hi")
    shown = desk.rook("show").stdout
    assert shown == "[rook] it wrote to stdout:\nPlease ␛[2Jlog in\n"
    code, page = desk.on_terminal("show", "--no-pager")
    assert code == 0
    assert "Please ␛[2Jlog in\n" in page


def test_of_many_lines_the_last_are_shown_and_all_in_full(desk: Desk) -> None:
    desk.rook("exec", "--", "sh", "-c", "echo out; seq 50000 >&2; exit 3")
    shown = desk.rook("show").stdout.splitlines()
    assert shown[0] == "out"
    assert shown[1].startswith("[rook] it wrote to stderr, its last lines (all: rook show ")
    assert shown[2:] == [str(number) for number in range(49981, 50001)]
    full = desk.rook("show", "--full").stdout.splitlines()
    assert "[rook] it wrote to stderr:" in full
    assert [line for line in full if line.isdigit()] == [str(n) for n in range(1, 50001)]


def test_a_run_that_told_its_result_is_shown_without_its_noise(desk: Desk) -> None:
    desk.program("noisy", 'echo noise >&2\nexec claude "$@"')
    desk.user_file.write_text('[agents.noisy]\nspeaks = "claude"\ncommand = ["noisy"]\n')
    assert desk.rook("run", "--agent", "noisy", "hi").returncode == 0
    shown = desk.rook("show", "--full")
    assert "Done." in shown.stdout
    assert "noise" not in shown.stdout
