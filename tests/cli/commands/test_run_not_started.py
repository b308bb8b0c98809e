"""A run that was not started says what failed and at which point, once."""

from pathlib import Path

import pytest
from tests.cli.commands.test_run import Desk
from tests.warm import rook


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def script(desk: Desk, line: str) -> None:
    (desk.folder / "claude").write_text(f"#!/bin/sh\n{line}\n")


def refused(desk: Desk, *words: str, code: int = 9) -> list[str]:
    """The lines of rook about a run that was not started, without those that say what to do."""
    done = rook("run", "x", *words, cwd=desk.folder, env=desk.environment("bad-flag"))
    assert done.returncode == code, done.stderr
    assert "not started" not in done.stdout
    return [line for line in done.stderr.splitlines() if "details: " not in line]


def test_a_flag_that_the_agent_does_not_take_is_its_own_message_and_the_code(desk: Desk) -> None:
    assert refused(desk) == [
        "error: unknown option '--no-such-flag'",
        "[rook] not started: claude exited with code 1 before its first message",
    ]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("exit 0", "claude exited with code 0 before its first message"),
        ("kill -9 $$", "claude was killed by SIGKILL before its first message"),
    ],
)
def test_an_agent_that_ends_at_once_is_named_with_its_end(
    desk: Desk, line: str, sentence: str
) -> None:
    script(desk, line)
    assert refused(desk) == [f"[rook] not started: {sentence}"]


def test_a_missing_agent_is_named_with_how_to_install_it(desk: Desk) -> None:
    environment = {**desk.environment(""), "PATH": str(desk.folder)}
    done = rook("run", "x", "--agent", "opencode", cwd=desk.folder, env=environment)
    assert done.returncode == 9
    said, how = done.stderr.splitlines()
    assert said == "[rook] not started: program 'opencode' was not found"
    assert how.startswith("[rook] install it:  npm install -g opencode-ai")


HOW = [
    "[rook] install it:  npm install -g @anthropic-ai/claude-code",
    "[rook] or try rook without it:  rook demo",
]


def without_agents(desk: Desk) -> dict[str, str]:
    return {**desk.environment(""), "PATH": "/usr/bin:/bin"}


def test_a_loop_whose_agent_is_missing_says_how_to_install_it(desk: Desk) -> None:
    environment = without_agents(desk)
    done = rook("loop", "x", "--check", "false", cwd=desk.folder, env=environment)
    assert done.returncode == 9
    *_, used, first, second, resume = done.stdout.splitlines()
    assert [first, second] == HOW
    assert resume.startswith("[rook] resume:  rook loop --resume loop-")
    name = used.split()[-1]
    shown = rook("show", name, cwd=desk.folder, env=environment)
    assert shown.stdout.splitlines()[-3:] == [*HOW, resume]


def test_a_batch_whose_agent_is_missing_says_how_to_install_it_once(desk: Desk) -> None:
    (desk.folder / "tasks").write_text('{"prompt": "x"}\n{"prompt": "y"}\n')
    environment = without_agents(desk)
    done = rook("batch", "tasks", cwd=desk.folder, env=environment)
    assert done.stderr.splitlines()[1:] == [
        "[rook] 2 of 2 tasks done · 2 failed · nothing spent",
        *HOW,
    ]


def test_nothing_that_was_not_started_is_shown_with_a_cost(desk: Desk) -> None:
    (desk.folder / "tasks").write_text('{"prompt": "x"}\n{"prompt": "y", "agent": "none"}\n')
    environment = without_agents(desk)
    ended = rook("batch", "tasks", cwd=desk.folder, env=environment)
    name = ended.stderr.split()[1]
    said = [rook(*words, cwd=desk.folder, env=environment) for words in (["runs"], ["batches"])]
    said += [rook("show", name, cwd=desk.folder, env=environment)]
    assert [done.returncode for done in said] == [0, 0, 0]
    assert "$" not in "".join(done.stdout for done in (ended, *said))
    assert said[-1].stdout.endswith(" · nothing spent\n")


def test_a_missing_folder_is_named_before_anything_is_made(desk: Desk) -> None:
    said = refused(desk, "--cwd", "/no/such/folder", code=2)
    assert (
        said[-1] == "Error: Invalid value for '--cwd': Directory '/no/such/folder' does not exist."
    )
    assert not (desk.folder / "home").exists()


def test_a_missing_folder_of_a_task_is_named_in_its_result(desk: Desk) -> None:
    (desk.folder / "tasks").write_text('{"prompt": "x", "cwd": "/no/such/folder"}\n')
    done = rook("batch", "tasks", cwd=desk.folder, env=desk.environment(""))
    assert done.returncode == 1
    assert done.stdout.endswith(" · the working folder '/no/such/folder' does not exist\n")
    assert done.stdout.count("not started") == 1
