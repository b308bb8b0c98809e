"""The real Cline, run by `rook run` against a scripted model on loopback: no key, no network.

`make conformance` installs it into .cache and passes its place in ROOK_TEST_CLINE.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nightrook.testing import Answer, Cut, Failure, Reply, ScriptedChatApi, mcp_command
from tests.conformance.bench import Bench
from tests.conformance.headless import USAGE, Headless, ReadScenario
from tests.conformance.scenarios import scenario

CLINE = os.environ.get("ROOK_TEST_CLINE", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not CLINE, reason="ROOK_TEST_CLINE is not set"),
]


def prepare(home: Path, url: str) -> Mapping[str, str]:
    """Set Cline up with a provider of the user's own, as `cline auth` does."""
    variables = {"CLINE_NO_AUTO_UPDATE": "1", "DO_NOT_TRACK": "1"}
    words = ["auth", "-p", "openai", "-k", "made-up-key-0123456789", "-m", "m", "-b", f"{url}/v1"]
    environment = {
        "PATH": os.pathsep.join([str(Path(CLINE).parent), os.environ["PATH"]]),
        "HOME": str(home),
        "CLINE_SESSION_BACKEND_MODE": "local",
        **variables,
    }
    subprocess.run([CLINE, *words], env=environment, check=True, capture_output=True)
    program, *arguments = mcp_command()
    settings = home / ".cline" / "data" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    servers = {"mcpServers": {"tiny": {"command": program, "args": arguments}}}
    (settings / "cline_mcp_settings.json").write_text(json.dumps(servers), encoding="utf-8")
    return variables


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path, CLINE, ScriptedChatApi, prepare)
    subprocess.run(["git", "init", "-q"], cwd=bench.project, check=True)
    return bench


def shell(*commands: str) -> tuple[str, dict[str, Any]]:
    return "run_commands", {"commands": list(commands)}


class TestCline(ReadScenario):
    agent = Headless(
        name="cline",
        shell=shell,
        read=lambda path: ("read_files", {"files": [{"path": str(path)}]}),
        edit=lambda path, old, new: (
            "editor",
            {"path": str(path), "old_text": old, "new_text": new},
        ),
        write=lambda path, text: ("editor", {"path": str(path), "new_text": text}),
        mcp="tiny__{}",
        free=(),
        may_edit=(),
        passing=Failure(429),
    )

    @scenario("parallel tools", but="its calls run one after another")
    def test_parallel_tools(self, bench: Bench) -> None:
        super().test_parallel_tools(bench)

    def test_a_prompt_of_one_word(self, bench: Bench) -> None:
        done = self.run(bench, [Reply(text="Gone.")], "Go")
        assert done.code == 0, done.err
        assert bench.asked[0]["messages"][-1]["content"] == "Go"

    @scenario("denied")
    def test_a_call_that_nobody_can_approve(self, bench: Bench) -> None:
        script = [Reply(tools=[shell("echo x > x")]), Reply(text="I could not.")]
        done = self.run(bench, script, "Work", "--", "--auto-approve", "false")
        assert done.code == 4, done.err
        assert done.lines[1] == "DENIED: run_commands: echo x > x (allow it: --permission all)"
        assert not (bench.project / "x").exists()

    def test_plan(self, bench: Bench) -> None:
        create = {"path": str(bench.project / "b.txt"), "new_text": "x\n"}
        script = [Reply(tools=[("editor", create)]), Reply(text="A plan.")]
        done = self.run(bench, script, "--permission", "plan", "Plan")
        assert done.code == 4, done.err
        assert not (bench.project / "b.txt").exists()

    @scenario("subagent")
    def test_subagent(self, bench: Bench) -> None:
        task = {"systemPrompt": "You are a child.", "task": "CHILD: do it"}

        def answer(request: dict[str, Any]) -> Answer:
            said = json.dumps(request["messages"])
            if '"role": "tool"' in said:
                return Reply(text="Parent done.", usage=USAGE)
            if "You are a child." in said:
                return Reply(text="Child result.", usage=USAGE)
            return Reply(tools=[("spawn_agent", task)], usage=USAGE)

        told = self.report(bench, answer, "Delegate")
        assert (told["status"], told["text"]) == ("success", "Parent done.")
        assert told["tokens"]["output"] == 300

    @scenario("budget stop", but="it names its model only when the run has ended")
    def test_a_budget_that_cannot_hold_is_refused(self, bench: Bench) -> None:
        done = self.run(bench, [], "--max-cost", "0.5", "Spend")
        assert (done.code, bench.asked) == (2, []), done.err
        assert "cline reports its model only when the run has ended" in done.err

    @scenario("resume", but="it resumes sessions only in a terminal, and rook says so")
    def test_a_resumed_run_remembers(self, bench: Bench) -> None:
        first = self.report(bench, [Reply(text="One.")], "First prompt")
        done = self.run(bench, [], "--resume", Path(first["file"]).name, "Second prompt")
        assert (done.code, bench.asked) == (2, []), done.err

    def test_a_stream_that_breaks_off_is_not_a_success(self, bench: Bench) -> None:
        done = self.run(bench, [Cut(after_events=2, how="close")] * 8, "Go")
        assert done.code == 1, done.err

    def test_a_command_line_of_the_user_s(self, bench: Bench) -> None:
        done = bench.rook([Reply(text="Hello.")], "exec", "--", "cline", "Say hi")
        assert done.code == 0, done.err
        assert "[rook] added: --json" in done.err
        assert done.lines[0] == '"Hello."'
