"""The model of a session, from the log that its agent keeps."""

import os
from pathlib import Path

import pytest

from nightrook.adapter.agent import SessionLog
from nightrook.runs.agent_session_log import session_model


def log(folder: Path | None) -> SessionLog:
    return SessionLog(
        folder=lambda environ: None if folder is None else str(folder),
        pattern=lambda session: f"*-{session}.log",
        model=lambda line: line.decode().strip().removeprefix("model ") or None,
    )


def test_the_model_of_the_last_turn_counts(tmp_path: Path) -> None:
    (tmp_path / "a-s.log").write_text("model one\n\nmodel two\n\n")
    assert session_model(log(tmp_path), "s", {}) == "two"
    assert session_model(log(tmp_path), "other", {}) is None
    assert session_model(log(None), "s", {}) is None


def test_a_name_is_not_longer_than_a_name_can_be(tmp_path: Path) -> None:
    (tmp_path / "a-s.log").write_text("x" * 100_000)
    assert session_model(log(tmp_path), "s", {}) == "x" * 200


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_what_is_not_a_plain_file_is_not_read(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "a-s.log"
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        (tmp_path / "other").write_text("model one\n")
        place.symlink_to(tmp_path / "other")
    assert session_model(log(tmp_path), "s", {}) is None
