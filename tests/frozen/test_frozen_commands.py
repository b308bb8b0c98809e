"""What scripts rely on beside names and options: variables, settings, lines, keys of JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.frozen.desk import Desk

SETTINGS = {
    "agent": "codex",
    "model": "some-model",
    "permission": "edit",
    "ask_timeout": "1m",
    "allow": ["Bash"],
    "max_cost": 2,
    "max_tokens": 1000,
    "max_turns": 3,
    "timeout": "30m",
    "idle_timeout": "5m",
    "stream": False,
    "verbose": True,
    "quiet": True,
    "no_text": True,
}
RESULT = {
    "file",
    "agent",
    "version",
    "model",
    "ok",
    "status",
    "text",
    "turns",
    "cost_usd",
    "spent_usd",
    "cost_source",
    "tokens",
    "tools",
    "lines",
    "unknown",
    "unreadable",
    "truncated",
    "run",
    "session",
    "steps",
    "exit_code",
    "sentence",
    "duration_s",
    "resets_in_s",
}
LOOP_EVENTS = {
    *("loop_started", "iteration_started", "agent_thinking", "tool_started", "tool_completed"),
    *("session_stats", "iteration_finished", "check_started", "check_finished", "decision"),
    "loop_finished",
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def settings(desk: Desk) -> dict[str, Any]:
    """Return the settings that apply, by name."""
    listed = json.loads(desk.rook("config", "--json").stdout)["settings"]
    return {setting["name"]: setting for setting in listed}


def test_every_setting_can_stand_in_the_project_s_file(desk: Desk) -> None:
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in SETTINGS.items()]
    (desk.project / "rook.toml").write_text("".join(lines))
    found = settings(desk)
    assert {name: found[name]["value"] for name in SETTINGS} == SETTINGS


def test_every_setting_has_a_variable(desk: Desk) -> None:
    for name, value in SETTINGS.items():
        word = value[0] if isinstance(value, list) else str(value).lower()
        desk.env[f"ROOK_{name.upper()}"] = word
    found = settings(desk)
    assert {name: found[name]["source"] for name in SETTINGS} == {
        name: f"ROOK_{name.upper()}" for name in SETTINGS
    }


def test_a_profile_adds_to_the_settings(desk: Desk) -> None:
    (desk.project / "rook.toml").write_text("[profile.ci]\nmax_cost = 3\n")
    desk.env["ROOK_PROFILE"] = "ci"
    assert settings(desk)["max_cost"]["value"] == 3


def test_the_agent_finds_its_run_folder_in_nightrook_run_dir(desk: Desk) -> None:
    name = desk.made(
        "runs", lambda desk: desk.rook("run", "hi", script="say=Done. print-env=environment.json")
    )
    environment = json.loads((desk.project / "environment.json").read_bytes())
    assert environment["ROOK_RUN_DIR"] == str(desk.home / "runs" / name)


def test_the_answer_of_the_agent_itself_is_kept(desk: Desk) -> None:
    desk.env["ANSWER"] = "by the agent"
    (desk.project.parent / "bin" / "claude").write_text(
        '#!/bin/sh\nprintf "$ANSWER" > "$ROOK_RUN_DIR/output.md"\nexec "${0%/*}/scripted" "$@"\n'
    )
    name = desk.made("runs", lambda desk: desk.rook("run", "hi", script="say=Done."))
    assert (desk.home / "runs" / name / "output.md").read_text() == "by the agent"


def test_a_run_prints_its_command_its_steps_and_its_cost(desk: Desk) -> None:
    shown = desk.rook("run", "Fix the tests", "--verbose", script="say=Done.")
    assert shown.stdout.decode().splitlines() == [
        "[rook] Agent command: claude -p --output-format stream-json --verbose 'Fix the tests'",
        '[claude] "I\'ll have a look."',
        "[claude] Read: README.md",
        "[claude]   -> 1 A project. 2",
        '[claude] "Done."',
        "[claude] Complete (cost: $0.0048)",
    ]
    assert "[rook] stream stats: 10 events, 0 errors" in shown.stderr.decode()


def test_without_a_stream_the_agent_s_own_text_is_shown(desk: Desk) -> None:
    shown = desk.rook("exec", "--", "sh", "-c", "echo out; echo err >&2")
    assert b"out\n" in shown.stdout
    assert b"err\n" in shown.stderr


@pytest.mark.parametrize("words", [["run", "hi"], ["exec", "--", "claude", "-p", "hi"]])
def test_json_is_one_object_at_the_end(words: list[str], desk: Desk) -> None:
    first, *rest = words
    result = json.loads(desk.rook(first, "--json", *rest, script="say=Done.").stdout)
    assert result.keys() >= RESULT
    assert (result["status"], result["exit_code"]) == ("success", 0)


def test_quiet_prints_the_answer_alone(desk: Desk) -> None:
    assert desk.rook("run", "-q", "hi", script="say=Done.").stdout == b"Done.\n"


def test_a_loop_reports_its_steps_as_events(desk: Desk) -> None:
    words = ("loop", "hi", "--signal", "PHASE_COMPLETE", "--check", "true", "--format", "jsonl")
    lines = desk.rook(*words, script="say=PHASE_COMPLETE").stdout.splitlines()
    assert {json.loads(line)["type"] for line in lines} >= LOOP_EVENTS
