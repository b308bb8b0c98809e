"""`rook import` and `rook index`: what they print, and how they refuse."""

import os
from pathlib import Path

import pytest
from tests.archive.homes import message
from tests.cli.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def write_session(home: Path, *numbers: int) -> Path:
    file = home / ".claude" / "projects" / "-home-me-app" / "s.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(map(message, numbers)))
    return file


def test_sessions_are_imported_shown_and_rebuilt(desk: Desk, tmp_path: Path) -> None:
    write_session(desk.home, 1, 2)
    write_session(tmp_path / "old", 2, 3)
    first = desk.rook("import")
    assert first.stdout.endswith("in 1 of 1 file: 2 new calls\n")
    assert desk.rook("import", str(tmp_path / "old")).stdout.endswith(": 1 new call\n")
    (tmp_path / "old" / ".claude").rename(tmp_path / "gone")
    rebuilt = desk.rook("index", "--rebuild")
    expected = "3 calls in 1 session, read from 2 files, 1 of which no longer exist"
    assert rebuilt.stdout.splitlines()[-1] == expected


def test_a_file_is_recognised_by_its_content_or_named(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "copy.txt"
    file.write_text(message(1))
    assert desk.rook("import", str(file)).stdout.endswith(": 1 new call\n")
    file.write_text("{}\n" + message(2, isSidechain=None).replace('"isSidechain":null,', ""))
    refused = desk.rook("import", str(file))
    assert refused.returncode == 2
    assert "--agent says whose they are" in refused.stderr
    named = desk.rook("import", "--agent", "claude", str(file))
    assert named.stdout.endswith(": 1 new call\n")


def test_what_cannot_be_imported_is_refused_in_a_sentence(desk: Desk, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "nothing")
    for name, reason in {
        "pipe.jsonl": "is a device or a pipe; name a file or a folder",
        "link.jsonl": "does not exist; name a file or a folder that does",
        "pipe.jsonl/s": "can't be read: Not a directory; name a file or a folder that can",
    }.items():
        refused = desk.rook("import", str(tmp_path / name))
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr == f"[rook] {tmp_path / name} {reason}\n"
    nothing = desk.rook("import", "")
    assert nothing.stderr == "[rook] '' does not exist; name a file or a folder that does\n"


def test_sessions_of_another_agent_than_the_named_one_are_refused(
    desk: Desk, tmp_path: Path
) -> None:
    file = write_session(desk.home, 1)
    refused = desk.rook("import", "--agent", "gemini", str(file))
    assert refused.returncode == 2
    assert refused.stderr == f"[rook] {file} has no sessions of gemini; name another --agent\n"
    assert desk.rook("import").stdout.endswith(": 1 new call\n")
