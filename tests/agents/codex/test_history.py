"""Where Codex keeps a thread, and which model its lines name."""

import json
from pathlib import Path

import pytest

from nightrook.agents.codex.history import folder, model, pattern
from tests.rules import each

THREAD = "01a1e060-6b0a-76c2-94f6-10c11e35bbea"


@each(
    ("environ", "expected"),
    [
        ({"CODEX_HOME": "/a", "HOME": "/b"}, "/a/sessions"),
        ({"HOME": "/b"}, "/b/.codex/sessions"),
        ({"CODEX_HOME": "", "HOME": "/b"}, "/b/.codex/sessions"),
        ({}, None),
    ],
)
def test_the_folder_of_sessions_is_codex_s_own(
    environ: dict[str, str], expected: str | None
) -> None:
    assert folder(environ) == expected


def test_the_log_of_a_thread_has_its_id_in_its_name(tmp_path: Path) -> None:
    file = tmp_path / "2026" / "11" / "16" / f"rollout-2026-11-16T10-00-00-{THREAD}.jsonl"
    file.parent.mkdir(parents=True)
    file.touch()
    assert list(tmp_path.glob(pattern(THREAD) or "")) == [file]


@pytest.mark.parametrize("thread", ["*", "../../x", "", f"{THREAD}/x", "t", f"{THREAD}\n"])
def test_an_id_that_is_not_one_of_codex_s_finds_nothing(thread: str) -> None:
    assert pattern(thread) is None


@each(
    ("line", "expected"),
    [
        ({"type": "turn_context", "payload": {"model": "gpt-5", "cwd": "/"}}, "gpt-5"),
        ({"type": "turn_context", "payload": {"cwd": "/"}}, None),
        ({"type": "turn_context"}, None),
        ({"type": "response_item", "payload": {"model": "gpt-5", "a": "turn_context"}}, None),
        ({"type": "session_meta", "payload": {"model": "gpt-5"}}, None),
    ],
)
def test_only_the_line_that_opens_a_turn_names_the_model(
    line: dict[str, object], expected: str | None
) -> None:
    assert model(json.dumps(line).encode()) == expected


def test_a_line_that_is_broken_names_no_model() -> None:
    assert model(b'{"type":"turn_context","payload":{"model":') is None
