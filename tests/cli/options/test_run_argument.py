"""The run that a command means: by its name, that which is running, or the last one."""

from pathlib import Path

import pytest
from tests.runs.folders import ended, live
from tests.terminals import Terminal
from tests.warm import ROOK, rook

from rookery.cli.options.run_argument import find_running


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROOKERY_HOME", str(tmp_path))
    return tmp_path


def test_without_a_name_the_run_that_is_running_is_meant(home: Path) -> None:
    running = live(home, 3)
    ended(home, started_at=9e9)
    assert find_running(None) == running


def test_without_a_running_one_the_last_run_is_meant(home: Path) -> None:
    ended(home, started_at=1.0)
    last = ended(home, started_at=2.0)
    assert find_running(None) == last


def test_a_name_is_meant_whatever_is_running(home: Path) -> None:
    live(home, 3)
    named = ended(home)
    assert find_running(named.name) == named


def test_several_running_ones_are_named_where_nobody_can_be_asked(home: Path) -> None:
    names = {live(home, 3).name, live(home, 3).name}
    done = rook("attach", env={"ROOKERY_HOME": str(home), "HOME": str(home)})
    assert done.returncode == 2
    assert "2 runs are running: name one of " in done.stderr
    assert all(name in done.stderr for name in names)


def test_on_a_terminal_rook_attach_asks_which_of_several_runs(home: Path) -> None:
    first = live(home, 3, prompt="the first task")
    live(home, 3, prompt="the second task")
    environment = {"ROOKERY_HOME": str(home), "HOME": str(home), "PATH": "/usr/bin:/bin"}
    with Terminal([ROOK, "attach", "--stop"], environment) as terminal:
        terminal.until("Which one? [1]:")
        assert "the second task" in terminal.text
        terminal.type("2\n")  # the newest is the first in the list
        terminal.finish()
        assert f"run '{first.name}' is not running" in terminal.text  # it has no recorder
