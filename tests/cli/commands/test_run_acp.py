"""`rook run` with agents that speak ACP: real processes, with each quirk."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.cli.desk import Desk
from tests.rules import each
from tests.terminals import Terminal
from tests.warm import ROOK

import nightrook
from nightrook.model.events import FileChanged, Text, ToolFinished, ToolStarted, Unknown, Unreadable
from nightrook.store.run_folder import RunFolder
from nightrook.testing import acp_agent_command, install_acp_agent

Ran = subprocess.CompletedProcess[str]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def run(desk: Desk, *flags: str, options: tuple[str, ...] = ()) -> Ran:
    """Run the scripted agent with these flags, by a command that the user types."""
    words = [f"--script-{flag}" for flag in flags]
    return desk.rook("run", "--agent", "acp", *options, "Fix it", "--", *acp_agent_command(*words))


def folder(desk: Desk, number: int = -1) -> RunFolder:
    """The folder of a run: the newest, unless another one is meant."""
    runs = desk.home / "runs-home" / "runs"
    found = sorted(runs.iterdir(), key=lambda path: (path / "run.json").stat().st_mtime_ns)
    return RunFolder(found[number])


def events(desk: Desk, kind: Any) -> list[Any]:
    return [r.event for r in nightrook.decode(folder(desk).path) if isinstance(r.event, kind)]


def sent(desk: Desk) -> list[dict[str, Any]]:
    """What rook wrote to the agent."""
    lines = (folder(desk).path / "stdin.raw").read_text().splitlines()
    return [json.loads(line) for line in lines]


def told(desk: Desk, *flags: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(desk, *flags, options=("--json",)).stdout)
    return found


def test_any_agent_is_run_by_its_command(desk: Desk) -> None:
    done = run(desk)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.split("\n") if line.startswith("[acp]")]
    assert lines[:3] == ['[acp] "I will read the file."', "[acp] read: hello.txt", '[acp] "Done."']
    assert lines[3] == "[acp] Complete (cost: $?)"
    assert (folder(desk).path / "output.md").read_text() == "Done."


def test_without_a_command_there_is_a_sentence(desk: Desk) -> None:
    done = desk.rook("run", "--agent", "acp", "Fix it")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "[rook] acp needs the command that starts the agent: add it after --\n"


def test_a_known_agent_is_run_by_its_name(desk: Desk) -> None:
    install_acp_agent(desk.programs, "--script-name=@mistralai/mistral-vibe", name="vibe-acp")
    done = desk.rook("run", "--agent", "vibe", "Fix it")
    assert done.returncode == 0, done.stderr
    assert "[rook] Agent command: vibe-acp\n" in done.stdout
    assert '[vibe] "Done."' in done.stdout


def test_an_agent_that_is_not_installed_names_the_command_that_installs_it(desk: Desk) -> None:
    done = desk.rook("run", "--agent", "vibe", "Fix it")
    assert done.returncode == 9
    assert "program 'vibe-acp' was not found" in done.stderr
    assert "mistral-vibe" in done.stderr
    done = desk.rook("run", "--via", "acp", "Fix it")
    assert done.returncode == 9
    assert "@agentclientprotocol/claude-agent-acp" in done.stderr


# The user's own agents


def define(desk: Desk, *, project: bool = False, speaks: str = "acp") -> None:
    command = json.dumps(acp_agent_command("--script-say=Mine."))
    text = f'[agents.mine]\nspeaks = "{speaks}"\ncommand = {command}\n'
    (desk.project_file if project else desk.user_file).write_text(text)


def test_an_agent_of_the_users_settings_can_be_run_resumed_and_listed(desk: Desk) -> None:
    define(desk)
    assert "Mine." in desk.rook("run", "--agent", "mine", "Fix it").stdout
    again = desk.rook("run", "--resume", "last", "Again")
    assert (again.returncode, "Mine." in again.stdout) == (0, True)
    (listed,) = desk.rook("agents", "--json", "mine").stdout.splitlines()
    assert json.loads(listed)["speaks"] == "acp"


def test_the_command_of_a_project_needs_trust(desk: Desk) -> None:
    define(desk, project=True)
    refused = desk.rook("run", "--agent", "mine", "Fix it")
    assert refused.returncode == 2
    assert "run `rook trust`" in refused.stderr
    desk.trust()
    assert "Mine." in desk.rook("run", "--agent", "mine", "Fix it").stdout


def test_a_command_for_another_program_cannot_be_run_by_it(desk: Desk) -> None:
    define(desk, speaks="claude")
    done = desk.rook("run", "--agent", "mine", "--via", "acp", "Fix it")
    assert done.returncode == 2
    assert "--via acp runs claude-agent-acp: leave out --via, or define an agent" in done.stderr


# Ways


def test_an_agent_with_its_own_stream_can_be_run_over_acp(desk: Desk) -> None:
    info = "--script-name=@agentclientprotocol/claude-agent-acp"
    install_acp_agent(desk.programs, info, name="claude-agent-acp")
    done = desk.rook("run", "--via", "acp", "Fix it")
    assert done.returncode == 0, done.stderr
    assert "[rook] Agent command: claude-agent-acp\n" in done.stdout
    again = desk.rook("run", "--resume", "last", "Again")
    assert "[rook] Agent command: claude-agent-acp\n" in again.stdout
    native = desk.rook("run", "--agent", "claude", "Fix it")
    assert "[rook] Agent command: claude -p" in native.stdout


def test_an_agent_that_cannot_ask_itself_is_asked_over_acp(desk: Desk) -> None:
    install_acp_agent(desk.programs, "--script-name=gemini-cli", name="gemini")
    done = desk.rook("run", "--agent", "gemini", "--permission", "ask", "Fix it")
    assert done.returncode == 0, done.stderr
    line = "[rook] gemini can ask only with --via acp, which is used here\n"
    assert line in done.stderr
    assert "[rook] Agent command: gemini --acp\n" in done.stdout
    named = desk.rook("run", "--agent", "gemini", "--via", "acp", "--permission", "ask", "Fix it")
    assert (named.returncode, line in named.stderr) == (0, False)
    quiet = desk.rook("run", "--agent", "gemini", "--permission", "ask", "--quiet", "Fix it")
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_a_way_that_an_agent_lacks_is_refused(desk: Desk) -> None:
    done = desk.rook("run", "--agent", "gemini", "--via", "exec", "Fix it")
    assert (done.returncode, "has no --via 'exec'" in done.stderr) == (2, True)


# What it may do


@each(("answer", "code", "ran"), [("y", 0, True), ("n", 4, False), ("a", 0, True)])
def test_a_person_is_asked_on_the_terminal(
    answer: str, code: int, ran: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    agent = acp_agent_command("--script-ask=make clean", "--script-ask-starts-call")
    command: list[str | Path] = [ROOK, "run", "--agent", "acp", "Fix it", "--", *agent]
    with Terminal(command, desk.environment(COLUMNS="100"), cwd=desk.project) as terminal:
        terminal.until("make clean")
        terminal.until("[y] once")
        terminal.type(answer)
        assert terminal.finish() == code, terminal.text
    (finished,) = (e for e in events(desk, ToolFinished) if e.id == "call-script-2")
    assert finished.status == ("ok" if ran else "denied")


def test_what_nobody_can_decide_is_denied(desk: Desk) -> None:
    for flags in (("ask",), ("ask", "end-on-refusal"), ("ask", "ask-starts-call")):
        done = run(desk, *flags, options=("--permission", "ask"))
        assert done.returncode == 4, done.stderr
        assert "1 tool call was not permitted" in done.stderr


def test_with_all_permissions_nothing_is_asked(desk: Desk) -> None:
    done = run(desk, "ask=make", options=("--permission", "all"))
    assert done.returncode == 0, done.stderr
    assert [e.status for e in events(desk, ToolFinished)] == ["ok", "ok"]


def test_options_are_chosen_by_kind_and_both_questions_are_answered(desk: Desk) -> None:
    done = run(desk, "ask", "ask-twice", "same-kinds", options=("--permission", "all"))
    assert done.returncode == 0, done.stderr
    answers = [m["result"]["outcome"]["optionId"] for m in sent(desk) if "result" in m]
    assert answers == ["option-0", "option-0"]
    done = run(desk, "ask", "ask-no-options", options=("--permission", "all"))
    assert done.returncode in (0, 4), done.stderr
    assert [m["result"]["outcome"] for m in sent(desk) if "result" in m] == [
        {"outcome": "cancelled"}
    ]


# How it ends


@each(
    ("flags", "code", "words"),
    [
        ((), 0, "success"),
        (("exit-3",), 0, "1 failed"),
        (("failed-call",), 0, "1 failed"),
        (("open-call",), 3, "incomplete"),
        (("error-text", "name=Copilot"), 1, "Authentication failed"),
        (("fail=session/prompt:-31002",), 1, "Invalid API key (fake)"),
        (("fail=session/prompt:-32603",), 1, "Internal error"),
        (("fail=session/prompt:-32000",), 9, "run `scripted login`"),
        (("fail=session/new:-32000",), 9, "run `scripted login`"),
        (("fail=initialize:-32603",), 9, "Internal error"),
        (("protocol=2",), 9, "speaks version 2 of ACP, rook speaks version 1"),
        (("protocol=0",), 9, "speaks version 0 of ACP, rook speaks version 1"),
        (("stop-reason=refusal",), 1, "failed"),
        (("stop-reason=max_turn_requests",), 5, "over budget"),
        (("die",), 3, "was killed by SIGKILL, in the middle of execute: make"),
        (("exit-code=3",), 0, "success"),
    ],
)
def test_the_verdict_and_the_exit_code(
    flags: tuple[str, ...],
    code: int,
    words: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    done = run(desk, *flags)
    assert (done.returncode, words in done.stderr) == (code, True), done.stderr


@each("flags", [("hang",), ("hang", "cancel-delay=1"), ("hang", "ignore-cancel"), ("work=60",)])
def test_a_stop_is_a_cancel_and_then_a_signal(
    flags: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> None:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    done = run(desk, *flags, options=("--timeout", "1s"))
    assert done.returncode == 124, done.stderr
    assert sent(desk)[-1]["method"] == "session/cancel"
    exit = folder(desk).exit()
    assert exit is not None
    by_signal = exit.stopped_for is not None
    assert by_signal == ("ignore-cancel" in flags)
    assert ("interrupted" in done.stdout) != by_signal


def test_an_agent_that_ignores_everything_is_killed(desk: Desk) -> None:
    flags = ("hang", "ignore-cancel", "ignore-sigterm")
    done = run(desk, *flags, options=("--timeout", "1s"))
    assert done.returncode == 124, done.stderr
    exit = folder(desk).exit()
    assert exit is not None
    assert exit.signal == signal.SIGKILL


@each("method", ["initialize", "session/new"])
def test_an_agent_that_never_starts_to_work_is_stopped_at_once(
    method: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    done = run(desk, f"hang-at={method}", options=("--timeout", "1s"))
    assert done.returncode == 124, done.stderr
    assert not [m for m in sent(desk) if m.get("method") in ("session/prompt", "session/cancel")]


# Sessions


@each(("can", "method"), [("load", "session/load"), ("resume", "session/resume")])
def test_a_resumed_run_reports_only_what_is_new(
    can: str, method: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    assert run(desk, f"resume={can}").returncode == 0
    done = desk.rook("run", "--resume", "last", "Again")
    assert done.returncode == 0, done.stderr
    assert sent(desk)[1]["method"] == method
    assert [e.text for e in events(desk, Text)] == ["I will read the file.", "Done."]
    assert [e.id for e in events(desk, ToolStarted)] == ["call-script-1"]
    assert "The first answer." not in done.stdout


def test_a_replay_that_follows_its_answer_is_none_either(desk: Desk) -> None:
    flags = ("--script-resume=load", "--script-late-replay", "--script-name=gemini-cli")
    install_acp_agent(desk.programs, *flags, name="gemini")
    for permission in ("ask", "agent"):
        first = desk.rook("run", "--agent", "gemini", "--via", "acp", "Fix it")
        assert first.returncode == 0, first.stderr
        done = desk.rook("run", "--resume", "last", "--permission", permission, "Again")
        assert done.returncode == 0, done.stderr
        assert [e.text for e in events(desk, Text)] == ["I will read the file.", "Done."]


def test_an_agent_that_is_known_only_by_its_first_message_is_resumed_as_well(desk: Desk) -> None:
    for late in ((), ("late-replay",)):
        done = run(desk, "name=gemini-cli", "resume=load", *late, options=("--resume", "s9"))
        assert done.returncode == 0, done.stderr
        assert [e.text for e in events(desk, Text)] == ["I will read the file.", "Done."]


def test_what_cannot_be_resumed_is_not_started(desk: Desk) -> None:
    for can, words in (("none", "cannot resume"), ("broken", "No previous sessions found")):
        assert run(desk, f"resume={can}").returncode == 0
        done = desk.rook("run", "--resume", "last", "Again")
        assert done.returncode == 9, done.stderr
        assert words in done.stderr


# Tokens and cost


@each(
    ("name", "usage", "input"),
    [
        ("scripted-acp-agent", "turn", None),
        ("@agentclientprotocol/claude-agent-acp", "turn", 2000),
        ("Copilot", "process", 2000),
        ("@mistralai/mistral-vibe", "session", 2000),
        ("qwen-code", "chunks", 2000),
        ("gemini-cli", "quota", 2000),
        ("Kimi Code CLI", "none", None),
    ],
)
def test_tokens_are_counted_as_the_agent_counts_them_or_unknown(
    name: str, usage: str, input: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    found = told(desk, f"name={name}", f"usage={usage}")["tokens"]
    # Whether the cached tokens are a part of the input differs between agents.
    cached = 0 if found["input"] in (None, 2000) else found["cache_read"]
    assert (found["input"] + cached if found["input"] else None) == input


def test_the_tokens_of_a_session_are_not_counted_twice(desk: Desk) -> None:
    install_acp_agent(
        desk.programs,
        "--script-name=@mistralai/mistral-vibe",
        "--script-usage=session",
        "--script-context=0.5",
        "--script-resume=load",
        name="vibe-acp",
    )
    first = json.loads(desk.rook("run", "--agent", "vibe", "--json", "Fix it").stdout)
    again = json.loads(desk.rook("run", "--resume", "last", "--json", "Again").stdout)
    assert first["tokens"] == again["tokens"]
    assert (first["cost_usd"], again["cost_usd"]) == (1.0, 1.0)


# Bad input: kept, counted, never fatal


@each(
    "flag",
    [
        "noise",
        "batch",
        "string-ids",
        "unknown-updates",
        "unknown-request",
        "other-session",
        "early-result",
        "late",
    ],
)
def test_bad_input_is_kept_and_never_fatal(
    flag: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    asks = () if flag == "early-result" else ("ask",)  # after the end, nothing is answered
    done = run(desk, flag, *asks, options=("--permission", "all"))
    code = 3 if flag == "late" else 0  # the call that it starts after its end never ends
    assert done.returncode == code, done.stderr
    assert "".join(e.text for e in events(desk, Text)).count("Done.") == 1
    starts = [e.id for e in events(desk, ToolStarted)]
    assert sorted(starts) == sorted(e.id for e in events(desk, ToolFinished))
    assert len(starts) == len(set(starts))
    assert "Not for you." not in done.stdout


def test_bad_input_is_counted(desk: Desk) -> None:
    run(desk, "noise")
    assert len(events(desk, Unreadable)) >= 3
    run(desk, "unknown-updates")
    assert {e.name for e in events(desk, Unknown)} >= {"session/update/telepathy"}
    run(desk, "unknown-request")
    refused = [m["error"]["code"] for m in sent(desk) if "error" in m]
    assert refused == [-32601] * 3


def test_a_huge_diff_is_not_fatal(desk: Desk) -> None:
    done = run(desk, "diff=100000000")
    assert done.returncode == 0, done.stderr
    assert [e.status for e in events(desk, ToolFinished)] == ["ok", "ok"]
    assert len(events(desk, FileChanged)) <= 1
    assert os.path.getsize(folder(desk).path / "stdout.raw") > 100_000_000
