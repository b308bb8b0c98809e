"""The real Gemini CLI, run by `rook run` against a scripted model on loopback: no key, no network.

`make conformance` installs it into .cache and tells where in ROOK_TEST_GEMINI.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nightrook.testing import Answer, Cut, Failure, Reply, ScriptedGeminiApi, mcp_command
from tests.conformance.bench import Bench
from tests.conformance.scenarios import scenario

GEMINI = os.environ.get("ROOK_TEST_GEMINI", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not GEMINI, reason="ROOK_TEST_GEMINI is not set"),
]

RUN = ("run", "--agent", "gemini", "--model", "gemini-2.5-flash")
FREE = (*RUN, "--permission", "all")
TRUST = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}


def prepare(home: Path, url: str) -> Mapping[str, str]:
    """Tell Gemini CLI where its model is, in a home of its own."""
    program, *words = mcp_command()
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "mcpServers": {"tiny": {"command": program, "args": words, "trust": True}},
        "model": {"maxSessionTurns": 6},
    }
    folder = home / ".gemini"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return {
        "GEMINI_API_KEY": "made-up-key",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_TELEMETRY_ENABLED": "false",
        **TRUST,
    }


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, GEMINI, ScriptedGeminiApi, prepare)


def shell(command: str) -> tuple[str, dict[str, Any]]:
    return "run_shell_command", {"command": command, "description": "run it"}


@scenario("text")
def test_text(bench: Bench) -> None:
    done = bench.rook([Reply(text="Hello there.")], *RUN, "Say hello")
    assert done.code == 0, done.err
    assert done.lines[0] == '"Hello there."'
    assert done.lines[-1].startswith("Complete (cost: ~$0.0")


@scenario("reasoning", but="it counts thoughts, but does not report them")
def test_thoughts_are_counted_though_they_are_not_told(bench: Bench) -> None:
    used = {"promptTokenCount": 100, "candidatesTokenCount": 10, "thoughtsTokenCount": 30}
    script = [Reply(thinking="Weighing it.", text="Done.", usage=used)]
    done = bench.rook(script, *RUN, "--json", "Think about it")
    assert done.code == 0, done.err
    assert done.told["tokens"]["output"] == 40


@scenario("read")
def test_a_file_that_is_read(bench: Bench) -> None:
    (bench.project / "a.txt").write_text("one\n")
    script = [Reply(tools=[("read_file", {"file_path": "a.txt"})]), Reply(text="It says one.")]
    done = bench.rook(script, *RUN, "Read it")
    assert done.code == 0, done.err
    assert done.lines[:2] == ["read_file: a.txt", '"It says one."']


@scenario("shell ok")
def test_a_command_that_succeeds(bench: Bench) -> None:
    script = [Reply(tools=[shell("echo one > a.txt; cat a.txt")]), Reply(text="Done.")]
    done = bench.rook(script, *FREE, "--verbose", "Work on it")
    assert done.code == 0, done.err
    assert done.lines[0] == "run_shell_command: echo one > a.txt; cat a.txt"
    assert done.lines[1].startswith("  -> one")
    assert (bench.project / "a.txt").read_text() == "one\n"


@scenario("shell failing", but="it reports a failing command as a success")
def test_a_command_that_fails_is_told_as_a_success_by_gemini(bench: Bench) -> None:
    script = [Reply(tools=[shell("echo bad; exit 3")]), Reply(text="It failed.")]
    done = bench.rook(script, *FREE, "--json", "Work on it")
    assert (done.code, done.told["tools"]["failed"]) == (0, 0), done.err


@scenario("edit")
def test_an_edit(bench: Bench) -> None:
    (bench.project / "a.txt").write_text("one\n")
    edit = {"file_path": "a.txt", "old_string": "one", "new_string": "two", "instruction": "x"}
    script = [
        Reply(tools=[("read_file", {"file_path": "a.txt"})]),
        Reply(tools=[("replace", edit)]),
        Reply(tools=[("write_file", {"file_path": "b.txt", "content": "new\n"})]),
        Reply(text="Edited."),
    ]
    done = bench.rook(script, *RUN, "--permission", "edit", "Edit it")
    assert done.code == 0, done.err
    assert done.lines[1:3] == ["replace: a.txt", "write_file: b.txt"]
    assert (bench.project / "a.txt").read_text() == "two\n"
    assert (bench.project / "b.txt").read_text() == "new\n"


@scenario("parallel tools")
def test_parallel_tools(bench: Bench) -> None:
    calls = [shell(f"sleep {n}; echo {n}") for n in (2, 1)]
    done = bench.rook([Reply(tools=calls), Reply(text="Ok.")], *FREE, "--json", "Race them")
    assert done.code == 0, done.err
    tools = {"started": 2, "finished": 2, "failed": 0, "denied": 0, "orphaned": 0}
    assert done.told["tools"] == tools


@scenario("denied")
def test_a_denial(bench: Bench) -> None:
    script = [Reply(tools=[shell("touch denied.txt")]), Reply(text="It was refused.")]
    done = bench.rook(script, *RUN, "Touch it")
    assert done.code == 4, done.err
    assert done.lines[1].startswith("DENIED: run_shell_command: touch denied.txt")
    assert not (bench.project / "denied.txt").exists()
    assert "--allow run_shell_command" in done.err


def test_a_command_that_writes_a_file_needs_more_than_a_rule(bench: Bench) -> None:
    script = [Reply(tools=[shell("echo one > a.txt")]), Reply(text="Done.")]
    for words in ((), ("--allow", "run_shell_command")):
        done = bench.rook(script, *RUN, *words, "Write it")
        assert done.code == 4, done.err
        assert done.lines[1].endswith("echo one > a.txt (allow it: --permission all)")
    again = ("run", "--model", "gemini-2.5-flash", "--resume", bench.last_run())
    done = bench.rook(script, *again, "--permission", "all", "Write it")
    assert (done.code, (bench.project / "a.txt").read_text()) == (0, "one\n"), done.err


def test_an_allowed_tool(bench: Bench) -> None:
    script = [Reply(tools=[shell("touch a.txt")]), Reply(text="Touched.")]
    done = bench.rook(script, *RUN, "--allow", "run_shell_command", "Touch it")
    assert done.code == 0, done.err
    assert (bench.project / "a.txt").exists()


@scenario("MCP tool")
def test_mcp_tools(bench: Bench) -> None:
    calls = [("mcp_tiny_echo", {"text": "hi"}), ("mcp_tiny_fail", {"text": "oh"})]
    done = bench.rook([Reply(tools=calls), Reply(text="Done.")], *FREE, "Call them")
    assert done.code == 0, done.err
    assert "mcp_tiny_echo: hi" in done.lines
    assert any(line.startswith("ERROR: MCP tool 'fail' reported tool error") for line in done.lines)


@scenario("subagent")
def test_a_subagent(bench: Bench) -> None:
    def model(request: dict[str, Any]) -> Answer:
        asked = json.dumps(request["contents"])
        if "Delegate it" not in asked:  # the subagent asks
            return Reply(tools=[("complete_task", {"result": "The child is done."})])
        if "functionResponse" in asked:
            return Reply(text="The parent is done.")
        task = {"agent_name": "generalist", "prompt": "A child's task"}
        return Reply(tools=[("invoke_agent", task)])

    done = bench.rook(model, *FREE, "Delegate it")
    assert done.code == 0, done.err
    assert done.lines[:2] == ["invoke_agent: A child's task", '"The parent is done."']


@scenario("API error for good")
def test_an_api_failure_is_a_failure(bench: Bench) -> None:
    done = bench.rook(lambda _: Failure(400, message="scripted"), *RUN, "Go on")
    assert done.code == 1, done.err
    assert done.lines[-1] == "FAILED: scripted"
    assert "[rook] failed: scripted" in done.err


def test_a_wrong_key(bench: Bench) -> None:
    done = bench.rook(lambda _: Failure(401), *RUN, "Go on")
    assert done.code == 1, done.err
    assert "invalid authentication credentials" in done.err


@scenario("retry then success")
def test_a_retry_that_succeeds(bench: Bench) -> None:
    script: list[Answer] = [Failure(503), Cut(after_events=1), Reply(text="Recovered.")]
    done = bench.rook(script, *RUN, "Go on")
    assert done.code == 0, done.err
    assert done.lines[0].endswith('Recovered."')


@scenario("Ctrl-C in mid tool")
def test_ctrl_c_in_mid_tool(bench: Bench) -> None:
    script = [Reply(tools=[shell("sleep 1000")])] * 3
    done = bench.interrupt(script, *FREE, "Go on", at="run_shell_command: ")
    assert done.code == 130, done.err
    assert "in the middle of run_shell_command: sleep 1000" in done.err


@scenario("deadline")
def test_a_deadline(bench: Bench) -> None:
    done = bench.rook([Reply(tools=[shell("sleep 1000")])], *FREE, "--timeout", "15s", "Go on")
    assert done.code == 124, done.err
    assert "in the middle of run_shell_command: sleep 1000" in done.err


@scenario(
    "budget stop", but="it reports no tokens before the turn is over, so rook notices only then"
)
def test_a_budget_is_noticed_when_the_turn_is_over(bench: Bench) -> None:
    script = [Reply(text="Dear.", usage={"promptTokenCount": 5000, "candidatesTokenCount": 5})]
    done = bench.rook(script, *RUN, "--max-tokens", "1000", "Spend it")
    assert done.code == 0, done.err  # the answer is whole, and nothing more is spent
    assert "[rook] WARNING: gemini does not report all usage while it works" in done.err
    warning = "WARNING: over budget: done, but used 5005 tokens (limit 1000)"
    assert warning in done.err


def test_its_own_limit_of_turns(bench: Bench) -> None:
    calls = (Reply(tools=[shell(f"echo {n}")]) for n in range(100))
    done = bench.rook(lambda _: next(calls), *FREE, "Go on")
    assert done.code == 5, done.err
    assert "Reached max session turns" in done.err
    refused = bench.rook([], *RUN, "--max-turns", "3", "Go on")
    assert refused.code == 2
    assert "leave out --max-turns" in refused.err


def test_a_loop_is_no_success(bench: Bench) -> None:
    script = [Reply(tools=[("list_directory", {"dir_path": "."})])] * 6
    done = bench.rook(script, *RUN, "Go on")
    assert done.code == 1, done.err
    assert "Loop detected" in done.err


@scenario("resume")
def test_a_resumed_run_remembers_and_tells_its_own_tokens(bench: Bench) -> None:
    used = {"promptTokenCount": 100, "candidatesTokenCount": 5}
    assert bench.rook([Reply(text="One.", usage=used)], *RUN, "The first").code == 0
    seen: list[str] = []

    def model(request: dict[str, Any]) -> Answer:
        seen.append(json.dumps(request["contents"]))
        return Reply(text="Two.", usage=used)

    done = bench.rook(model, *RUN, "--json", "--resume", bench.last_run(), "The second")
    assert (done.code, done.told["text"]) == (0, "Two."), done.err
    assert "The first" in seen[0]
    assert done.told["tokens"]["input"] == 100


@scenario("huge output")
def test_huge_output(bench: Bench) -> None:
    script = [Reply(tools=[shell("yes 0123456789 | head -c 400000")]), Reply(text="Ok.")]
    done = bench.rook(script, *FREE, "--json", "Flood it")
    # What is still in the pipe when Gemini exits is lost with its result.
    assert done.code in (0, 3), done.err
    if done.code == 0:
        assert (done.told["text"], done.told["unreadable"]) == ("Ok.", 0)
    else:
        assert "cut off" in done.err or "without a result" in done.err


@scenario("unicode")
def test_unicode(bench: Bench) -> None:
    said = "emoji 👩‍👧 日本語 \u2028 \u0085 end"
    script = [Reply(tools=[shell("printf 'caf\\303\\251 \\033[31m\\n'")]), Reply(text=said)]
    done = bench.rook(script, *FREE, "--json", "Grüße 日本")
    assert done.code == 0, done.err
    assert (done.told["text"], done.told["unreadable"]) == (said, 0)
    assert "\x1b" not in bench.rook([], "show").out


def test_a_long_prompt(bench: Bench) -> None:
    seen: list[str] = []

    def model(request: dict[str, Any]) -> Answer:
        seen.append(json.dumps(request["contents"], ensure_ascii=False))
        return Reply(text="Long.")

    file = bench.home / "prompt.txt"
    file.write_text("ü" * 70_000, encoding="utf-8")
    done = bench.rook(model, *RUN, "--prompt-file", str(file))
    assert done.code == 0, done.err
    assert "ü" * 70_000 in seen[0]


def test_in_a_folder_that_nobody_trusts_its_own_check_holds(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(TRUST, "GEMINI_CLI_TRUST_WORKSPACE")
    refused = bench.rook([], *RUN, "Go on")
    assert refused.code == 9
    assert "--skip-trust" in refused.err
    done = bench.rook([Reply(text="Ok.")], *RUN, "Go on", "--", "--skip-trust")
    assert done.code == 0, done.err
