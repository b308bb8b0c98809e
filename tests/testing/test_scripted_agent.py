"""The scripted agent: what it plays, at what pace, and what it hears. All real processes."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from nightrook.model.events import (
    PermissionRequested,
    StreamClosed,
    ToolFinished,
    TurnFinished,
)
from nightrook.testing import AGENT, DEMO, SESSIONS, agent_command, install_agent
from tests.rules import each
from tests.testing.children import (
    CASES,
    REAL_FLAGS,
    SHORT,
    events,
    folded,
    out,
    play,
    read_to,
    started,
    tell,
    types,
)

# What it plays


@pytest.mark.parametrize(
    "case", ["s02_read_edit_bash-2.1.325", "s22_unicode-2.1.197", "cut-last-line", "cut-in-middle"]
)
def test_a_recorded_case_is_played_byte_for_byte(case: str) -> None:
    wire = CASES / case / "wire.jsonl"
    assert play("--script-play", str(wire)).stdout == wire.read_bytes()


def test_the_demo_is_played_without_flags_and_its_speed_can_be_set() -> None:
    begun = time.monotonic()
    done = play("--script-speed", "200")
    assert (done.stdout, done.returncode) == (DEMO.read_bytes(), 0)
    assert 60 / 200 < time.monotonic() - begun < 60


def test_a_fault_alone_plays_the_short_session() -> None:
    done = play("--script-exit-code", "7")
    assert (types(done.stdout), done.returncode, done.stderr) == (SHORT, 7, b"")
    state = folded(done.stdout)
    assert (state.unreadable, dict(state.unknown), len(state.results)) == (0, {}, 1)


def test_the_short_session_takes_over_folder_session_and_answer(tmp_path: Path) -> None:
    command = agent_command("--script-say", 'He said "no"', "--resume", "abc", "-p", "Go")
    written = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, check=True).stdout
    state = folded(written)
    assert (state.cwd, state.session) == (str(tmp_path), "abc")
    assert (state.texts[-1], state.results[0].text) == ('He said "no"', 'He said "no"')


def test_the_flags_of_the_real_one_are_taken_and_a_prompt_is_never_a_flag() -> None:
    done = play("--script-play=short", *REAL_FLAGS, "--", "--script-no-result")
    assert (types(done.stdout), done.returncode) == (SHORT, 0)
    assert folded(done.stdout).session == "0-1-2"


def test_it_reports_its_version_as_the_real_one() -> None:
    assert play("--version").stdout == b"2.1.325 (Claude Code)\n"


@pytest.mark.parametrize(
    "script",
    [
        "no-result exit-code=3",
        "--script-no-result --script-exit-code=3",
        '{"no-result": true, "exit-code": 3, "noise": false}',
    ],
)
def test_a_variable_may_hold_the_flags(script: str) -> None:
    done = play("-p", "Go", ROOK_SCRIPT=script)
    assert (types(done.stdout), done.returncode) == (SHORT[:-1], 3)


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--script-nonsense"], b"unknown flag --script-nonsense"),
        (["--script-play", "missing"], b"no file or session missing"),
        (
            ["--script-budget", "--script-limit"],
            b"only one session can be played, not budget and limit",
        ),
    ],
)
def test_unknown_flags_and_files_are_errors(flags: list[str], complaint: bytes) -> None:
    done = play(*flags)
    assert (done.returncode, done.stdout) == (2, b"")
    assert complaint in done.stderr


@each("path", sorted(SESSIONS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_session_of_its_own_is_recorded_and_private(path: Path) -> None:
    written = path.read_bytes()
    assert not re.search(rb"/work/|/root/|/tmp/tmp|sk-ant-", written)
    if path.stem != "strange-text":
        state = folded(written)
        assert (state.unreadable, dict(state.unknown), state.open_tools) == (0, {}, {})
        assert len(state.results) == (2 if path.stem in ("background-task", "two-results") else 1)


def test_it_is_one_file_of_the_standard_library(tmp_path: Path) -> None:
    copy = tmp_path / "agent.py"
    copy.write_bytes(AGENT.read_bytes())
    command = [sys.executable, "-I", "-S", str(copy), f"--script-play={DEMO}", "--script-noise"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    assert done.stdout.count(b"\n") > 3 * DEMO.read_bytes().count(b"\n")


def test_it_can_be_installed_under_the_name_of_the_real_one(tmp_path: Path) -> None:
    program = install_agent(tmp_path, "--script-say", "It's me")
    path = f"{program.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["claude", "-p", "Go"], env={"PATH": path}, stdout=subprocess.PIPE, check=True
    )
    assert folded(done.stdout).texts[-1] == "It's me"


# Its pace


def test_delays_beside_a_file_are_its_pace(tmp_path: Path) -> None:
    wire = tmp_path / "wire.jsonl"
    wire.write_bytes(b'{"a":1}\n{"a":2}\n{"a":3}')
    (tmp_path / "wire.delays").write_text("0.1\n0.1\n")
    begun = time.monotonic()
    done = play("--script-play", str(wire), "--script-speed", "0.5")
    assert time.monotonic() - begun > 0.4
    assert done.stdout == wire.read_bytes()


def test_without_delays_the_timestamps_of_lines_set_the_pace(tmp_path: Path) -> None:
    wire = tmp_path / "wire.jsonl"
    at = '{"timestamp":"2026-11-15T18:08:1%d.290Z"}\n'
    wire.write_text((at % 3) + "not json\n" + (at % 5) + (at % 4))
    begun = time.monotonic()
    play("--script-play", str(wire), "--script-speed", "5")
    assert time.monotonic() - begun > 0.4


def test_a_file_is_played_at_once_unless_a_speed_is_asked_for(tmp_path: Path) -> None:
    wire = tmp_path / "wire.jsonl"
    wire.write_bytes(b'{"a":1}\n')
    wire.with_suffix(".delays").write_text("60\n")
    assert play("--script-play", str(wire)).stdout == wire.read_bytes()


def test_a_delay_comes_before_every_line() -> None:
    begun = time.monotonic()
    play("--script-play=short", "--script-delay=0.05")
    assert time.monotonic() - begun > 6 * 0.05


def test_it_can_write_in_pieces() -> None:
    done = play("--script-strange-text", "--script-chunks=3")
    assert folded(done.stdout).results[0].ok


# What it hears


def answer(request: dict[str, Any], **response: Any) -> dict[str, Any]:
    told = {"subtype": "success", "request_id": request["request_id"], "response": response}
    return {"type": "control_response", "response": told}


def asked(*flags: str, **response: Any) -> tuple[list[Any], int]:
    """Answer the question whether a command may run; give what happened then, and the end."""
    with started("--script-ask-permission=make clean", *flags) as child:
        request = read_to(child, "control_request")
        (question,) = events(json.dumps(request).encode() + b"\n", PermissionRequested)
        assert question.id == request["request_id"]
        assert json.loads(bytes(question.input)) == request["request"]["input"]
        tell(child, {"type": "noted"}, answer(request, **response))
        rest = out(child).read()
        return events(rest, ToolFinished, TurnFinished), child.wait()


def test_a_permission_that_is_given_lets_the_command_run() -> None:
    (ran, _, ended), code = asked(behavior="allow", updatedInput={"command": "make dist"})
    assert (ran.status, ran.output, ended.denials, code) == ("ok", "ran: make dist", None, 0)


def test_a_permission_that_is_refused_is_a_denial() -> None:
    (ran, _, ended), code = asked(behavior="deny", message="not today")
    assert (ran.status, ran.error, code) == ("denied", "not today", 0)
    assert [denial.name for denial in ended.denials] == ["Bash"]


def test_a_refusal_may_interrupt() -> None:
    (_, ended), code = asked("--script-sigint-result", behavior="deny", interrupt=True)
    assert (ended.ok, ended.reason, code) == (False, "interrupted", 0)


def test_a_control_request_interrupts_it_while_it_asks() -> None:
    with started("--script-ask-permission") as child:
        read_to(child, "control_request")
        request = {"subtype": "interrupt"}
        tell(child, {"type": "control_request", "request_id": "i", "request": request})
        assert read_to(child, "control_response")["response"]["request_id"] == "i"
        (ended,) = events(out(child).read(), TurnFinished)
        assert (ended.ok, ended.reason, child.wait()) == (False, "interrupted", 0)


def test_a_permission_that_nobody_can_give_any_more_is_an_error() -> None:
    finished = events(play("--script-ask-permission").stdout, ToolFinished)
    assert finished[0].error == "Tool permission stream closed before response received"


def test_each_prompt_on_stdin_is_a_turn() -> None:
    prompt = {"type": "user", "message": {"role": "user", "content": "Go"}}
    with started(*REAL_FLAGS, "--script-play=short") as child:
        tell(child, {"type": "control_request", "request_id": "1", "request": {}}, prompt)
        assert read_to(child, "control_response")["response"]["request_id"] == "1"
        assert read_to(child, "result")["result"] == "Done."
        tell(child, prompt)
        assert read_to(child, "result")["result"] == "Done again."
        assert child.stdin is not None
        child.stdin.close()
        assert (child.wait(), out(child).read()) == (0, b"")


def test_a_line_on_stdin_that_is_not_json_ends_it() -> None:
    done = play("--script-play=short", "--input-format=stream-json", stdin=b"hello\n")
    assert (done.stdout, done.returncode) == (b"", 1)
    assert b"Error parsing streaming input line" in done.stderr


def test_every_stream_closes(tmp_path: Path) -> None:
    for flags in (["--script-noise", "--script-unknown-types", "--script-cut-last-line=9"],):
        (closed,) = events(play(*flags).stdout, StreamClosed)
        assert (closed.truncated, closed.results) == (True, 0)
