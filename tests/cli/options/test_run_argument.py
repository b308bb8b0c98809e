"""The run that a command means: by its name, or the last one."""

from pathlib import Path

import pytest
from tests.runs.folders import ended, live

from nightrook.cli.options.run_argument import find_run
from nightrook.model.errors import NightrookError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROOK_HOME", str(tmp_path))
    return tmp_path


def test_without_a_name_the_last_run_is_meant(home: Path) -> None:
    ended(home, started_at=1.0)
    last = ended(home, started_at=2.0)
    assert find_run(None) == last


def test_a_name_is_meant_whatever_is_running(home: Path) -> None:
    live(home, 3)
    named = ended(home)
    assert find_run(named.name) == named


@pytest.mark.parametrize(("name", "kind"), [("loop-k7f3", "loop"), ("batch-k7f3", "batch")])
def test_a_loop_or_a_batch_is_not_a_run(home: Path, name: str, kind: str) -> None:
    with pytest.raises(
        NightrookError, match=f"{name} is a {kind}, not a run: use  rook show {name}"
    ):
        find_run(name)
