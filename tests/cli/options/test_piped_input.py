"""Prompts and data that are piped to `rook run`, `rook exec` and `rook loop`."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands.test_run import Desk
from tests.process.recording import wait_for
from tests.warm import ROOK

from nightrook import agents

DIFF = "+ one line\n"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def heard(desk: Desk, *words: str, stdin: str) -> str:
    """What the agent reads from its stdin when `rook` is called so."""
    script = f"say=x read-stdin-first print-call={desk.folder}/call"
    done = desk.rook(*words, script=script, stdin=stdin)
    assert done.returncode == 0, done.stderr
    call: dict[str, Any] = json.loads((desk.folder / "call").read_text())
    return str(call["stdin"])


@contextmanager
def silent(desk: Desk, *words: str, script: str) -> Iterator[subprocess.Popen[str]]:
    """`rook` with an open stdin that sends nothing."""
    with subprocess.Popen(
        [ROOK, *words],
        cwd=desk.folder,
        env=desk.environment(script),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.kill()


def test_what_is_piped_to_run_follows_the_prompt(desk: Desk) -> None:
    assert heard(desk, "run", "Review this", stdin=DIFF) == f"Review this\n{DIFF}"


def test_what_is_piped_alone_is_the_prompt(desk: Desk) -> None:
    assert heard(desk, "run", stdin="Fix the tests") == "Fix the tests"


def test_a_prompt_file_of_a_dash_is_the_prompt_or_follows_it(desk: Desk) -> None:
    assert heard(desk, "run", "--prompt-file", "-", stdin="Fix it") == "Fix it"
    words = ("run", "--prompt-file", "-", "Review this")
    assert heard(desk, *words, stdin=DIFF) == f"Review this\n{DIFF}"


def test_what_is_piped_follows_a_prompt_from_a_file(desk: Desk) -> None:
    (desk.folder / "task").write_text("Review this")
    assert heard(desk, "run", "--prompt-file", "task", stdin=DIFF) == f"Review this\n{DIFF}"


def test_an_empty_stdin_adds_nothing_and_an_ignored_one_is_not_read(desk: Desk) -> None:
    assert heard(desk, "run", "Review this", stdin="") == "Review this"
    assert heard(desk, "run", "--stdin", "ignore", "Review this", stdin=DIFF) == "Review this"


def test_the_command_shows_the_prompt_without_what_is_piped(desk: Desk) -> None:
    done = desk.rook("run", "Review this", stdin=DIFF)
    assert done.stdout.split("\n")[0].endswith(" --verbose 'Review this'")
    (folder,) = (desk.folder / "home" / "runs").iterdir()
    assert json.loads((folder / "run.json").read_bytes())["prompt"] == "Review this"
    assert (folder / "stdin.raw").read_text() == f"Review this\n{DIFF}"


def test_without_a_prompt_and_with_nothing_piped_the_prompt_is_missing(desk: Desk) -> None:
    done = desk.rook("run", stdin="")
    assert done.returncode == 2
    assert "the prompt is missing: rook run" in done.stderr


def test_more_than_the_agent_takes_is_refused_with_a_sentence(desk: Desk) -> None:
    (desk.folder / "large").write_bytes(b"x" * (10 * 1024 * 1024 + 1))
    with (desk.folder / "large").open() as source:
        done = subprocess.run(
            [ROOK, "run", "Review this"],
            cwd=desk.folder,
            env=desk.environment("say=x"),
            stdin=source,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "claude takes at most 10,485,760 bytes" in done.stderr
    assert not (desk.folder / "home" / "runs").exists()


def test_what_is_piped_to_exec_reaches_the_command_unchanged(desk: Desk) -> None:
    assert heard(desk, "exec", "--", "claude", "-p", "Review this", stdin=DIFF) == DIFF


def test_what_is_piped_to_exec_in_the_background_reaches_the_command(desk: Desk) -> None:
    done = desk.rook("exec", "--detach", "--", "cat", stdin=DIFF)
    assert done.returncode == 0, done.stderr
    log = desk.folder / "home" / "runs" / done.stdout.strip() / "stdout.raw"
    wait_for(lambda: log.read_text() == DIFF)


def test_what_is_piped_to_a_loop_follows_every_prompt_as_it_is(desk: Desk) -> None:
    data = "{{iteration}} is not filled in here\n"
    words = ("loop", "--until", "x", "--max-iterations", "1", "Round {{iteration}}")
    assert heard(desk, *words, stdin=data) == f"Round 1\n{data}"


@pytest.mark.parametrize("command", [["run", "Say hello"], ["exec", "--", "claude", "-p", "Hi"]])
def test_an_open_stdin_that_sends_nothing_blocks_nothing(desk: Desk, command: list[str]) -> None:
    with silent(desk, *command, script="say=Hello. read-stdin-first") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert '"Hello."' in process.stdout.read()
        assert "stdin sent nothing within 3 seconds" in process.stderr.read()
        assert process.wait() == 0


def test_data_that_comes_too_late_is_reported_and_not_lost_in_silence(desk: Desk) -> None:
    with silent(desk, "run", "-q", "Say hello", script="say=x hang-after-result") as process:
        assert process.stdin is not None
        assert process.stderr is not None
        wait_for(lambda: any(desk.folder.glob("home/runs/*/stdout.raw")))
        process.stdin.write("too late")
        process.stdin.flush()
        process.terminate()
        assert "stdin sent data after the agent was started" in process.stderr.read()


def test_stdin_is_awaited_however_long_if_that_is_asked_for(desk: Desk) -> None:
    call = f"say=x read-stdin-first print-call={desk.folder}/call"
    with silent(desk, "run", "--stdin", "wait", "Review", script=call) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "[rook] waiting for the end of stdin\n"
        process.communicate(DIFF)
    assert json.loads((desk.folder / "call").read_text())["stdin"] == f"Review\n{DIFF}"


JOINED = {
    "amp": f"Review\n{DIFF}",
    "claude": f"Review\n{DIFF}",
    "cline": f"Review\n\n{DIFF}",
    "codex": f"Review\n\n<stdin>\n{DIFF}</stdin>",
    "goose": f"Review\n{DIFF}",
    "copilot": f"Review\n{DIFF}",
    "kimi": f"Review\n{DIFF}",
    "kilo": f"Review\n{DIFF}",
    "droid": f"Review\n{DIFF}",
    "acp": f"Review\n{DIFF}",
    "gemini": f"{DIFF}\n\nReview",
    "opencode": f"Review\n{DIFF}",
    "qwen": f"{DIFF}\n\nReview",
}


@pytest.mark.parametrize("name", agents.NAMES)
def test_data_is_added_to_a_prompt_as_each_agent_does_it(name: str) -> None:
    assert agents.agent(name).with_stdin("Review", DIFF) == JOINED[name]
