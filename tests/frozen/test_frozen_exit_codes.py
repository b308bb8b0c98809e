"""The exit code of each status, of a run, a pipe, a loop and a batch, with a scripted agent."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.frozen.desk import COSTLY, Desk, interrupt
from tests.frozen.rook import cases, play

EXIT_CODES = {
    "success": 0,
    "failed": 1,
    "incomplete": 3,
    "denied": 4,
    "over_budget": 5,
    "limited": 6,
    "stuck": 7,
    "not_started": 9,
    "timed_out": 124,
}
WRONG_USAGE, INTERRUPTED = 2, 130
RUNS = [
    ("success", "say=Done.", ["run", "hi"]),
    ("success", "say=Done.", ["exec", "--", "claude", "-p", "hi"]),
    ("success", "", ["exec", "--", "true"]),
    ("failed", "error-result", ["run", "hi"]),
    ("failed", "error-result", ["exec", "--", "claude", "-p", "hi"]),
    ("failed", "", ["exec", "--", "false"]),
    ("incomplete", "no-result", ["run", "hi"]),
    ("incomplete", "cut-last-line", ["run", "hi"]),
    ("denied", "ask-permission", ["run", "--permission", "ask", "hi"]),
    ("over_budget", COSTLY, ["run", "--max-cost", "0.2", "hi"]),
    ("over_budget", COSTLY, ["run", "--max-turns", "2", "hi"]),
    ("limited", "limit", ["run", "hi"]),
    ("stuck", "silent=30", ["run", "--idle-timeout", "1s", "hi"]),
    ("not_started", "bad-flag", ["run", "hi"]),
    ("not_started", "", ["exec", "--", "no-such-program"]),
    ("timed_out", "hang-in-tool", ["run", "--timeout", "1s", "hi"]),
]
PIPED = [
    ("success", "claude", "seed-samples"),
    ("failed", "amp", "failed"),
    ("incomplete", "claude", "cut-in-middle"),
    ("denied", "claude", "s05_permission_denied-2.1.197"),
    ("over_budget", "amp", "max-turns"),
    ("limited", "qwen", "api_quota-0.24.4"),
]
USAGE = [["run"], ["run", "--no-such-option", "hi"], ["run", "--agent", "no-such-agent", "hi"]]
USAGE += [["show", "no-such-run"], ["no-such-command"], ["decode", "no-such-file"]]
LOOPS = [
    (0, "say=DONE", ["--until", "DONE"]),
    (5, "say=Later.", ["--until", "DONE", "--max-iterations", "1"]),
    (6, "limit", ["--until", "DONE", "--on-limit", "stop"]),
    (8, "say=DONE", ["--until", "DONE", "--check", "false", "--max-iterations", "1"]),
    (9, "bad-flag", ["--until", "DONE"]),
]


def codes(calls: list[dict[str, Any]], desk: Desk) -> list[int]:
    """Make calls of `rook` and return their exit codes."""
    whole = [{"stdin": os.devnull, **each} for each in calls]
    return [ended["exit_code"] for ended in play(whole, desk.env, desk.project)]


def test_a_run_exits_with_the_code_of_its_status(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    calls = [{"words": words, "env": {"ROOK_SCRIPT": script}} for _, script, words in RUNS]
    ended = codes(calls, desk)
    assert ended == [EXIT_CODES[status] for status, _, _ in RUNS]
    kept = [json.loads(path.read_bytes()) for path in desk.home.glob("runs/*/verdict.json")]
    assert len(kept) == len(RUNS)
    assert {verdict["status"]: verdict["exit_code"] for verdict in kept} == EXIT_CODES


def test_an_interrupted_run_exits_with_130(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert interrupt(desk) == INTERRUPTED
    [verdict] = [json.loads(path.read_bytes()) for path in desk.home.glob("runs/*/verdict.json")]
    assert (verdict["status"], verdict["exit_code"]) == ("interrupted", INTERRUPTED)


def test_a_pipe_exits_with_the_code_of_the_agent_s_status(tmp_path: Path) -> None:
    calls = [{"words": [], "stdin": str(cases(agent)[case])} for _, agent, case in PIPED]
    assert codes(calls, Desk(tmp_path)) == [EXIT_CODES[status] for status, _, _ in PIPED]


def test_wrong_usage_exits_with_2(tmp_path: Path) -> None:
    ended = codes([{"words": words} for words in USAGE], Desk(tmp_path))
    assert ended == [WRONG_USAGE] * len(USAGE)


def test_a_loop_exits_with_the_code_of_its_end(tmp_path: Path) -> None:
    calls = [
        {"words": ["loop", "hi", *words], "env": {"ROOK_SCRIPT": script}}
        for _, script, words in LOOPS
    ]
    assert codes(calls, Desk(tmp_path)) == [code for code, _, _ in LOOPS]


@pytest.mark.parametrize(("script", "code"), [("say=Done.", 0), ("error-result", 1)])
def test_a_batch_exits_with_1_if_a_task_failed(script: str, code: int, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert desk.rook("batch", "-", script=script, stdin=b'{"prompt": "hi"}\n').returncode == code


def test_a_batch_that_its_budget_ended_exits_with_5(tmp_path: Path) -> None:
    tasks = b'{"prompt": "a"}\n{"prompt": "b"}\n'
    words = ("batch", "-", "--jobs", "1", "--max-cost", "0.001")
    assert Desk(tmp_path).rook(*words, script="say=Done.", stdin=tasks).returncode == 5


def test_the_demo_exits_with_0(tmp_path: Path) -> None:
    assert codes([{"words": ["demo", "--speed", "1000"]}], Desk(tmp_path)) == [0]
