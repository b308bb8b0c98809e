"""Which programs are there, and what they say of their version."""

import os
import time
from pathlib import Path

import pytest

from nightrook.process.programs import Installed, installed


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.defpath}")
    return tmp_path


def program(folder: Path, script: str) -> str:
    path = folder / "agent"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def ask(*command: str, patience_s: float = 30.0) -> Installed:
    return installed(
        command or ("agent",), keeps_variable=lambda name: name != "DROP", patience_s=patience_s
    )


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("2.1.325 (Claude Code)", "2.1.325"),
        ("codex-cli 0.166.0", "0.166.0"),
        ("v1.18.33", "1.18.33"),
        ("tool 1.2.3-beta.4 and more", "1.2.3-beta.4"),
        ("0.61", "0.61"),
        ("It is 1.2.3.", "1.2.3"),
    ],
)
def test_the_version_is_found_in_what_the_program_says(
    programs: Path, said: str, version: str
) -> None:
    path = program(programs, f"echo '{said}'")
    assert ask() == Installed(path=path, version=version)


def test_a_program_that_is_not_there_has_no_path(programs: Path) -> None:
    assert ask("no-such-agent") == Installed(path=None)


def test_a_program_is_asked_with_its_arguments_and_without_what_would_confuse_it(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DROP", "9.9.9")
    program(programs, 'echo "$1 $2 $DROP 1.2.3" | grep -- "--wrapped --version  1.2.3"')
    assert ask("agent", "--wrapped").version == "1.2.3"


def test_a_program_that_tells_no_version_says_why(programs: Path) -> None:
    path = program(programs, "echo help; exit 3")
    assert ask() == Installed(path=path, problem="prints no version (exit 3)")


def test_a_program_that_cannot_be_started_says_why(programs: Path) -> None:
    path = program(programs, "")
    Path(path).write_bytes(b"\0\0 no program")
    assert ask() == Installed(path=path, problem="cannot be started: Exec format error")


def test_a_program_that_hangs_is_ended_with_its_children(programs: Path) -> None:
    path = program(programs, 'sleep 600 & echo $! > "$0.child"; wait')
    found = ask(patience_s=1.0)
    assert found == Installed(path=path, problem="did not print its version within 1 s")
    child = int(Path(f"{path}.child").read_text())
    deadline = time.monotonic() + 120
    while alive(child):
        assert time.monotonic() < deadline, "its child lives"
        time.sleep(0.05)


def test_a_child_that_holds_the_pipe_does_not_outlive_a_quick_answer(programs: Path) -> None:
    path = program(programs, 'sleep 600 > /dev/null 2>&1 & echo $! > "$0.child"; echo 1.2.3')
    assert ask().version == "1.2.3"
    child = int(Path(f"{path}.child").read_text())
    deadline = time.monotonic() + 120
    while alive(child):
        assert time.monotonic() < deadline, "its child lives"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"
