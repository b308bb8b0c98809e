"""`rook exec` with commands that are no agents."""

import json
from pathlib import Path

import pytest
from tests.cli.commands.test_run import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_raw_command_that_is_missing_is_not_started_and_can_be_shown(desk: Desk) -> None:
    done = desk.rook("exec", "--", "no-such-program")
    assert done.returncode == 9
    assert "was not found" in done.stderr
    assert desk.rook("show").returncode == 0


def test_a_silent_raw_command_that_is_stopped_timed_out(desk: Desk) -> None:
    assert desk.rook("exec", "--timeout", "0.3", "--", "sleep", "20").returncode == 124


def test_json_of_a_raw_command_is_one_object_and_quiet_its_output(desk: Desk) -> None:
    told = json.loads(desk.rook("exec", "--json", "--", "echo", "hi").stdout)
    assert (told["ok"], told["status"]) == (True, "success")
    told = json.loads(desk.rook("exec", "--json", "--", "false").stdout)
    assert (told["ok"], told["status"]) == (False, "failed")
    assert desk.rook("exec", "-q", "--", "echo", "hi").stdout == "hi\n"
