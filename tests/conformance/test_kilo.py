"""The real Kilo CLI, run by `rook run` against a scripted model on loopback: no key, no network.

`make conformance` installs it into .cache and tells where in ROOKERY_TEST_KILO.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rookery.testing import Answer, Failure, Reply, Script, ScriptedChatApi, mcp_command
from tests.conformance.bench import PATIENCE_S, Bench, Outcome
from tests.conformance.scenarios import scenario

KILO = os.environ.get("ROOKERY_TEST_KILO", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not KILO, reason="ROOKERY_TEST_KILO is not set"),
]

ALL = ("--permission", "all")  # by default, it asks for most commands
PRICES = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}


class KiloBench(Bench):
    """A repository with an `kilo.json`, and all that Kilo CLI would fetch turned off."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, KILO, ScriptedChatApi, self._configure)
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        self.settings: dict[str, Any] = {}
        """What `kilo.json` says beside the model."""
        self.prices: Mapping[str, float] = PRICES

    def run(self, script: Script, *words: str) -> Outcome:
        """Call `rook run` with the agent."""
        return self.rook(script, "run", "--agent", "kilo", *words)

    def told(self, script: Script, *words: str) -> dict[str, Any]:
        """Give what `rook run --json` tells."""
        done = self.run(script, "--json", *words)
        assert done.out, done.err
        return done.told

    def _configure(self, home: Path, url: str) -> Mapping[str, str]:
        model = {"name": "m", "limit": {"context": 200_000, "output": 8_000}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{url}/v1", "apiKey": "made-up"},
            "models": {"m": {**model, **({"cost": self.prices} if self.prices else {})}},
        }
        told = {"model": "scripted/m", "small_model": "scripted/m", "share": "disabled"}
        config = {**told, "provider": {"scripted": provider}, **self.settings}
        (self.project / "kilo.json").write_text(json.dumps(config))
        return {
            "PWD": str(home),  # a shell's, which is not where the agent shall work
            "KILO_DISABLE_AUTOUPDATE": "1",
            "KILO_DISABLE_DEFAULT_PLUGINS": "1",
            "KILO_DISABLE_LSP_DOWNLOAD": "1",
            "KILO_DISABLE_MODELS_FETCH": "1",
            "KILO_DISABLE_CODEBASE_INDEXING": "1",
            "KILO_DISABLE_PRESENCE": "1",
            "KILO_DISABLE_SESSION_INGEST": "1",
            "KILO_TELEMETRY_LEVEL": "off",
        }


@pytest.fixture
def bench(tmp_path: Path) -> KiloBench:
    return KiloBench(tmp_path)


def bash(command: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command, "description": "run it"}


def words_of(message: dict[str, Any]) -> str:
    """What a message says, without what Kilo CLI adds to a prompt: the time and the folder."""
    content = message["content"]
    return str(content if isinstance(content, str) else content[0]["text"])


def tools_of(request: dict[str, Any]) -> set[str]:
    return {tool["function"]["name"] for tool in request.get("tools", ())}


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@scenario("text")
def test_text(bench: KiloBench) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    done = bench.run([Reply(text="Hello there.", usage=usage)], 'Say "hello", twice')
    assert done.code == 0, done.err
    assert done.lines == ['"Hello there."', "Complete (cost: $0.0045)"]
    # The prompt is passed on word for word, and no request is made that nobody would see.
    prompts = [words_of(request["messages"][-1]) for request in bench.asked]
    assert prompts == ['Say "hello", twice']


def test_a_model_without_prices_is_not_free(bench: KiloBench) -> None:
    bench.prices = {}
    done = bench.run([Reply(text="Hello.")], "Say hello")
    assert done.code == 0, done.err
    assert done.lines[-1] == "Complete (cost: $?)"


@scenario("reasoning")
def test_reasoning(bench: KiloBench) -> None:
    usage = {"completion_tokens": 40, "reasoning_tokens": 12}
    reply = Reply(thinking="Six times seven.", text="42.", usage=usage)
    done = bench.run([reply], "-v", "Think")
    assert done.code == 0, done.err
    assert "(thinks) Six times seven." in done.lines
    told = bench.told([reply], "Think")
    assert told["tokens"]["output"] == 40


@scenario("read")
def test_read(bench: KiloBench) -> None:
    (bench.project / "a.txt").write_text("one\n")
    script = [Reply(tools=[("read", {"filePath": str(bench.project / "a.txt")})]), Reply(text="1")]
    done = bench.run(script, "Read it")
    assert done.code == 0, done.err
    assert done.lines[:2] == ["read: a.txt", '"1"']


@scenario("shell ok")
def test_shell_ok(bench: KiloBench) -> None:
    script = [Reply(tools=[bash("pwd > here; echo fine")]), Reply(text="Done.")]
    done = bench.run(script, "-v", "Work")
    assert done.code == 0, done.err
    assert done.lines[:2] == ["bash: pwd > here; echo fine", "  -> fine"]
    assert (bench.project / "here").read_text().strip() == str(bench.project)


