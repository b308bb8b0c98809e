"""The real Claude Code, run by `rook run` against a scripted model on loopback: no key, no network.

`make test` installs it into .cache and tells where in ROOK_TEST_CLAUDE; without it these are
skipped.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nightrook.testing import Answer, Failure, Reply, ScriptedMessagesApi, mcp_command
from tests.conformance.bench import ROOK, Bench
from tests.conformance.scenarios import scenario

CLAUDE = os.environ.get("ROOK_TEST_CLAUDE", "")
pytestmark = pytest.mark.skipif(not CLAUDE, reason="ROOK_TEST_CLAUDE is not set")
conformance = pytest.mark.conformance  # the rest of the matrix; `make test` runs the first ones

FREE = ("run", "--permission", "all")


def prepare(home: Path, url: str) -> Mapping[str, str]:
    """Tell Claude Code where its model is."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "made-up",
        "DISABLE_TELEMETRY": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
    }


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, CLAUDE, ScriptedMessagesApi, prepare)


@scenario("text")
def test_text(bench: Bench) -> None:
    done = bench.rook([Reply(text="Hello there.")], "run", "Say hello")
    assert done.code == 0, done.err
    assert done.lines[0] == '"Hello there."'
    assert done.lines[1].startswith("Complete (cost: $0.")


@scenario("shell failing")
def test_tools_work_and_fail(bench: Bench) -> None:
    script = [
        Reply(tools=[("Write", {"file_path": str(bench.project / "a.txt"), "content": "one\n"})]),
        Reply(tools=[("Bash", {"command": "cat a.txt; exit 3", "description": "look"})]),
        Reply(text="Done."),
    ]
    done = bench.rook(script, "run", "--permission", "all", "Work")
    assert done.code == 0, done.err
    assert done.lines[:5] == [
        "Write: a.txt",
        "  +1 −0",
        "Bash: cat a.txt; exit 3",
        "ERROR: exit 3: one",
        '"Done."',
    ]


@scenario("denied")
def test_a_denial_names_the_rule_and_the_rule_lets_it_pass(bench: Bench) -> None:
    target = bench.project / "w.txt"
    script = [
        Reply(tools=[("Write", {"file_path": str(target), "content": "x"})]),
        Reply(text="I could not."),
    ]
    done = bench.rook(script, "run", "Write it")
    rule = f"Edit(/{target})"
    assert done.code == 4, done.err
    assert done.lines[1] == f"DENIED: Write: w.txt (allow it: '{rule}')"
    done = bench.rook(script, "run", "--allow", rule, "Write it")
    assert done.code == 0, done.err
    assert target.read_text() == "x"


@conformance
def test_each_rule_is_a_rule_and_never_an_option(bench: Bench) -> None:
    target = bench.project / "w.txt"
    script = [
        Reply(tools=[("Write", {"file_path": str(target), "content": "x"})]),
        Reply(tools=[("Bash", {"command": "touch b.txt", "description": "d"})]),
        Reply(text="Done."),
    ]
    rules = ("--allow", f"Edit(/{target})", "--allow", "Bash(touch:*)")
    done = bench.rook(script, "run", "--model=made-up", *rules, "Write it")
    assert done.code == 0, done.err
    assert (target.exists(), (bench.project / "b.txt").exists()) == (True, True)
    (bench.project / "b.txt").unlink()
    done = bench.rook(script, "run", "--allow", "Read --dangerously-skip-permissions", "Write it")
    assert done.code == 4, done.err
    assert not (bench.project / "b.txt").exists()


@scenario("API error for good")
def test_an_api_failure_is_a_failure(bench: Bench) -> None:
    done = bench.rook(lambda _: Failure(400, message="scripted"), "run", "Go")
    assert done.code == 1
    assert "scripted" in done.lines[-1]
    assert done.lines[-1].startswith("FAILED: ")
    assert "[rook] failed" in done.err


@scenario("Ctrl-C in mid tool")
def test_ctrl_c_in_mid_tool(bench: Bench) -> None:
    command = "echo begun > begun; python3 -c 'import time; time.sleep(60)'"
    script = [Reply(tools=[("Bash", {"command": command, "description": "wait"})])] * 3
    done = bench.interrupt(script, "run", "--permission", "all", "Go", at="Bash")
    assert done.code == 130, done.err
    assert "[rook] interrupted" in done.err


@scenario("budget stop")
def test_a_budget_stops_it(bench: Bench) -> None:
    def spend(request: dict[str, Any]) -> Answer:
        usage = {"input_tokens": 100_000, "output_tokens": 5_000}
        return Reply(tools=[("Bash", {"command": "true", "description": "t"})], usage=usage)

    done = bench.rook(spend, "run", "--permission", "all", "--max-cost", "0.5", "Spend")
    assert done.code == 5, done.err
    assert "[rook] over budget" in done.err


