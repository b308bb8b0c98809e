"""How `rook run` ends: with the command that logs in, if that is what the agent lacks."""

import json
from pathlib import Path

import pytest
from tests.cli.desk import Desk
from tests.recorded import cases, name_of

from nightrook import agents

CASES = {name_of(path): path for path in cases("claude")}
NO_KEY, NO_CREDIT = CASES["s11i_no_key-2.1.197"], CASES["s50c_credit-2.1.325"]
FAILED = {"type": "result", "subtype": "error_during_execution", "is_error": True}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def failing_qwen(desk: Desk, message: str) -> None:
    stream = desk.home / "qwen.jsonl"
    lines = ({"type": "system", "subtype": "init"}, {**FAILED, "error": {"message": message}})
    stream.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    desk.program("qwen", f"cat {stream}\nexit 1")


def test_a_run_that_is_not_logged_in_names_the_login_command(desk: Desk) -> None:
    desk.program("claude", f"cat {NO_KEY}\nexit 1")
    done = desk.rook("run", "Hi")
    assert done.returncode == 1
    assert "[rook] to log in:  claude /login\n" in done.stderr
    assert "to log in:  claude /login" in desk.rook("show").stderr


def test_missing_credit_is_not_a_missing_login(desk: Desk) -> None:
    desk.program("claude", f"cat {NO_CREDIT}\nexit 1")
    done = desk.rook("run", "Hi")
    assert done.returncode == 6
    assert "[rook] limited: Credit balance is too low\n" in done.stderr
    assert "continue after adding credit: " in done.stderr
    assert "log in" not in done.stderr


def test_a_command_of_the_user_s_logs_in_with_itself(desk: Desk) -> None:
    wrapper = desk.program("my claude", f"cat {NO_KEY}\nexit 1")
    desk.user_file.write_text(
        f'[agents.work]\nspeaks = "claude"\ncommand = ["{wrapper}", "--as-me"]\n'
    )
    done = desk.rook("run", "--agent", "work", "Hi")
    assert f"[rook] to log in:  '{wrapper}' --as-me /login\n" in done.stderr


def test_an_agent_that_reports_a_missing_login_by_its_exit_code_only_names_it_too(
    desk: Desk,
) -> None:
    desk.program("gemini", "echo Please set an Auth method >&2\nexit 41")
    done = desk.rook("run", "--agent", "gemini", "Hi")
    assert done.returncode == 9
    assert "to log in:  gemini, then /auth" in done.stderr
    desk.program("gemini", "exit 42")
    assert "log in" not in desk.rook("run", "--agent", "gemini", "Hi").stderr


@pytest.mark.parametrize(
    ("message", "named"), [("No auth type is selected. Please configure", True), ("Oh", False)]
)
def test_qwen_without_a_login_names_it_and_another_failure_does_not(
    desk: Desk, message: str, named: bool
) -> None:
    failing_qwen(desk, message)
    done = desk.rook("run", "--agent", "qwen", "Hi")
    assert done.returncode == 1
    assert ("to log in:  qwen, then /auth" in done.stderr) is named


@pytest.mark.parametrize("name", [name for name in agents.NAMES if agents.agent(name).programs])
def test_every_agent_has_a_login_command_of_its_own_program(name: str) -> None:
    known = agents.agent(name)
    assert known.login is not None
    assert known.login.startswith(known.programs[0])
