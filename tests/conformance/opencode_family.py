"""What OpenCode and Kilo CLI, which is a fork of it, have in common: settings, rules and tools."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nightrook.testing import Answer, Failure, Reply, ScriptedChatApi, mcp_command
from tests.conformance.bench import Bench
from tests.conformance.headless import Headless, ReadScenario
from tests.conformance.scenarios import scenario

PRICES = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}


class FamilyBench(Bench):
    """A repository with settings in `NAME.json`, and all that NAME would fetch turned off."""

    def __init__(self, folder: Path, name: str, program: str, off: Mapping[str, str]) -> None:
        super().__init__(folder, program, ScriptedChatApi, self._configure)
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        self._name = name
        self._off = off
        server = {"type": "local", "command": mcp_command()}
        self.settings: dict[str, Any] = {"mcp": {"tiny": server}}
        """What its settings have beside the model."""
        self.prices: Mapping[str, float] = PRICES

    def _configure(self, home: Path, url: str) -> Mapping[str, str]:
        model = {"name": "m", "limit": {"context": 200_000, "output": 8_000}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{url}/v1", "apiKey": "made-up"},
            "models": {"m": {**model, **({"cost": self.prices} if self.prices else {})}},
        }
        usual = {"model": "scripted/m", "small_model": "scripted/m", "share": "disabled"}
        config = {**usual, "provider": {"scripted": provider}, **self.settings}
        (self.project / f"{self._name}.json").write_text(json.dumps(config))
        # PWD is a shell's, which is not where the agent shall work.
        return {"PWD": str(home), **self._off}


def member(name: str) -> Headless:
    """An agent of the family."""
    return Headless(
        name=name,
        shell=lambda command: ("bash", {"command": command, "description": "run it"}),
        read=lambda path: ("read", {"filePath": str(path)}),
        edit=lambda path, old, new: (
            "edit",
            {"filePath": str(path), "oldString": old, "newString": new},
        ),
        write=lambda path, text: ("write", {"filePath": str(path), "content": text}),
        mcp="tiny_{}",
        cost="$0.0045",
        passing=Failure(429, headers={"retry-after-ms": "50"}),
    )


def words_of(message: dict[str, Any]) -> str:
    """What a message says, without what Kilo CLI adds to a prompt: the time and the folder."""
    content = message["content"]
    return str(content if isinstance(content, str) else content[0]["text"])


def tools_of(request: dict[str, Any]) -> set[str]:
    """The names of the tools that a request offers to the model."""
    return {tool["function"]["name"] for tool in request.get("tools", ())}


class FamilyScenarios(ReadScenario):
    """What only agents of the family go through."""

    def test_a_model_without_prices_is_not_free(self, bench: FamilyBench) -> None:
        bench.prices = {}
        done = self.run(bench, [Reply(text="Hello.")], "Say hello")
        assert done.code == 0, done.err
        assert done.lines[-1] == "Complete (cost: $?)"

    @scenario("denied")
    def test_denied_by_nobody_being_there(self, bench: FamilyBench) -> None:
        bench.settings = {"permission": {"bash": "ask"}}
        script = [Reply(tools=[self.agent.shell("echo asked > asked")]), Reply(text="Done.")]
        done = self.run(bench, script, "Work")
        assert done.code == 4, done.err
        line = "DENIED: bash: echo asked > asked (allow it: --permission all)"
        assert done.lines[1] == line
        assert "[rook] denied: it stopped at a tool call that was not permitted" in done.err
        run = bench.last_run()
        assert f'allow it: rook run --resume {run} --permission all "…"' in done.err
        assert not (bench.project / "asked").exists()
        done = bench.rook(script, "run", "--resume", run, "--permission", "all", "Work")
        assert done.code == 0, done.err
        assert (bench.project / "asked").exists()

    @scenario("denied")
    def test_denied_by_a_rule_and_a_rule_lets_it_pass(self, bench: FamilyBench) -> None:
        bench.settings = {"permission": {"bash": {"*": "allow", "echo *": "deny"}}}
        script = [Reply(tools=[self.agent.shell("echo asked")]), Reply(text="I could not.")]
        done = self.run(bench, script, "Work")
        assert done.code == 4, done.err
        assert done.lines[1:3] == ["DENIED: bash: echo asked", '"I could not."']
        done = self.run(bench, script, "--allow", "bash(echo asked)", "Work")
        assert done.code == 0, done.err

    def test_a_narrow_rule_leaves_the_user_s_settings_in_force(self, bench: FamilyBench) -> None:
        bench.settings = {"permission": {"bash": "ask"}}
        script = [Reply(tools=[self.agent.shell("echo asked > asked")]), Reply(text="Done.")]
        done = self.run(bench, script, "--allow", "bash(git *)", "Work")
        assert done.code == 4, done.err
        assert not (bench.project / "asked").exists()

    def test_who_may_edit_may_though_the_settings_ask(self, bench: FamilyBench) -> None:
        bench.settings = {"permission": {"edit": "ask", "bash": "ask"}}
        write = {"filePath": str(bench.project / "b.txt"), "content": "x\n"}
        script = [Reply(tools=[("write", write)]), Reply(text="Done.")]
        done = self.run(bench, script, "--permission", "edit", "Edit")
        assert done.code == 0, done.err
        assert (bench.project / "b.txt").exists()
        assert "bash" not in tools_of(bench.asked[0])

    def test_plan(self, bench: FamilyBench) -> None:
        write = {"filePath": str(bench.project / "b.txt"), "content": "x\n"}
        script = [Reply(tools=[("write", write)]), Reply(text="A plan.")]
        done = self.run(bench, script, "--permission", "plan", "Plan")
        assert done.code == 4, done.err
        assert not (bench.project / "b.txt").exists()

    @scenario("subagent")
    def test_subagent(self, bench: FamilyBench) -> None:
        task = {"description": "kid", "prompt": "CHILD: do it", "subagent_type": "general"}

        def answer(request: dict[str, Any]) -> Answer:
            said = json.dumps(request["messages"])
            if "task_result" in said:
                return Reply(text="Parent done.")
            if words_of(request["messages"][-1]) == "CHILD: do it":
                return Reply(text="Child result.")
            return Reply(tools=[("task", task)])

        done = self.run(bench, answer, "-v", "Delegate")
        assert done.code == 0, done.err
        assert done.lines[:3] == [
            "task: kid",
            "  -> Child result.",
            '"Parent done."',
        ]

    @scenario("budget stop")
    def test_budget_stop(self, bench: FamilyBench) -> None:
        def spend(request: dict[str, Any]) -> Answer:
            usage = {"prompt_tokens": 100_000, "completion_tokens": 5_000}
            return Reply(tools=[self.agent.shell(f"echo {len(request['messages'])}")], usage=usage)

        done = self.run(bench, spend, *self.agent.free, "--max-cost", "0.5", "Spend")
        assert done.code == 5, done.err
        assert "[rook] over budget" in done.err

    def test_a_command_line_of_the_user_s(self, bench: FamilyBench) -> None:
        command = [self.agent.name, "run", "--title", "Hi", "Hi"]
        done = bench.rook([Reply(text="Hello.")], "exec", "--", *command)
        assert done.code == 0, done.err
        assert "[rook] added: --format json --thinking" in done.err
        assert done.lines[0] == '"Hello."'

    def test_a_tool_that_a_rule_forbids_is_a_denial(self, bench: FamilyBench) -> None:
        bench.settings = {"permission": {"bash": "deny"}}
        done = self.run(
            bench,
            [Reply(tools=[self.agent.shell("true")]), Reply(text="I could not.")],
            "Work on it",
        )
        assert done.code == 4, done.err
        assert "denied: 1 tool call was not permitted" in done.err
