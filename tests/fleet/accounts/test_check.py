"""`rook worker --check`: what is found on a machine, and what would help."""

import os
from collections import namedtuple
from pathlib import Path

import pytest

from nightrook.fleet.accounts.check import check_machine, check_server
from nightrook.process.systems.this_system import system

pytestmark = pytest.mark.usefixtures("readable_again")

Disk = namedtuple("Disk", "f_bavail f_frsize")


def _levels(source: str, home: Path) -> dict[str, str]:
    return {finding.text: finding.level for finding in check_machine(source, home)}


def _finding(source: str, home: Path, words: str) -> str:
    return next(level for text, level in _levels(source, home).items() if words in text)


def test_a_file_of_the_same_user_is_a_warning_and_a_descriptor_is_not(tmp_path: Path) -> None:
    assert _finding("ada.json", tmp_path, "can read ada.json") == "warning"
    assert _finding("fd:3", tmp_path, "in no file") == "ok"
    assert _finding("-", tmp_path, "in no file") == "ok"


def test_root_is_a_warning_and_another_user_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    assert _finding("-", tmp_path, "agents run as root") == "warning"
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    assert _finding("-", tmp_path, "agents run as user 1000") == "ok"


def test_memory_that_cannot_be_hidden_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(system, "hide_memory", lambda: False)
    assert _finding("-", tmp_path, "cannot hide the memory") == "warning"


def test_a_full_disk_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "statvfs", lambda _: Disk(10, 4096))
    assert _finding("-", tmp_path, "MB are free") == "warning"


def test_a_server_that_is_too_old_is_a_warning() -> None:
    assert check_server((2, 10, 26), "1.0").level == "warning"
    assert check_server((2, 11, 0), "1.0").level == "ok"
