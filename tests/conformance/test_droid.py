"""The real Droid, run by `rook run` against a scripted model on loopback: no key, no network.

`make conformance` installs it into .cache and passes its place in ROOKERY_TEST_DROID.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rookery.testing import Answer, Cut, Failure, Reply, Script, ScriptedChatApi, mcp_command
from tests.conformance.bench import PATIENCE_S, Bench, Outcome
from tests.conformance.scenarios import scenario

DROID = os.environ.get("ROOKERY_TEST_DROID", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not DROID, reason="ROOKERY_TEST_DROID is not set"),
]

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100}
RUN = ("run", "--agent", "droid", "--model", "custom:m")
FREE = ("--permission", "all")


def prepare(home: Path, url: str) -> Mapping[str, str]:
    """Set Droid up with a model of the user's own, which needs no login."""
    folder = home / ".factory"
    folder.mkdir(exist_ok=True)
    model = {"model": "m", "displayName": "m", "baseUrl": f"{url}/v1", "apiKey": "made-up"}
    model |= {"provider": "generic-chat-completion-api"}
    settings = {"customModels": [{**model, "maxOutputTokens": 8000}]}
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    program, *words = mcp_command()
    servers = {"tiny": {"type": "stdio", "command": program, "args": words, "disabled": False}}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return {"FACTORY_DROID_AUTO_UPDATE_ENABLED": "false", "DO_NOT_TRACK": "1"}