@scenario("shell failing")
def test_shell_failing(bench: KiloBench) -> None:
    script = [Reply(tools=[bash("echo one; echo two; exit 3")]), Reply(text="It failed.")]
    done = bench.run(script, *ALL, "Work")
    assert done.code == 0, done.err
    assert done.lines[1:3] == ["ERROR: exit 3: one two", '"It failed."']


@scenario("edit")
def test_edit(bench: KiloBench) -> None:
    target = bench.project / "a.txt"
    target.write_text("one\n")
    edit = {"filePath": str(target), "oldString": "one", "newString": "two"}
    write = {"filePath": str(bench.project / "b.txt"), "content": "x\ny\n"}
    script = [
        Reply(tools=[("read", {"filePath": str(target)})]),
        Reply(tools=[("edit", edit)]),
        Reply(tools=[("write", write)]),
        Reply(text="Done."),
    ]
    done = bench.run(script, "--permission", "edit", "Edit")
    assert done.code == 0, done.err
    assert done.lines[1:5] == ["edit: a.txt", "  +1 −1", "write: b.txt", "  +2 −0"]
    assert target.read_text() == "two\n"
    # Who may only edit is not even offered a shell.
    offered = tools_of(bench.asked[0])
    assert {"read", "edit", "write"} <= offered
    assert not {"bash", "webfetch", "task"} & offered


@scenario("parallel tools")
def test_parallel_tools(bench: KiloBench) -> None:
    calls = [bash("sleep 1; echo slow"), bash("echo quick")]
    done = bench.run([Reply(tools=calls), Reply(text="Both.")], *ALL, "Work")
    assert done.code == 0, done.err
    assert sorted(done.lines[:2]) == [
        "bash: echo quick",
        "bash: sleep 1; echo slow",
    ]


@scenario("denied")
def test_denied_by_nobody_being_there(bench: KiloBench) -> None:
    bench.settings = {"permission": {"bash": "ask"}}
    script = [Reply(tools=[bash("echo asked > asked")]), Reply(text="Done.")]
    done = bench.run(script, "Work")
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
def test_denied_by_a_rule_and_a_rule_lets_it_pass(bench: KiloBench) -> None:
    bench.settings = {"permission": {"bash": {"*": "allow", "echo *": "deny"}}}
    script = [Reply(tools=[bash("echo asked")]), Reply(text="I could not.")]
    done = bench.run(script, "Work")
    assert done.code == 4, done.err
    assert done.lines[1:3] == ["DENIED: bash: echo asked", '"I could not."']
    done = bench.run(script, "--allow", "bash(echo asked)", "Work")
    assert done.code == 0, done.err


def test_a_narrow_rule_leaves_the_user_s_settings_in_force(bench: KiloBench) -> None:
    bench.settings = {"permission": {"bash": "ask"}}
    script = [Reply(tools=[bash("echo asked > asked")]), Reply(text="Done.")]
    done = bench.run(script, "--allow", "bash(git *)", "Work")
    assert done.code == 4, done.err
    assert not (bench.project / "asked").exists()


def test_who_may_edit_may_though_the_settings_ask(bench: KiloBench) -> None:
    bench.settings = {"permission": {"edit": "ask", "bash": "ask"}}
    write = {"filePath": str(bench.project / "b.txt"), "content": "x\n"}
    script = [Reply(tools=[("write", write)]), Reply(text="Done.")]
    done = bench.run(script, "--permission", "edit", "Edit")
    assert done.code == 0, done.err
    assert (bench.project / "b.txt").exists()
    assert "bash" not in tools_of(bench.asked[0])


def test_plan(bench: KiloBench) -> None:
    write = {"filePath": str(bench.project / "b.txt"), "content": "x\n"}
    script = [Reply(tools=[("write", write)]), Reply(text="A plan.")]
    done = bench.run(script, "--permission", "plan", "Plan")
    assert done.code == 4, done.err
    assert not (bench.project / "b.txt").exists()


@scenario("MCP tool")
def test_mcp_tool(bench: KiloBench) -> None:
    bench.settings = {"mcp": {"tiny": {"type": "local", "command": mcp_command()}}}
    script = [
        Reply(tools=[("tiny_echo", {"text": "hi"})]),
        Reply(tools=[("tiny_fail", {"text": "no"})]),
        Reply(tools=[("tiny_image", {})]),
        Reply(text="Done."),
    ]
    done = bench.run(script, "-v", "Use it")
    assert done.code == 0, done.err
    assert done.lines[:5] == [
        "tiny_echo: hi",
        "  -> echo: hi",
        "tiny_fail: no",
        "ERROR: it failed: no",
        "tiny_image",
    ]


