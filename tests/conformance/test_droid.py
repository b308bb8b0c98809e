"""The real Droid, run by `rook run` against a scripted model on loopback: no key, no network.

`make conformance` installs it into .cache and passes its place in ROOK_TEST_DROID.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nightrook.testing import Cut, Failure, Reply, ScriptedChatApi, mcp_command
from tests.conformance.bench import Bench
from tests.conformance.headless import Headless, ReadScenario
from tests.conformance.scenarios import scenario

DROID = os.environ.get("ROOK_TEST_DROID", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not DROID, reason="ROOK_TEST_DROID is not set"),
]


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


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path, DROID, ScriptedChatApi, prepare)
    subprocess.run(["git", "init", "-q"], cwd=bench.project, check=True)
    return bench


def shell(command: str, risk: str = "low") -> tuple[str, dict[str, Any]]:
    reason = {"riskLevelReason": "It is a test.", "riskLevel": risk}
    return "Execute", {"summary": "run it", "command": command, "timeout": 60, **reason}


class TestDroid(ReadScenario):
    agent = Headless(
        name="droid",
        options=("--model", "custom:m"),
        shell=shell,
        read=lambda path: ("Read", {"file_path": str(path)}),
        edit=lambda path, old, new: (
            "Edit",
            {"file_path": str(path), "old_str": old, "new_str": new},
        ),
        write=lambda path, text: ("Create", {"file_path": str(path), "content": text}),
        mcp="tiny___{}",
        passing=Failure(429),
    )

    @scenario("resume", but="a session is resumed as a fork with a new id")
    def test_a_resumed_run_remembers(self, bench: Bench) -> None:
        super().test_a_resumed_run_remembers(bench)

    @scenario("denied")
    def test_a_command_that_needs_more_autonomy_ends_the_run(self, bench: Bench) -> None:
        script = [Reply(tools=[shell("echo x > x", "medium")]), Reply(text="Done.")]
        done = self.run(bench, script, "Work")
        assert done.code == 4, done.err
        assert "[rook] denied: it stopped at a tool call that was not permitted" in done.err
        assert not (bench.project / "x").exists()

    @scenario("denied")
    def test_a_tool_that_is_not_permitted_and_a_rule_that_allows_it(self, bench: Bench) -> None:
        create = {"file_path": str(bench.project / "b.txt"), "content": "x\n"}
        script = [Reply(tools=[("Create", create)]), Reply(text="I could not.")]
        done = self.run(bench, script, "Work")
        assert done.code == 4, done.err
        assert done.lines[1] == "DENIED: Create: b.txt (allow it: --permission edit)"
        done = self.run(bench, script, "--allow", "Create", "Work")
        assert done.code == 0, done.err
        assert (bench.project / "b.txt").exists()

    def test_plan(self, bench: Bench) -> None:
        create = {"file_path": str(bench.project / "b.txt"), "content": "x\n"}
        script = [Reply(tools=[("Create", create)]), Reply(text="A plan.")]
        done = self.run(bench, script, "--permission", "plan", "Plan")
        assert done.code == 4, done.err
        assert not (bench.project / "b.txt").exists()

    @scenario("subagent", but="without a login its subagents cannot be started")
    def test_subagent(self, bench: Bench) -> None:
        task = {"subagent_type": "worker", "description": "kid", "prompt": "CHILD: do it"}
        done = self.run(
            bench,
            [Reply(tools=[("Task", task)]), Reply(text="Done.")],
            *self.agent.free,
            "Delegate",
        )
        assert done.code == 0, done.err
        assert done.lines[0] == "Task: kid"

    @scenario("budget stop", but="it counts its tokens only when the turn has ended")
    def test_a_budget_that_cannot_hold_is_refused(self, bench: Bench) -> None:
        done = self.run(bench, [], "--max-cost", "0.5", "Spend")
        assert (done.code, bench.asked) == (2, []), done.err
        assert "droid reports its tokens only when the turn has ended" in done.err

    def test_a_stream_that_breaks_off_is_not_a_success(self, bench: Bench) -> None:
        done = self.run(bench, [Cut(after_events=2, how="close")], "Go")
        assert done.code == 3, done.err
        assert "the answer may be cut off" in done.err

    def test_without_a_login_it_is_said_how_to_log_in(self, bench: Bench) -> None:
        done = bench.rook([], "run", "--agent", "droid", "Go")
        assert done.code == 1, done.err
        assert "to log in:  droid, then /login" in done.err

    def test_a_command_line_of_the_user_s(self, bench: Bench) -> None:
        command = ["droid", "exec", "-m", "custom:m", "Hi"]
        done = bench.rook([Reply(text="Hello.")], "exec", "--", *command)
        assert done.code == 0, done.err
        assert "[rook] added: --output-format stream-json" in done.err
        assert done.lines[0] == '"Hello."'
