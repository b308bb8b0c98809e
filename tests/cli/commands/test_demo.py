"""`rook demo`: what it prints for those who have just set it up."""

import subprocess
from pathlib import Path

import pytest
from tests.warm import ROOK

from nightrook.cli.commands.demo import path_hint


@pytest.mark.parametrize(
    ("on_path", "hint"),
    [(False, f'[rook] to have rook on PATH: export PATH={ROOK.parent}:"$PATH"\n'), (True, "")],
)
def test_the_demo_shows_how_to_have_rook_on_path(tmp_path: Path, on_path: bool, hint: str) -> None:
    environment = {
        "HOME": str(tmp_path),
        "PATH": str(ROOK.parent) if on_path else "/nowhere",
        "ROOK_HOME": str(tmp_path / "runs"),
    }
    done = subprocess.run(
        [ROOK, "demo", "--speed", "200"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.endswith(hint)
    assert ("to have rook on PATH" in done.stderr) is not on_path


def test_a_folder_with_a_blank_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert path_hint("/a b/rook") == "to have rook on PATH: export PATH='/a b':\"$PATH\""
    assert path_hint("/a/pytest") is None


def test_the_history_demo_makes_a_home_and_says_how_to_report_on_it(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": str(ROOK.parent), "TMPDIR": str(tmp_path)}
    command = [str(ROOK), "demo", "--history"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    (home,) = tmp_path.glob("rook-history-*")
    assert f"sessions of five agents are in {home}\n" in done.stdout
    assert f'  env -i PATH="$PATH" HOME={home} rook cost --by day,agent\n' in done.stdout
    assert list(home.glob(".claude/projects/*/*.jsonl"))