class DroidBench(Bench):
    """A repository, and a home with a model of the user's own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, DROID, ScriptedChatApi, prepare)
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)

    def run(self, script: Script, *words: str) -> Outcome:
        """Call `rook run` with the agent."""
        return self.rook(script, *RUN, *words)

    def told(self, script: Script, *words: str) -> dict[str, Any]:
        """Return what `rook run --json` reports."""
        done = self.run(script, "--json", *words)
        assert done.out, done.err
        return done.told


@pytest.fixture
def bench(tmp_path: Path) -> DroidBench:
    return DroidBench(tmp_path)


def shell(command: str, risk: str = "low") -> tuple[str, dict[str, Any]]:
    reason = {"riskLevelReason": "It is a test.", "riskLevel": risk}
    return "Execute", {"summary": "run it", "command": command, "timeout": 60, **reason}


@scenario("text")
def test_text(bench: DroidBench) -> None:
    done = bench.run([Reply(text="Hello there.", usage=USAGE)], 'Say "hello", twice')
    assert done.code == 0, done.err
    assert done.lines == ['"Hello there."', "Complete (cost: $?)"]
    assert len(bench.asked) == 1
    assert 'Say "hello", twice' in json.dumps(bench.asked[0]["messages"][-1]).replace('\\"', '"')


@scenario("reasoning")
def test_reasoning_is_shown_once(bench: DroidBench) -> None:
    done = bench.run([Reply(thinking="Six times seven.", text="42.")], "-v", "Think")
    assert done.code == 0, done.err
    assert done.lines.count("(thinks) Six times seven.") == 1


@scenario("read")
def test_read(bench: DroidBench) -> None:
    (bench.project / "a.txt").write_text("one\n")
    path = str(bench.project / "a.txt")
    script = [Reply(tools=[("Read", {"file_path": path})]), Reply(text="1")]
    done = bench.run(script, "Read it")
    assert done.code == 0, done.err
    assert done.lines[:2] == ["Read: a.txt", '"1"']


@scenario("shell ok")
def test_shell_ok(bench: DroidBench) -> None:
    script = [Reply(tools=[shell("pwd > here; echo fine")]), Reply(text="Done.")]
    done = bench.run(script, *FREE, "-v", "Work")
    assert done.code == 0, done.err
    assert done.lines[0] == "Execute: pwd > here; echo fine"
    assert done.lines[1].startswith("  -> fine")
    assert (bench.project / "here").read_text().strip() == str(bench.project)


@scenario("shell failing")
def test_shell_failing(bench: DroidBench) -> None:
    script = [Reply(tools=[shell("echo one; echo two; exit 3")]), Reply(text="It failed.")]
    done = bench.run(script, *FREE, "Work")
    assert done.code == 0, done.err
    assert done.lines[1:3] == ["ERROR: exit 3: one two", '"It failed."']


@scenario("edit")
def test_edit(bench: DroidBench) -> None:
    target = bench.project / "a.txt"
    target.write_text("one\n")
    edit = {"file_path": str(target), "old_str": "one", "new_str": "two"}
    create = {"file_path": str(bench.project / "b.txt"), "content": "x\ny\n"}
    script = [
        Reply(tools=[("Read", {"file_path": str(target)})]),
        Reply(tools=[("Edit", edit)]),
        Reply(tools=[("Create", create)]),
        Reply(text="Done."),
    ]
    done = bench.run(script, "--permission", "edit", "Edit")
    assert done.code == 0, done.err
    assert done.lines[1:4] == ["Edit: a.txt", "  +1 −1", "Create: b.txt"]
    assert target.read_text() == "two\n"


@scenario("parallel tools")
def test_parallel_tools(bench: DroidBench) -> None:
    calls = [shell("sleep 1; echo slow"), shell("echo quick")]
    told = bench.told([Reply(tools=calls), Reply(text="Both.")], *FREE, "Work")
    assert (told["status"], told["tools"]["finished"]) == ("success", 2)


@scenario("denied")
def test_a_command_that_needs_more_autonomy_ends_the_run(bench: DroidBench) -> None:
    script = [Reply(tools=[shell("echo x > x", "medium")]), Reply(text="Done.")]
    done = bench.run(script, "Work")
    assert done.code == 4, done.err
    assert "[rook] denied: it stopped at a tool call that was not permitted" in done.err
    assert not (bench.project / "x").exists()


@scenario("denied")
def test_a_tool_that_is_not_permitted_and_a_rule_that_allows_it(bench: DroidBench) -> None:
    create = {"file_path": str(bench.project / "b.txt"), "content": "x\n"}
    script = [Reply(tools=[("Create", create)]), Reply(text="I could not.")]
    done = bench.run(script, "Work")
    assert done.code == 4, done.err
    assert done.lines[1] == "DENIED: Create: b.txt (allow it: --permission edit)"
    done = bench.run(script, "--allow", "Create", "Work")
    assert done.code == 0, done.err
    assert (bench.project / "b.txt").exists()


def test_plan(bench: DroidBench) -> None:
    create = {"file_path": str(bench.project / "b.txt"), "content": "x\n"}
    script = [Reply(tools=[("Create", create)]), Reply(text="A plan.")]
    done = bench.run(script, "--permission", "plan", "Plan")
    assert done.code == 4, done.err
    assert not (bench.project / "b.txt").exists()


@scenario("MCP tool")
def test_mcp_tool(bench: DroidBench) -> None:
    script = [
        Reply(tools=[("tiny___echo", {"text": "hi"})]),
        Reply(tools=[("tiny___fail", {"text": "no"})]),
        Reply(text="Done."),
    ]
    done = bench.run(script, *FREE, "-v", "Use it")
    assert done.code == 0, done.err
    assert done.lines[1] == "  -> echo: hi"
    assert "it failed: no" in done.lines[3]


@scenario("subagent", but="without a login its subagents cannot be started")
def test_subagent(bench: DroidBench) -> None:
    task = {"subagent_type": "worker", "description": "kid", "prompt": "CHILD: do it"}
    done = bench.run([Reply(tools=[("Task", task)]), Reply(text="Done.")], *FREE, "Delegate")
    assert done.code == 0, done.err
    assert done.lines[0] == "Task: kid"


@scenario("API error for good")
def test_api_error_for_good(bench: DroidBench) -> None:
    done = bench.run(lambda _: Failure(401, message="scripted refusal"), "Go")
    assert done.code == 1
    assert done.lines == ["ERROR: scripted refusal", "FAILED: scripted refusal"]


@scenario("retry then success")
def test_retry_then_success(bench: DroidBench) -> None:
    script: list[Answer] = [Failure(429), Reply(text="Recovered.")]
    done = bench.run(script, "Go")
    assert done.code == 0, done.err
    assert done.lines[0] == '"Recovered."'
    assert len(bench.asked) == 2


@scenario("Ctrl-C in mid tool")
def test_ctrl_c_in_mid_tool(bench: DroidBench) -> None:
    begun = bench.project / "begun"
    script = [Reply(tools=[shell("echo $$ > begun; exec sleep 120")]), Reply(delay=PATIENCE_S)]
    done = bench.interrupt(script, *RUN, *FREE, "Go", at=begun)
    assert done.code == 130, done.err
    assert "[rook] interrupted" in done.err


@scenario("deadline")
def test_deadline(bench: DroidBench) -> None:
    done = bench.run([Reply(text="Late.", delay=PATIENCE_S)], "--timeout", "15s", "Go")
    assert done.code == 124, done.err
    assert "[rook] timed out" in done.err


@scenario("budget stop", but="it counts its tokens only when the turn has ended")
def test_a_budget_that_cannot_hold_is_refused(bench: DroidBench) -> None:
    done = bench.run([], "--max-cost", "0.5", "Spend")
    assert (done.code, bench.asked) == (2, []), done.err
    assert "droid reports its tokens only when the turn has ended" in done.err


@scenario("resume", but="a session is resumed as a fork with a new id")
def test_resume(bench: DroidBench) -> None:
    first = bench.told([Reply(text="One.", usage=USAGE)], "First prompt")
    name = Path(first["file"]).name
    second = bench.told([Reply(text="Two.", usage=USAGE)], "--resume", name, "Second prompt")
    assert second["text"] == "Two."
    said = json.dumps(bench.asked[0]["messages"])
    assert said.index("First prompt") < said.index("One.") < said.index("Second prompt")
    # Each process reports its own tokens.
    assert first["tokens"]["input"] == second["tokens"]["input"] == 1000


@scenario("huge output")
def test_huge_output(bench: DroidBench) -> None:
    command = "head -c 3000000 /dev/zero | tr '\\0' x | fold -w 99"
    words = " ".join(map(str, range(60_000)))  # it asks again after a text that repeats itself
    script = [Reply(tools=[shell(command)]), Reply(text=words, piece=50_000)]
    told = bench.told(script, *FREE, "Flood")
    assert (told["status"], told["text"]) == ("success", words)


@scenario("unicode")
def test_unicode(bench: DroidBench) -> None:
    words = "Grüße 日本 👩‍👩‍👧 \u2028 sep \u0085 nel \x1b[31m esc"
    told = bench.told([Reply(text=words)], "Grüße 日本 👋")
    assert told["text"] == words
    assert "Grüße 日本 👋" in json.dumps(bench.asked[0]["messages"], ensure_ascii=False)


def test_a_stream_that_breaks_off_is_not_a_success(bench: DroidBench) -> None:
    done = bench.run([Cut(after_events=2, how="close")], "Go")
    assert done.code == 3, done.err
    assert "the answer may be cut off" in done.err


def test_without_a_login_it_is_said_how_to_log_in(bench: DroidBench) -> None:
    done = bench.rook([], "run", "--agent", "droid", "Go")
    assert done.code == 1, done.err
    assert "to log in:  droid, then /login" in done.err


def test_a_command_line_of_the_user_s(bench: DroidBench) -> None:
    command = ["droid", "exec", "-m", "custom:m", "Hi"]
    done = bench.rook([Reply(text="Hello.")], "exec", "--", *command)
    assert done.code == 0, done.err
    assert "[rook] added: --output-format stream-json" in done.err
    assert done.lines[0] == '"Hello."'


def test_a_wrong_flag_is_no_start(bench: DroidBench) -> None:
    done = bench.run([], "Go", "--", "--no-such-flag")
    assert (done.code, done.lines) == (9, []), done.err
