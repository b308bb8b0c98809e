"""The real GitHub Copilot CLI, run by `rook run` against a scripted model: no key, no network.

`make conformance` installs it into .cache and tells where in ROOK_TEST_COPILOT.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nightrook.testing import Answer, Cut, Failure, Reply, ScriptedChatApi, mcp_command
from tests.conformance.bench import Bench
from tests.conformance.headless import Headless, ReadScenario
from tests.conformance.scenarios import scenario

COPILOT = os.environ.get("ROOK_TEST_COPILOT", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not COPILOT, reason="ROOK_TEST_COPILOT is not set"),
]


def prepare(home: Path, url: str) -> Mapping[str, str]:
    """Tell Copilot where its model is, in a home of its own."""
    program, *words = mcp_command()
    tiny = {"type": "local", "command": program, "args": words, "tools": ["*"]}
    folder = home / ".copilot"
    folder.mkdir(exist_ok=True)
    (folder / "mcp-config.json").write_text(json.dumps({"mcpServers": {"tiny": tiny}}))
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_MODEL": "scripted",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": "made-up-key-of-some-length",
        "COPILOT_AUTO_UPDATE": "false",
    }


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache into which its first run unpacks the program, which takes seconds."""
    home = tmp_path_factory.mktemp("unpacked")
    path = os.pathsep.join([str(Path(COPILOT).parent), os.environ["PATH"]])
    subprocess.run(
        [COPILOT, "--version"],
        env={"HOME": str(home), "PATH": path, "COPILOT_AUTO_UPDATE": "false"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=240,
        check=True,
    )
    return home / ".cache"


@pytest.fixture
def bench(tmp_path: Path, unpacked: Path) -> Bench:
    bench = Bench(tmp_path, COPILOT, ScriptedChatApi, prepare)
    if unpacked.exists():
        shutil.copytree(unpacked, bench.home / ".cache", copy_function=os.link)
    return bench


def shell(command: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command, "description": "run it"}


class TestCopilot(ReadScenario):
    agent = Headless(
        name="copilot",
        shell=shell,
        read=lambda path: ("view", {"path": str(path)}),
        edit=lambda path, old, new: ("edit", {"path": str(path), "old_str": old, "new_str": new}),
        write=lambda path, text: ("create", {"path": str(path), "file_text": text}),
        mcp="tiny-{}",
    )

    @scenario("denied")
    def test_a_denial_and_the_rule_that_allows_it(self, bench: Bench) -> None:
        script = [Reply(tools=[shell("touch denied.txt")]), Reply(text="It was refused.")]
        done = self.run(bench, script, "Touch it")
        assert done.code == 4, done.err
        assert done.lines[1].startswith("DENIED: bash: touch denied.txt")
        assert not (bench.project / "denied.txt").exists()
        assert "--allow 'shell(touch)'" in done.err
        again = self.run(bench, script, "--allow", "shell(touch)", "Touch it")
        assert again.code == 0, again.err
        assert (bench.project / "denied.txt").exists()

    def test_a_plan_changes_nothing(self, bench: Bench) -> None:
        script = [Reply(tools=[shell("touch a.txt")]), Reply(text="This is the plan.")]
        done = self.run(bench, script, "--permission", "plan", "Plan it")
        assert done.code == 4, done.err
        assert not (bench.project / "a.txt").exists()

    @scenario("subagent")
    def test_a_subagent(self, bench: Bench) -> None:
        def model(request: dict[str, Any]) -> Answer:
            asked = json.dumps(request["messages"])
            if "Delegate it" not in asked:  # the subagent asks
                return Reply(text="The child is done.")
            if '"tool"' in asked:
                return Reply(text="The parent is done.")
            task = {
                "agent_type": "general-purpose",
                "description": "work",
                "prompt": "A child's task",
            }
            return Reply(tools=[("task", {**task, "name": "worker", "mode": "sync"})])

        done = self.run(bench, model, *self.agent.free, "--json", "Delegate it")
        assert (done.code, done.told["text"]) == (0, "The parent is done."), done.err

    def test_a_wrong_key(self, bench: Bench) -> None:
        done = self.run(bench, lambda _: Failure(401), "Go on")
        assert done.code == 1, done.err
        assert "to log in:  copilot login" in done.err

    @scenario("retry then success")
    def test_a_retry_that_succeeds(self, bench: Bench) -> None:
        script: list[Answer] = [Failure(500), Cut(after_events=2), Reply(text="Recovered.")]
        done = self.run(bench, script, "--json", "Go on")
        assert (done.code, done.told["text"]) == (0, "Recovered."), done.err

    @scenario("budget stop", but="it reports no tokens, so rook refuses a limit on the cost")
    def test_a_budget_is_refused(self, bench: Bench) -> None:
        done = self.run(bench, [], "--max-cost", "1", "Spend it")
        assert done.code == 2, done.err
        assert "copilot does not report its tokens" in done.err

    def test_what_it_cannot_do_is_refused(self, bench: Bench) -> None:
        done = self.run(bench, [], "--max-turns", "3", "Go on")
        assert (done.code, "leave out --max-turns" in done.err) == (2, True)

    def test_a_long_prompt(self, bench: Bench) -> None:
        file = bench.home / "prompt.txt"
        file.write_text("ü" * 70_000, encoding="utf-8")
        done = self.run(bench, [Reply(text="Long.")], "--prompt-file", str(file))
        assert done.code == 0, done.err
        assert "ü" * 70_000 in json.dumps(bench.asked[0]["messages"], ensure_ascii=False)
