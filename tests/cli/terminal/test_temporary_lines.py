"""What is temporary on a terminal beside the status line of a run: typed keys do not tear it."""

import os
import termios
from pathlib import Path

import pytest
from tests.loops.playing import install
from tests.terminals import Terminal
from tests.warm import ROOK

HANGS = "hang-in-tool sigint-result"


def echoes(going: Terminal) -> bool:
    return bool(going.modes[3] & termios.ECHO)


def drawn_after(going: Terminal, sign: bytes) -> None:
    """Wait until something was drawn twice: the first time it may have begun before."""
    seen = len(going.raw)
    going.until(lambda: going.raw[seen:].count(sign) >= 2)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work = install(tmp_path, [HANGS], monkeypatch)
    (work / "tasks.jsonl").write_text('{"id": "one", "prompt": "Fix A"}\n{"prompt": "Fix B"}\n')
    return work


def test_keys_that_are_typed_during_a_batch_do_not_tear_its_table(work: Path) -> None:
    with Terminal([ROOK, "batch", "tasks.jsonl"], os.environ, cwd=work) as going:
        going.until(lambda: going.text.count("~$") == 2)
        assert not echoes(going)
        going.type("typed\r\r\r")
        drawn_after(going, b"WHAT")
        rows = [line.split() for line in going.text.split("\n")[-3:]]
        assert [row[0] for row in rows] == ["TASK", "one", "2"]
        assert [row[-2:] for row in rows[1:]] == [["Fix", "A"], ["Fix", "B"]]
        assert "typed" not in going.text
        going.type("\x03")
        assert going.finish() == 130
        assert going.modes == going.first_modes
        assert "TASK" not in going.text


def test_an_attached_batch_shows_the_same_live_table(work: Path) -> None:
    with Terminal([ROOK, "batch", "tasks.jsonl"], os.environ, cwd=work) as going:
        going.until(lambda: going.text.count("~$") == 2)
        name = going.text.split()[1]
        with Terminal([ROOK, "attach", name], os.environ, cwd=work) as attached:
            attached.until("Fix B")
            assert [line.split()[0] for line in attached.text.split("\n")] == ["TASK", "one", "2"]
            assert not echoes(attached)
            attached.type("\x03")
            assert attached.finish() == 130
            assert attached.modes == attached.first_modes
            assert attached.text.startswith(f"[rook] batch {name} continues")
        going.type("\x03")
        assert going.finish() == 130


def test_keys_that_are_typed_during_a_check_do_not_tear_its_line(work: Path) -> None:
    os.mkfifo(work / "fifo")
    command = ("loop", "Fix it", "--check", "read x < fifo")
    with Terminal([ROOK, *command], os.environ, cwd=work) as going:
        going.until("[rook] check read x < fifo:")
        assert not echoes(going)
        lines = len(going.text.split("\n"))
        going.type("typed\r\r\r")
        drawn_after(going, b"[rook] check")
        assert "typed" not in going.text
        assert len(going.text.split("\n")) == lines
        going.type("\x03")
        assert going.finish() == 130
        assert going.modes == going.first_modes
        assert "check read x < fifo: 0" not in going.text