@scenario("resume")
def test_a_resumed_run_tells_its_own_share_of_the_cost(bench: Bench) -> None:
    bench.rook([Reply(text="One.")], "run", "First")
    script = [Reply(text="Two.")]
    done = bench.rook(script, "run", "--json", "--resume", bench.last_run(), "Second")
    assert done.code == 0, done.err
    assert done.told["text"] == "Two."
    assert 0 < done.told["spent_usd"] < done.told["cost_usd"]


def test_a_limit_of_tokens_counts_what_a_resumed_run_uses_itself(bench: Bench) -> None:
    used = {"input_tokens": 5000, "output_tokens": 5}
    bench.rook([Reply(text="One.", usage=used)], "run", "First")
    again = ("run", "--resume", bench.last_run(), "--max-tokens", "8000", "--json", "Second")
    done = bench.rook([Reply(text="Two.", usage=used)], *again)
    assert (done.code, done.told["sentence"]) == (0, "done"), done.err
    assert (done.told["tokens"]["input"], done.told["tokens"]["output"]) == (5000, 5)


def test_a_cost_that_is_a_guess_is_unknown(bench: Bench) -> None:
    done = bench.rook([Reply(text="Hello.")], "run", "--model", "made-up", "--json", "Say hello")
    assert done.code == 0, done.err
    assert (done.told["cost_usd"], done.told["cost_source"]) == (None, "unknown")


def test_a_run_that_is_killed_counts_what_its_messages_wrote(bench: Bench) -> None:
    pid = bench.project / "pid"
    script = [
        Reply(
            text="word " * 200,
            tools=[("Bash", {"command": "echo $PPID > pid; kill -9 $PPID", "description": "end"})],
        )
    ]
    done = bench.rook(script, "run", "--permission", "all", "--json", "Work")
    assert done.code == 3, done.err
    assert pid.exists()
    assert done.told["tokens"]["output"] >= 250


def test_background_work_is_waited_for(bench: Bench) -> None:
    background = {"command": "sleep 1; echo end", "description": "bg", "run_in_background": True}

    def answer(request: dict[str, Any]) -> Answer:
        said = json.dumps(request["messages"])
        if "task-notification" in said or "task_notification" in said:
            return Reply(text="It has ended.")
        return Reply(text="Launched.") if "bg" in said and "tool_result" in said else call

    call = Reply(tools=[("Bash", background)])
    done = bench.rook(answer, "run", "--permission", "all", "Go")
    assert done.code == 0, done.err
    assert sum("Complete" in line for line in done.lines) == 2