@scenario("subagent")
def test_subagent(bench: KiloBench) -> None:
    task = {"description": "kid", "prompt": "CHILD: do it", "subagent_type": "general"}

    def answer(request: dict[str, Any]) -> Answer:
        said = json.dumps(request["messages"])
        if "task_result" in said:
            return Reply(text="Parent done.")
        if words_of(request["messages"][-1]) == "CHILD: do it":
            return Reply(text="Child result.")
        return Reply(tools=[("task", task)])

    done = bench.run(answer, "-v", "Delegate")
    assert done.code == 0, done.err
    assert done.lines[:3] == [
        "task: kid",
        "  -> Child result.",
        '"Parent done."',
    ]


@scenario("API error for good")
def test_api_error_for_good(bench: KiloBench) -> None:
    done = bench.run(lambda _: Failure(401, message="scripted refusal"), "Go")
    assert done.code == 1
    assert done.lines == ["ERROR: scripted refusal", "FAILED: scripted refusal"]
    assert "[rook] failed: scripted refusal" in done.err


@scenario("retry then success")
def test_retry_then_success(bench: KiloBench) -> None:
    script: list[Answer] = [
        Failure(429, headers={"retry-after-ms": "50"}),
        Reply(text="Recovered."),
    ]
    done = bench.run(script, "Go")
    assert done.code == 0, done.err
    assert done.lines[0] == '"Recovered."'
    assert len(bench.asked) == 2


@scenario("Ctrl-C in mid tool")
def test_ctrl_c_in_mid_tool(bench: KiloBench) -> None:
    begun = bench.project / "begun"
    script = [Reply(tools=[bash("echo $$ > begun; exec sleep 120")])] * 3
    done = bench.interrupt(script, "run", "--agent", "kilo", *ALL, "Go", at=begun)
    assert done.code == 130, done.err
    assert "[rook] interrupted" in done.err
    assert not is_alive(int(begun.read_text()))


@scenario("deadline")
def test_deadline(bench: KiloBench) -> None:
    done = bench.run([Reply(text="Late.", delay=PATIENCE_S)], "--timeout", "15s", "Go")
    assert done.code == 124, done.err
    assert "[rook] timed out" in done.err  # it has not said a word by then


@scenario("budget stop")
def test_budget_stop(bench: KiloBench) -> None:
    def spend(request: dict[str, Any]) -> Answer:
        usage = {"prompt_tokens": 100_000, "completion_tokens": 5_000}
        return Reply(tools=[bash(f"echo {len(request['messages'])}")], usage=usage)

    done = bench.run(spend, *ALL, "--max-cost", "0.5", "Spend")
    assert done.code == 5, done.err
    assert "[rook] over budget" in done.err


@scenario("resume")
def test_resume(bench: KiloBench) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 0}
    first = bench.told([Reply(text="One.", usage=usage)], "First prompt")
    name = Path(first["file"]).name
    second = bench.told([Reply(text="Two.", usage=usage)], "--resume", name, "Second prompt")
    assert second["text"] == "Two."
    said = [words_of(message) for message in bench.asked[0]["messages"][-3:]]
    assert said == ["First prompt", "One.", "Second prompt"]
    # Each process tells its own steps.
    assert (first["cost_usd"], second["cost_usd"]) == (0.003, 0.003)


@scenario("huge output")
def test_huge_output(bench: KiloBench) -> None:
    command = "head -c 3000000 /dev/zero | tr '\\0' x | fold -w 99"
    script = [Reply(tools=[bash(command)]), Reply(text="y" * 400_000, piece=50_000)]
    told = bench.told(script, *ALL, "Flood")
    assert told["text"] == "y" * 400_000
    assert told["status"] == "success"


@scenario("unicode")
def test_unicode(bench: KiloBench) -> None:
    words = "Grüße 日本 👩‍👩‍👧 \u2028 sep \u0085 nel \x1b[31m esc"
    told = bench.told([Reply(text=words)], "Grüße 日本 👋")
    assert told["text"] == words
    assert words_of(bench.asked[0]["messages"][-1]) == "Grüße 日本 👋"


def test_a_command_line_of_the_user_s(bench: KiloBench) -> None:
    command = ["kilo", "run", "--title", "Hi", "Hi"]
    done = bench.rook([Reply(text="Hello.")], "exec", "--", *command)
    assert done.code == 0, done.err
    assert "[rook] added: --format json --thinking" in done.err
    assert done.lines[0] == '"Hello."'


def test_a_wrong_flag_is_no_start(bench: KiloBench) -> None:
    done = bench.run([], "Go", "--", "--no-such-flag")
    assert (done.code, done.lines) == (9, []), done.err


def test_a_tool_that_a_rule_forbids_is_a_denial(bench: KiloBench) -> None:
    bench.settings = {"permission": {"bash": "deny"}}
    done = bench.run([Reply(tools=[bash("true")]), Reply(text="I could not.")], "Work on it")
    assert done.code == 4, done.err
    assert "denied: 1 tool call was not permitted" in done.err
