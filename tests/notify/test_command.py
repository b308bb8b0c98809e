"""The command of `--on-end`: what it finds in its environment, and that it is contained."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from nightrook.display.reports.report import cleaned
from nightrook.notify import command
from nightrook.notify.command import environment, run_command
from tests.ci.payloads import PAYLOADS
from tests.ci.samples import everywhere
from tests.ci.test_github import DONE
from tests.rules import each


def test_it_finds_how_the_run_ended_in_its_environment() -> None:
    ended = run_command('echo "$ROOK_STATUS $ROOK_COST_USD $ROOK_NAME"', DONE)
    assert ended == ("success 0.015000 k7f3\n", None)
    assert environment(replace(DONE, duration_s=1.25)) == {
        "ROOK_STATUS": "success",
        "ROOK_EXIT_CODE": "0",
        "ROOK_KIND": "run",
        "ROOK_NAME": "k7f3",
        "ROOK_COST_USD": "0.015000",
        "ROOK_ANSWER_FILE": "/runs/k7f3/output.md",
        "ROOK_SENTENCE": "",
        "ROOK_DURATION_S": "1.2",
        "ROOK_ENDED": "k7f3",
    }


def test_a_failure_is_a_problem_and_no_error() -> None:
    assert run_command("echo no; exit 3", DONE) == ("no\n", "it exited with code 3: no")


def test_one_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MOST_S", 0.2)
    assert run_command("sleep 1000", DONE).problem == "it was stopped after 0.2s"


def test_no_process_of_it_is_left_behind(tmp_path: Path) -> None:
    """The sleep would hold the lock that the second command waits for."""
    lock = tmp_path / "lock"
    assert run_command(f"flock {lock} sleep 1000 & while [ ! -e {lock} ]; do :; done", DONE)
    assert run_command(f"flock {lock} echo free", DONE).output == "free\n"


def test_a_folder_that_is_gone_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert (run_command("true", DONE).problem or "").startswith("it cannot run")


@each("payload", PAYLOADS)
def test_every_text_fits_into_an_environment(payload: str) -> None:
    values = environment(cleaned(everywhere(payload), str))
    assert all("\0" not in value and value.encode() is not None for value in values.values())