def test_a_pipe_shows_what_a_run_shows_and_passes_it_on(bench: Bench) -> None:
    script = [
        Reply(tools=[("Bash", {"command": "echo one; exit 3", "description": "look"})]),
        Reply(text="Done."),
    ]
    claude = "claude -p Work --permission-mode bypassPermissions"
    pipeline = f"{claude} --output-format stream-json --verbose | {ROOK} --tee > passed"
    with ScriptedMessagesApi(script) as api:
        done = subprocess.run(
            ["sh", "-c", pipeline],
            cwd=bench.project,
            env=bench.environment(api.url),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    told = bench.last_row()
    shown = bench.rook([], "show", told["name"]).out
    lines = [line for line in done.stderr.split("\n") if line.startswith("[claude]")]
    assert done.returncode == 0, done.stderr
    assert lines[:3] == [
        "[claude] Bash: echo one; exit 3",
        "[claude] ERROR: exit 3: one",
        '[claude] "Done."',
    ]
    assert lines[3].startswith("[claude] Complete (cost: $0.")
    assert shown == "".join(f"{line}\n" for line in lines)
    assert (told["agent"], told["status"], told["what"]) == ("claude", "success", "(piped)")
    (log,) = (bench.home / "nightrook" / "runs").glob("*/stdout.raw")
    assert (bench.project / "passed").read_bytes() == log.read_bytes()


def shell(command: str) -> tuple[str, dict[str, Any]]:
    return "Bash", {"command": command, "description": "run it"}


@scenario("reasoning")
@conformance
def test_reasoning(bench: Bench) -> None:
    script = [Reply(thinking="Weighing it.", text="Done.")]
    done = bench.rook(script, "run", "--verbose", "Think about it")
    assert done.code == 0, done.err
    assert done.lines[:2] == ["(thinks) Weighing it.", '"Done."']


@scenario("read")
@conformance
def test_a_file_that_is_read(bench: Bench) -> None:
    file = bench.project / "a.txt"
    file.write_text("one\n")
    script = [Reply(tools=[("Read", {"file_path": str(file)})]), Reply(text="One.")]
    done = bench.rook(script, "run", "--verbose", "Read it")
    assert done.code == 0, done.err
    assert done.lines[0] == "Read: a.txt"
    assert "one" in done.lines[1]


@scenario("shell ok")
@conformance
def test_a_command_that_succeeds(bench: Bench) -> None:
    script = [Reply(tools=[shell("echo one > a.txt; cat a.txt")]), Reply(text="Done.")]
    done = bench.rook(script, *FREE, "--verbose", "Work on it")
    assert done.code == 0, done.err
    assert done.lines[0] == "Bash: echo one > a.txt; cat a.txt"
    assert done.lines[1].startswith("  -> one")


@scenario("edit")
@conformance
def test_an_edit(bench: Bench) -> None:
    file = bench.project / "a.txt"
    file.write_text("one\n")
    change = {"file_path": str(file), "old_string": "one", "new_string": "two"}
    script = [
        Reply(tools=[("Read", {"file_path": str(file)})]),
        Reply(tools=[("Edit", change)]),
        Reply(text="Edited."),
    ]
    done = bench.rook(script, "run", "--permission", "edit", "Edit it")
    assert done.code == 0, done.err
    assert done.lines[:2] == ["Read: a.txt", "Edit: a.txt"]
    assert file.read_text() == "two\n"
    assert "1 file +1 −1" in done.err


@scenario("parallel tools")
@conformance
def test_parallel_tools(bench: Bench) -> None:
    script = [Reply(tools=[shell(f"true {n}; echo {n}") for n in (2, 1)]), Reply(text="Ok.")]
    done = bench.rook(script, *FREE, "--json", "Race them")
    assert done.code == 0, done.err
    tools = {"started": 2, "finished": 2, "failed": 0, "denied": 0, "orphaned": 0}
    assert done.told["tools"] == tools


@scenario("MCP tool")
@conformance
def test_mcp_tools(bench: Bench) -> None:
    program, *words = mcp_command()
    servers = {"mcpServers": {"tiny": {"command": program, "args": words}}}
    calls = [("mcp__tiny__echo", {"text": "hi"}), ("mcp__tiny__fail", {"text": "oh"})]
    script = [Reply(tools=calls), Reply(text="Done.")]
    done = bench.rook(script, *FREE, "Call them", "--", "--mcp-config", json.dumps(servers))
    assert done.code == 0, done.err
    assert "mcp__tiny__echo: hi" in done.lines
    assert any(line.startswith("ERROR: ") and "oh" in line for line in done.lines)


@scenario("subagent")
@conformance
def test_a_subagent(bench: Bench) -> None:
    def model(request: dict[str, Any]) -> Answer:
        said = json.dumps(request["messages"])
        if "Delegate it" not in said:
            return Reply(text="The child is done.")
        if "tool_result" in said:
            return Reply(text="The parent is done.")
        task = {"description": "look", "prompt": "A task", "subagent_type": "general-purpose"}
        return Reply(tools=[("Agent", task)])

    done = bench.rook(model, *FREE, "--json", "Delegate it")
    assert done.code == 0, done.err
    assert done.told["text"] == "The parent is done."
    assert done.told["tools"]["started"] == done.told["tools"]["finished"] == 1
    shown = bench.rook([], "show").out
    assert "Agent: look" in shown
    assert "The child is done." in shown


@scenario("retry then success")
@conformance
def test_a_retry_that_succeeds(bench: Bench) -> None:
    script: list[Answer] = [Failure(529), Reply(text="Recovered.")]
    done = bench.rook(script, "run", "--verbose", "Go on")
    assert done.code == 0, done.err
    assert done.lines[0].startswith("RETRY: overloaded (529), attempt 1 of ")
    assert '"Recovered."' in done.lines


@scenario("deadline")
@conformance
def test_a_deadline(bench: Bench) -> None:
    script = [Reply(tools=[shell("tail -f /dev/null")])] * 3
    done = bench.rook(script, *FREE, "--timeout", "15s", "Go on")
    assert done.code == 124, done.err
    assert "[rook] timed out: reached the time limit" in done.err


@scenario("huge output")
@conformance
def test_huge_output(bench: Bench) -> None:
    script = [Reply(tools=[shell("yes 0123456789 | head -c 3000000")]), Reply(text="Ok.")]
    done = bench.rook(script, *FREE, "--json", "Flood it")
    assert done.code == 0, done.err
    assert (done.told["text"], done.told["unreadable"]) == ("Ok.", 0)


@scenario("unicode")
@conformance
def test_unicode(bench: Bench) -> None:
    said = "emoji 👩‍👧 日本語 \u2028 \u0085 \x1b[31mred end"
    script = [Reply(tools=[shell("printf 'caf\\303\\251 \\033[31m\\n'")]), Reply(text=said)]
    done = bench.rook(script, *FREE, "--json", "Grüße 日本")
    assert done.code == 0, done.err
    assert (done.told["text"], done.told["unreadable"]) == (said, 0)
    assert "\x1b" not in bench.rook([], "show").out
