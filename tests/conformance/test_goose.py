"""The real Goose, run by `rook run` against a scripted model on loopback: no key, no network.

`make conformance` installs it into .cache and tells where in ROOKERY_TEST_GOOSE.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rookery.testing import Answer, Cut, Failure, Reply, ScriptedChatApi, mcp_command
from tests.conformance.bench import Bench
from tests.conformance.scenarios import scenario

GOOSE = os.environ.get("ROOKERY_TEST_GOOSE", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not GOOSE, reason="ROOKERY_TEST_GOOSE is not set"),
]

RUN = ("run", "--agent", "goose", "--model", "gpt-4o")
FREE = (*RUN, "--permission", "all")
USED = {"prompt_tokens": 100, "completion_tokens": 5}


def prepare(home: Path, url: str) -> Mapping[str, str]:
    """Tell Goose where its model is, in a home of its own."""
    program, *words = mcp_command()
    tiny = {"enabled": True, "type": "stdio", "name": "tiny", "cmd": program, "args": words}
    developer = {"enabled": True, "type": "builtin", "name": "developer", "timeout": 300}
    summon = {"enabled": True, "type": "platform", "name": "summon"}
    extensions = {"tiny": {**tiny, "timeout": 60}, "developer": developer, "summon": summon}
    folder = home / ".config" / "goose"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(json.dumps({"extensions": extensions}), encoding="utf-8")
    return {
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": "gpt-4o",
        "GOOSE_PROVIDER_SKIP_BACKOFF": "true",
        "GOOSE_TELEMETRY_ENABLED": "false",
        "OPENAI_API_KEY": "made-up-key",
        "OPENAI_HOST": url,
    }


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, GOOSE, ScriptedChatApi, prepare)


def shell(command: str) -> tuple[str, dict[str, Any]]:
    return "shell", {"command": command}


@scenario("text")
def test_text(bench: Bench) -> None:
    done = bench.rook([Reply(text="Hello there.")], *RUN, "Say hello")
    assert done.code == 0, done.err
    assert done.lines[0] == '"Hello there."'
    assert done.lines[-1].startswith("Complete (cost: ~$0.0")
    assert len(bench.asked) == 1  # it does not ask for a title


@scenario("reasoning")
def test_thoughts(bench: Bench) -> None:
    script = [Reply(thinking="Weighing it.", text="Done.")]
    done = bench.rook(script, *RUN, "--verbose", "Think about it")
    assert done.code == 0, done.err
    assert any("Weighing it." in line for line in done.lines)


@scenario("shell ok")
def test_a_command_that_succeeds(bench: Bench) -> None:
    script = [Reply(tools=[shell("echo one > a.txt; cat a.txt")]), Reply(text="Done.")]
    done = bench.rook(script, *FREE, "--verbose", "Work on it")
    assert done.code == 0, done.err
    assert done.lines[0] == "shell: echo one > a.txt; cat a.txt"
    assert done.lines[1].startswith("  -> one")
    assert (bench.project / "a.txt").read_text() == "one\n"


@scenario("shell failing")
def test_a_command_that_fails(bench: Bench) -> None:
    script = [Reply(tools=[shell("echo bad; exit 3")]), Reply(text="It failed.")]
    done = bench.rook(script, *FREE, "--json", "Work on it")
    assert (done.code, done.told["tools"]["failed"]) == (0, 1), done.err


@scenario("edit")
def test_an_edit(bench: Bench) -> None:
    (bench.project / "a.txt").write_text("one\n")
    script = [
        Reply(tools=[("edit", {"path": "a.txt", "before": "one", "after": "two"})]),
        Reply(tools=[("write", {"path": "b.txt", "content": "new\n"})]),
        Reply(text="Edited."),
    ]
    done = bench.rook(script, *FREE, "Edit it")
    assert done.code == 0, done.err
    assert [line for line in done.lines if line.startswith(("edit", "write"))] == [
        "edit: a.txt",
        "write: b.txt",
    ]
    assert "2 files +2 −1" in done.err
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
def test_a_denial_in_the_mode_that_plans(bench: Bench) -> None:
    script = [Reply(tools=[shell("touch denied.txt")]), Reply(text="I would touch it.")]
    done = bench.rook(script, *RUN, "--permission", "plan", "Touch it")
    assert done.code == 4, done.err
    assert done.lines[1].startswith("DENIED: shell: touch denied.txt")
    assert not (bench.project / "denied.txt").exists()
    assert "--permission all" in done.err


def test_a_call_that_needs_approval_ends_the_run(bench: Bench) -> None:
    settings = {"GOOSE_MODE": "approve"}
    usual = bench._prepare
    bench._prepare = lambda home, url: {**usual(home, url), **settings}
    done = bench.rook([Reply(tools=[shell("touch denied.txt")])], *RUN, "Touch it")
    assert done.code == 4, done.err
    assert "1 tool call was not permitted: Tool approval required" in done.err
    assert "--permission all" in done.err
    assert not (bench.project / "denied.txt").exists()


def test_what_it_cannot_do_is_refused(bench: Bench) -> None:
    for words in (("--permission", "edit"), ("--allow", "shell")):
        done = bench.rook([], *RUN, *words, "Go on")
        assert done.code == 2, done.err


@scenario("MCP tool")
def test_mcp_tools(bench: Bench) -> None:
    calls = [("tiny__echo", {"text": "hi"}), ("tiny__fail", {"text": "oh"})]
    done = bench.rook([Reply(tools=calls), Reply(text="Done.")], *FREE, "Call them")
    assert done.code == 0, done.err
    assert "tiny__echo: hi" in done.lines
    assert any(line.startswith("ERROR: ") for line in done.lines)


@scenario("subagent", but="it reports only the names of the tools that a subagent uses")
def test_a_subagent(bench: Bench) -> None:
    def model(request: dict[str, Any]) -> Answer:
        asked = json.dumps(request["messages"])
        if "Delegate it" not in asked:  # the subagent asks
            return Reply(text="The child is done.", usage=USED)
        if '"tool"' in asked:
            return Reply(text="The parent is done.", usage=USED)
        return Reply(tools=[("delegate", {"instructions": "A child's task"})], usage=USED)

    done = bench.rook(model, *FREE, "--json", "Delegate it")
    assert (done.code, done.told["text"]) == (0, "The parent is done."), done.err
    assert done.told["tokens"]["input"] == 300  # with those of the subagent


@scenario("API error for good")
def test_an_api_failure_is_a_failure(bench: Bench) -> None:
    done = bench.rook(lambda _: Failure(400, message="scripted"), *RUN, "Go on")
    assert done.code == 1, done.err
    assert done.lines[-1].startswith("FAILED: Request failed: Bad request (400): scripted")
    assert "[rook] failed: Request failed" in done.err


def test_a_wrong_key(bench: Bench) -> None:
    done = bench.rook(lambda _: Failure(401), *RUN, "Go on")
    assert done.code == 1, done.err
    assert "Authentication error" in done.err
    assert "to log in:  goose configure" in done.err


@scenario("retry then success")
def test_a_retry_that_succeeds(bench: Bench) -> None:
    script: list[Answer] = [Failure(500), Reply(text="Recovered.")]
    done = bench.rook(script, *RUN, "Go on")
    assert done.code == 0, done.err
    assert done.lines[0] == '"Recovered."'


def test_a_stream_that_breaks_is_no_success(bench: Bench) -> None:
    for how, code in (("reset", 1), ("close", 3), ("error", 1)):
        done = bench.rook([Cut(after_events=2, how=how)], *RUN, "Go on")  # type: ignore[arg-type]
        assert done.code == code, done.err


@scenario("Ctrl-C in mid tool")
def test_ctrl_c_in_mid_tool(bench: Bench) -> None:
    done = bench.interrupt([Reply(tools=[shell("sleep 1000")])], *FREE, "Go on", at="shell: ")
    assert done.code == 130, done.err
    assert "in the middle of shell: sleep 1000" in done.err


@scenario("deadline")
def test_a_deadline(bench: Bench) -> None:
    done = bench.rook([Reply(tools=[shell("sleep 1000")])], *FREE, "--timeout", "8s", "Go on")
    assert done.code == 124, done.err
    assert "in the middle of shell: sleep 1000" in done.err


@scenario("budget stop", but="it reports no tokens before its end, so rook notices only then")
def test_a_budget_is_noticed_at_the_end(bench: Bench) -> None:
    used = {"prompt_tokens": 5000, "completion_tokens": 5}
    done = bench.rook([Reply(text="Dear.", usage=used)], *RUN, "--max-tokens", "1000", "Spend it")
    assert done.code == 0, done.err  # the answer is whole, and nothing more is spent
    assert "over budget: done, but used 5005 tokens (limit 1000)" in done.err
    refused = bench.rook([], *RUN, "--max-cost", "1", "Go on")
    assert refused.code == 2
    assert "reports its tokens only when the run has ended" in refused.err


def test_a_limit_of_turns(bench: Bench) -> None:
    script = [Reply(tools=[shell(f"echo {n}")]) for n in range(9)]
    done = bench.rook(script, *FREE, "--max-turns", "2", "Go on")
    assert done.code == 5, done.err


@scenario("resume")
def test_a_resumed_run_remembers_and_tells_its_own_tokens(bench: Bench) -> None:
    assert bench.rook([Reply(text="One.", usage=USED)], *RUN, "The first").code == 0
    seen: list[str] = []

    def model(request: dict[str, Any]) -> Answer:
        seen.append(json.dumps(request["messages"]))
        return Reply(text="Two.", usage=USED)

    done = bench.rook(model, *RUN, "--json", "--resume", bench.last_run(), "The second")
    assert (done.code, done.told["text"]) == (0, "Two."), done.err
    assert "The first" in seen[0]
    assert done.told["tokens"]["input"] == 100  # though Goose reports 200


@scenario("huge output")
def test_huge_output(bench: Bench) -> None:
    script = [Reply(tools=[shell("yes 0123456789 | head -c 400000")]), Reply(text="Ok.")]
    done = bench.rook(script, *FREE, "--json", "Flood it")
    assert done.code == 0, done.err
    assert (done.told["text"], done.told["unreadable"]) == ("Ok.", 0)


@scenario("unicode")
def test_unicode(bench: Bench) -> None:
    said = "emoji 👩‍👧 日本語 \u2028 \u0085 end"
    script = [Reply(tools=[shell("printf 'caf\\303\\251 \\033[31m\\n'")]), Reply(text=said)]
    done = bench.rook(script, *FREE, "--json", "Grüße 日本")
    assert done.code == 0, done.err
    assert (done.told["text"], done.told["unreadable"]) == (said, 0)
    assert "\x1b" not in bench.rook([], "show").out


def test_a_long_prompt(bench: Bench) -> None:
    file = bench.home / "prompt.txt"
    file.write_text("ü" * 70_000, encoding="utf-8")
    done = bench.rook([Reply(text="Long.")], *RUN, "--prompt-file", str(file))
    assert done.code == 0, done.err
    assert "ü" * 70_000 in json.dumps(bench.asked[0]["messages"], ensure_ascii=False)


def test_without_a_provider_it_does_not_start(bench: Bench) -> None:
    bench._prepare = lambda home, url: {"GOOSE_DISABLE_KEYRING": "1"}
    done = bench.rook([], "run", "--agent", "goose", "Go on")
    assert done.code == 9, done.err
    assert "error: No provider configured. Run 'goose configure' first." in done.err
