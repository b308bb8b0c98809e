"""The real Goose, run by `rook run` against a scripted model on loopback: no key, no network.

`make conformance` installs it into .cache and tells where in ROOK_TEST_GOOSE.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nightrook.testing import Answer, Cut, Failure, Reply, ScriptedChatApi, mcp_command
from tests.conformance.bench import Bench
from tests.conformance.headless import USAGE, Headless, HeadlessScenarios
from tests.conformance.scenarios import scenario

GOOSE = os.environ.get("ROOK_TEST_GOOSE", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not GOOSE, reason="ROOK_TEST_GOOSE is not set"),
]

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


class TestGoose(HeadlessScenarios):
    agent = Headless(
        name="goose",
        shell=shell,
        edit=lambda path, old, new: ("edit", {"path": str(path), "before": old, "after": new}),
        write=lambda path, text: ("write", {"path": str(path), "content": text}),
        mcp="tiny__{}",
        may_edit=("--permission", "all"),
        cost="$0.0035",
    )

    @scenario("denied")
    def test_a_denial_in_the_mode_that_plans(self, bench: Bench) -> None:
        script = [Reply(tools=[shell("touch denied.txt")]), Reply(text="I would touch it.")]
        done = self.run(bench, script, "--permission", "plan", "Touch it")
        assert done.code == 4, done.err
        assert done.lines[1].startswith("DENIED: shell: touch denied.txt")
        assert not (bench.project / "denied.txt").exists()
        assert "--permission all" in done.err

    def test_a_call_that_needs_approval_ends_the_run(self, bench: Bench) -> None:
        settings = {"GOOSE_MODE": "approve"}
        usual = bench._prepare
        bench._prepare = lambda home, url: {**usual(home, url), **settings}
        done = self.run(bench, [Reply(tools=[shell("touch denied.txt")])], "Touch it")
        assert done.code == 4, done.err
        assert "1 tool call was not permitted: Tool approval required" in done.err
        assert "--permission all" in done.err
        assert not (bench.project / "denied.txt").exists()

    def test_what_it_cannot_do_is_refused(self, bench: Bench) -> None:
        for words in (("--permission", "edit"), ("--allow", "shell")):
            done = self.run(bench, [], *words, "Go on")
            assert done.code == 2, done.err

    @scenario("subagent", but="it reports only the names of the tools that a subagent uses")
    def test_a_subagent(self, bench: Bench) -> None:
        def model(request: dict[str, Any]) -> Answer:
            asked = json.dumps(request["messages"])
            if "Delegate it" not in asked:  # the subagent asks
                return Reply(text="The child is done.", usage=USED)
            if '"tool"' in asked:
                return Reply(text="The parent is done.", usage=USED)
            return Reply(tools=[("delegate", {"instructions": "A child's task"})], usage=USED)

        done = self.run(bench, model, *self.agent.free, "--json", "Delegate it")
        assert (done.code, done.told["text"]) == (0, "The parent is done."), done.err
        assert done.told["tokens"]["input"] == 300  # with those of the subagent

    def test_a_wrong_key(self, bench: Bench) -> None:
        done = self.run(bench, lambda _: Failure(401), "Go on")
        assert done.code == 1, done.err
        assert "Authentication error" in done.err
        assert "to log in:  goose configure" in done.err

    def test_a_stream_that_breaks_is_no_success(self, bench: Bench) -> None:
        for how, code in (("reset", 1), ("close", 3), ("error", 1)):
            done = self.run(bench, [Cut(after_events=2, how=how)], "Go on")  # type: ignore[arg-type]
            assert done.code == code, done.err

    @scenario("budget stop", but="it reports no tokens before its end, so rook notices only then")
    def test_a_budget_is_noticed_at_the_end(self, bench: Bench) -> None:
        used = {"prompt_tokens": 5000, "completion_tokens": 5}
        done = self.run(
            bench, [Reply(text="Dear.", usage=used)], "--max-tokens", "1000", "Spend it"
        )
        assert done.code == 0, done.err  # the answer is whole, and nothing more is spent
        assert "over budget: done, but used 5005 tokens (limit 1000)" in done.err
        refused = self.run(bench, [], "--max-cost", "1", "Go on")
        assert refused.code == 2
        assert "reports its tokens only when the run has ended" in refused.err

    def test_its_own_cost_is_counted_once_over_a_resume(self, bench: Bench) -> None:
        first = self.report(bench, [Reply(text="One.", usage=USAGE)], "First")
        resume = ("--resume", Path(first["file"]).name)
        second = self.report(bench, [Reply(text="Two.", usage=USAGE)], *resume, "Second")
        costs = [(told["cost_usd"], told["cost_source"]) for told in (first, second)]
        assert costs == [(0.0035, "native"), (0.0035, "native")]

    def test_a_limit_of_turns(self, bench: Bench) -> None:
        script = [Reply(tools=[shell(f"echo {n}")]) for n in range(9)]
        done = self.run(bench, script, *self.agent.free, "--max-turns", "2", "Go on")
        assert done.code == 5, done.err

    def test_a_long_prompt(self, bench: Bench) -> None:
        file = bench.home / "prompt.txt"
        file.write_text("ü" * 70_000, encoding="utf-8")
        done = self.run(bench, [Reply(text="Long.")], "--prompt-file", str(file))
        assert done.code == 0, done.err
        assert "ü" * 70_000 in json.dumps(bench.asked[0]["messages"], ensure_ascii=False)

    def test_without_a_provider_it_does_not_start(self, bench: Bench) -> None:
        bench._prepare = lambda home, url: {"GOOSE_DISABLE_KEYRING": "1"}
        done = bench.rook([], "run", "--agent", "goose", "Go on")
        assert done.code == 9, done.err
        assert "error: No provider configured. Run 'goose configure' first." in done.err
