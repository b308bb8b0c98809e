"""The real Codex, run by `rook run` against a scripted model on loopback: no key, no network.

`make test` installs it into .cache and tells where in ROOK_TEST_CODEX; without it these are
skipped. `make conformance` runs all of them.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nightrook.testing import Answer, Cut, Failure, Reply, ScriptedResponsesApi, mcp_command
from tests.conformance.bench import Bench, Outcome
from tests.conformance.scenarios import scenario

CODEX = os.environ.get("ROOK_TEST_CODEX", "")
pytestmark = pytest.mark.skipif(not CODEX, reason="ROOK_TEST_CODEX is not set")
conformance = pytest.mark.conformance

RUN = ("run", "--agent", "codex", "--via", "exec")
FREE = (*RUN, "--permission", "all")
MODEL = "gpt-5.5"

SETTINGS = """
model = "{model}"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "{url}"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 2
[mcp_servers.tiny]
command = {program}
args = {args}
"""


def prepare(home: Path, url: str) -> Mapping[str, str]:
    """Tell Codex where its model is, in a home of its own."""
    folder = home / ".codex"
    folder.mkdir(exist_ok=True)
    program, *args = mcp_command()
    given = {"program": json.dumps(program), "args": json.dumps(args)}
    words = SETTINGS.format(model=MODEL, url=url, **given)
    (folder / "config.toml").write_text(words, encoding="utf-8")
    return {"SCRIPTED_KEY": "made-up"}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path, CODEX, ScriptedResponsesApi, prepare)
    subprocess.run(["git", "init", "-q", str(made.project)], check=True)
    return made


def shell(command: str, **more: Any) -> tuple[str, dict[str, Any]]:
    return "exec_command", {"cmd": command, **more}


# Part of `make test`.


@scenario("text")
def test_text(bench: Bench) -> None:
    done = bench.rook([Reply(text="Hello there.")], *RUN, "Say hello")
    assert done.code == 0, done.err
    answer, end = done.lines
    assert answer == '"Hello there."'
    assert end.startswith("Complete (cost: ~$0.0")


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
    done = bench.rook(script, *FREE, "Work on it")
    assert done.code == 0, done.err
    assert done.lines[:3] == ["shell: echo bad; exit 3", "ERROR: exit 3: bad", '"It failed."']


@scenario("API error for good")
def test_an_api_failure_is_a_failure(bench: Bench) -> None:
    done = bench.rook(lambda _: Failure(400, message="scripted"), *RUN, "Go on")
    assert done.code == 1, done.err
    assert done.lines[-1] == "FAILED: scripted"
    assert "[rook] failed: scripted" in done.err


@scenario("Ctrl-C in mid tool")
def test_ctrl_c_in_mid_tool(bench: Bench) -> None:
    script = [Reply(tools=[shell("sleep 1000")])] * 3
    done = bench.interrupt(script, *FREE, "Go on", at="shell: ")
    assert done.code == 130, done.err
    assert "[rook] interrupted by Ctrl-C, in the middle of shell: sleep" in done.err


@scenario("resume")
def test_a_resumed_run_tells_its_own_share_of_the_tokens(bench: Bench) -> None:
    def resumed(prompt: str, tokens: int) -> dict[str, int | None]:
        script = [Reply(text=prompt, usage={"input_tokens": tokens, "output_tokens": 5})]
        done = bench.rook(script, *RUN, "--json", "--resume", bench.last_run(), prompt)
        assert (done.code, done.told["text"]) == (0, prompt), done.err
        counted: dict[str, int | None] = done.told["tokens"]
        return counted

    first = [Reply(text="One.", usage={"input_tokens": 100, "output_tokens": 5})]
    assert bench.rook(first, *RUN, "One.").code == 0
    # Codex tells 300, then 700: the sums of the whole thread.
    assert resumed("Two.", 200) == {"input": 200, "output": 5, "cache_read": 0, "cache_write": 0}
    assert resumed("Three.", 400)["input"] == 400
    failed = bench.rook([Failure(400)], *RUN, "--resume", bench.last_run(), "Four.")
    assert failed.code == 1, failed.err
    # What the failed run used was told by nobody, so what comes after it is unknown, too.
    assert resumed("Five.", 500)["input"] is None


# Part of `make conformance`.


@scenario("reasoning")
@conformance
def test_reasoning(bench: Bench) -> None:
    script = [Reply(thinking="**Weighing it**", text="Done.")]
    done = bench.rook(script, *RUN, "--verbose", "Think about it")
    assert done.code == 0, done.err
    assert done.lines[:2] == ["(thinks) **Weighing it**", '"Done."']


@scenario("edit")
@conformance
def test_an_edit(bench: Bench) -> None:
    patch = "*** Begin Patch\n*** Add File: new.txt\n+one\n*** End Patch\n"
    done = bench.rook([Reply(tools=[("apply_patch", patch)]), Reply(text="Ok.")], *FREE, "Edit it")
    assert done.code == 0, done.err
    assert done.lines[0] == "apply_patch: new.txt"
    assert (bench.project / "new.txt").read_text() == "one\n"


@scenario("parallel tools")
@conformance
def test_parallel_tools(bench: Bench) -> None:
    calls = [shell(f"sleep {n}; echo {n}") for n in (2, 1)]
    done = bench.rook([Reply(tools=calls), Reply(text="Ok.")], *FREE, "--json", "Race them")
    assert done.code == 0, done.err
    tools = {"started": 2, "finished": 2, "failed": 0, "denied": 0, "orphaned": 0}
    assert done.told["tools"] == tools


@scenario("denied")
@conformance
def test_a_denial(bench: Bench) -> None:
    def model(request: dict[str, Any]) -> Answer:
        if "schema" in json.dumps(request.get("text")):  # the automatic reviewer asks
            return Reply(text='{"outcome": "deny", "rationale": "no"}')
        if any(item["type"] == "function_call_output" for item in request["input"]):
            return Reply(text="It was refused.")
        asked = {"sandbox_permissions": "require_escalated", "justification": "May I?"}
        return Reply(tools=[shell("touch denied.txt", **asked)])

    done = bench.rook(model, *RUN, "Touch it", "--", "--approve-for-me")
    assert done.code == 4, done.err
    assert done.lines[:2] == ["shell: touch denied.txt", "DENIED: shell: touch denied.txt"]
    assert not (bench.project / "denied.txt").exists()


@scenario("MCP tool")
@conformance
def test_mcp_tools(bench: Bench) -> None:
    script = [
        Reply(tools=[_mcp("echo", "hi"), _mcp("fail", "oh")]),
        Reply(text="Done."),
    ]
    done = bench.rook(script, *FREE, "Call them")
    assert done.code == 0, done.err
    assert "mcp__tiny__echo: hi" in done.lines
    assert any(line.startswith("ERROR: it failed: oh") for line in done.lines)


@scenario("subagent")
@conformance
def test_a_subagent(bench: Bench) -> None:
    def model(request: dict[str, Any]) -> Answer:
        asked = json.dumps(request["input"])
        given = [i["output"] for i in request["input"] if i["type"] == "function_call_output"]
        if "Spawn it" not in asked:  # the subagent asks
            return Reply(text="The child is done.")
        if not given:
            return Reply(tools=[("multi_agent_v1.spawn_agent", {"message": "A child's task"})])
        if len(given) == 1:
            waiting = {"targets": [json.loads(given[0])["agent_id"]], "timeout_ms": 30_000}
            return Reply(tools=[("multi_agent_v1.wait_agent", waiting)])
        return Reply(text="The parent is done.")

    # Of the newer models' subagents the stream shows nothing.
    done = bench.rook(model, *FREE, "--model", "some-unknown-model", "Spawn it")
    assert done.code == 0, done.err
    assert done.lines[:2] == ["spawn_agent: A child's task", "wait"]


@scenario("retry then success")
@conformance
def test_a_retry_that_succeeds(bench: Bench) -> None:
    script: list[Answer] = [Cut(after_events=2), Reply(text="Recovered.")]
    done = bench.rook(script, *RUN, "--verbose", "Go on")
    assert done.code == 0, done.err
    assert any(line.startswith("RETRY: stream disconnected") for line in done.lines)
    assert '"Recovered."' in done.lines


@conformance
def test_a_limit_of_the_provider_s(bench: Bench) -> None:
    done = bench.rook(lambda _: Failure(429), *RUN, "Go on")
    assert done.code == 6, done.err
    assert "[rook] limited" in done.err


@conformance
def test_a_wrong_key(bench: Bench) -> None:
    done = bench.rook(lambda _: Failure(401), *RUN, "Go on")
    assert done.code == 1, done.err
    assert "Incorrect API key" in done.err


@conformance
def test_a_model_that_is_away_is_not_waited_for_for_ever(bench: Bench) -> None:
    with ScriptedResponsesApi([]) as api:
        away = api.url  # nobody listens there when the block has ended
    done = bench.rook([], *RUN, "Go on", "--", "-c", f'model_providers.scripted.base_url="{away}"')
    assert done.code == 1, done.err
    assert "Connection failed" in done.lines[-1]


@scenario("deadline")
@conformance
def test_a_deadline(bench: Bench) -> None:
    script = [Reply(tools=[shell("sleep 1000")])]
    done = bench.rook(script, *FREE, "--timeout", "6s", "Go on")
    assert done.code == 124, done.err
    assert "in the middle of shell: sleep 1000" in done.err


@scenario(
    "budget stop", but="it reports no tokens before the turn is over, so rook notices only then"
)
@conformance
def test_a_budget_is_noticed_when_the_turn_is_over(bench: Bench) -> None:
    script = [Reply(text="Dear.", usage={"input_tokens": 5000, "output_tokens": 5})]
    done = bench.rook(script, *RUN, "--max-tokens", "1000", "Spend it")
    assert done.code == 0, done.err  # the answer is whole, and nothing more is spent
    assert "[rook] WARNING: codex does not report all usage while it works" in done.err
    warning = "WARNING: over budget: done, but used 5005 tokens (limit 1000)"
    assert warning in done.err


@conformance
def test_a_cost_is_estimated_for_the_model_that_was_asked_for(bench: Bench) -> None:
    script = [Reply(text="Ok.", usage={"input_tokens": 5000, "output_tokens": 5})]
    done = bench.rook(script, *RUN, "--model", "gpt-5", "Go on")
    assert done.code == 0, done.err
    assert done.lines[-1].startswith("Complete (cost: ~$0.0")


@conformance
def test_without_a_model_the_cost_is_that_of_the_model_in_codex_s_settings(bench: Bench) -> None:
    script = [Reply(text="Ok.", usage={"input_tokens": 5000, "output_tokens": 5})]
    done = bench.rook(script, "exec", "--json", "--", CODEX, "exec", "Go on")
    assert done.code == 0, done.err
    assert (done.told["model"], done.told["spent_usd"] > 0) == (MODEL, True)


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
    said = "emoji 👩‍👧 日本語 \u2028 \u0085 \x1b[31mred"
    script = [Reply(tools=[shell("printf '\\377 \\033[31m caf\\303\\251\\n'")]), Reply(text=said)]
    done = bench.rook(script, *FREE, "--json", "Grüße 日本")
    assert done.code == 0, done.err
    assert (done.told["text"], done.told["unreadable"]) == (said, 0)
    shown = bench.rook([], "show").out
    assert "\x1b" not in shown


@conformance
def test_a_long_prompt(bench: Bench) -> None:
    seen: list[str] = []

    def model(request: dict[str, Any]) -> Answer:
        seen.append(json.dumps(request["input"], ensure_ascii=False))
        return Reply(text="Long.")

    done = bench.rook(model, *RUN, "--prompt-file", str(_written(bench, "ü" * 70_000)))
    assert done.code == 0, done.err
    assert "ü" * 70_000 in seen[0]


@conformance
def test_what_it_leaves_running_is_cut_and_said_to_be(bench: Bench) -> None:
    left = shell("echo begun; sleep 1000", yield_time_ms=300)
    done = bench.rook([Reply(tools=[left]), Reply(text="Left.")], *FREE, "Leave it")
    assert done.code == 3, done.err
    assert "1 background task was cut off" in done.err


@conformance
def test_outside_a_repository_its_own_check_holds(bench: Bench) -> None:
    (bench.project / ".git").rename(bench.project / "git")
    refused: Outcome = bench.rook([], *RUN, "Go on")
    assert refused.code == 9
    assert "--skip-git-repo-check" in refused.err
    done = bench.rook([Reply(text="Ok.")], *RUN, "Go on", "--", "--skip-git-repo-check")
    assert done.code == 0, done.err


def _mcp(tool: str, text: str) -> tuple[str, dict[str, Any]]:
    return f"mcp__tiny.{tool}", {"text": text}


def _written(bench: Bench, text: str) -> Path:
    file = bench.home / "prompt.txt"
    file.write_text(text, encoding="utf-8")
    return file


@conformance
def test_a_patch_that_its_default_sandbox_rejects_is_a_denial(bench: Bench) -> None:
    patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n"
    script = [Reply(tools=[("apply_patch", patch)]), Reply(text="I could not.")]
    done = bench.rook(script, *RUN, "Write it")
    assert done.code == 4, done.err
    assert "WARNING: codex may not change any file" in done.err
    assert "denied: 1 tool call was not permitted: patch rejected: " in done.err
    assert not (bench.project / "a.txt").exists()
