"""The real OpenCode, run by `rook run` against a scripted model on loopback: no key, no network.

`make conformance` installs it into .cache and tells where in ROOKERY_TEST_OPENCODE.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rookery.testing import Answer, Failure, Reply, ScriptedChatApi, mcp_command
from tests.conformance.scenarios import scenario

OPENCODE = os.environ.get("ROOKERY_TEST_OPENCODE", "")
ROOK = Path(sys.executable).with_name("rook")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not OPENCODE, reason="ROOKERY_TEST_OPENCODE is not set"),
]

Script = Sequence[Answer] | Callable[[dict[str, Any]], Answer]
PRICES = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}
LONGEST_S = 240


class Bench:
    """A folder to work in, a home, and nothing else of this machine's environment."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        self.settings: dict[str, Any] = {}
        """What `opencode.json` says beside the model."""
        self.prices: Mapping[str, float] = PRICES
        self.asked: list[dict[str, Any]] = []
        """What the model was asked in the last call of rook."""
        self._home = folder / "home"
        self._home.mkdir()

    def configure(self, url: str) -> None:
        model = {"name": "m", "limit": {"context": 200_000, "output": 8_000}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{url}/v1", "apiKey": "made-up"},
            "models": {"m": {**model, **({"cost": self.prices} if self.prices else {})}},
        }
        told = {"model": "scripted/m", "small_model": "scripted/m", "share": "disabled"}
        config = {**told, "provider": {"scripted": provider}, **self.settings}
        (self.project / "opencode.json").write_text(json.dumps(config))

    def environment(self) -> Mapping[str, str]:
        return {
            "PATH": os.pathsep.join([str(Path(OPENCODE).parent), os.environ["PATH"]]),
            "HOME": str(self._home),
            "ROOKERY_HOME": str(self._home / "rookery"),
            "PWD": str(self._home),  # a shell's, which is not where the agent shall work
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
        }

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [ROOK, *words],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def rook(self, script: Script, *words: str) -> tuple[int, list[str], str]:
        """Call rook; give its exit code, the agent's lines, and what was said on stderr."""
        with ScriptedChatApi(script) as api:
            self.configure(api.url)
            with self.start(*words) as process:
                out, err = process.communicate(timeout=LONGEST_S)
            self.asked = api.requests
        lines = [line for line in out.split("\n") if line.startswith("[opencode]")]
        return process.returncode, lines, err

    def run(self, script: Script, *words: str) -> tuple[int, list[str], str]:
        return self.rook(script, "run", "--agent", "opencode", *words)

    def json(self, script: Script, *words: str) -> dict[str, Any]:
        """Call `rook run --json`; give what it tells."""
        with ScriptedChatApi(script) as api:
            self.configure(api.url)
            with self.start("run", "--agent", "opencode", "--json", *words) as process:
                out, err = process.communicate(timeout=LONGEST_S)
            self.asked = api.requests
        assert out, err
        told: dict[str, Any] = json.loads(out)
        return told


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def bash(command: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command, "description": "run it"}


def tools_of(request: dict[str, Any]) -> set[str]:
    return {tool["function"]["name"] for tool in request.get("tools", ())}


def wait_for(path: Path) -> str:
    """Wait until a file has something to say."""
    end = time.monotonic() + LONGEST_S
    while time.monotonic() < end:
        if path.exists() and (text := path.read_text().strip()):
            return text
        time.sleep(0.05)
    raise TimeoutError(f"{path.name} never came")


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@scenario("text")
def test_text(bench: Bench) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    code, lines, err = bench.run([Reply(text="Hello there.", usage=usage)], 'Say "hello", twice')
    assert code == 0, err
    assert lines == ['[opencode] "Hello there."', "[opencode] Complete (cost: $0.0045)"]
    # The prompt is passed on word for word, and no request is made that nobody would see.
    assert [request["messages"][-1]["content"] for request in bench.asked] == ['Say "hello", twice']


def test_a_model_without_prices_is_not_free(bench: Bench) -> None:
    bench.prices = {}
    code, lines, err = bench.run([Reply(text="Hello.")], "Say hello")
    assert code == 0, err
    assert lines[-1] == "[opencode] Complete (cost: $?)"


@scenario("reasoning")
def test_reasoning(bench: Bench) -> None:
    usage = {"completion_tokens": 40, "reasoning_tokens": 12}
    reply = Reply(thinking="Six times seven.", text="42.", usage=usage)
    code, lines, err = bench.run([reply], "-v", "Think")
    assert code == 0, err
    assert "[opencode] (thinks) Six times seven." in lines
    told = bench.json([reply], "Think")
    assert told["tokens"]["output"] == 40


@scenario("read")
def test_read(bench: Bench) -> None:
    (bench.project / "a.txt").write_text("one\n")
    script = [Reply(tools=[("read", {"filePath": str(bench.project / "a.txt")})]), Reply(text="1")]
    code, lines, err = bench.run(script, "Read it")
    assert code == 0, err
    assert lines[:2] == ["[opencode] read: a.txt", '[opencode] "1"']


@scenario("shell ok")
def test_shell_ok(bench: Bench) -> None:
    script = [Reply(tools=[bash("pwd > here; echo fine")]), Reply(text="Done.")]
    code, lines, err = bench.run(script, "-v", "Work")
    assert code == 0, err
    assert lines[:2] == ["[opencode] bash: pwd > here; echo fine", "[opencode]   -> fine"]
    assert (bench.project / "here").read_text().strip() == str(bench.project)


@scenario("shell failing")
def test_shell_failing(bench: Bench) -> None:
    script = [Reply(tools=[bash("echo one; echo two; exit 3")]), Reply(text="It failed.")]
    code, lines, err = bench.run(script, "Work")
    assert code == 0, err
    assert lines[1:3] == ["[opencode] ERROR: exit 3: one two", '[opencode] "It failed."']


@scenario("edit")
def test_edit(bench: Bench) -> None:
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
    code, lines, err = bench.run(script, "--permission", "edit", "Edit")
    assert code == 0, err
    assert lines[1:3] == ["[opencode] edit: a.txt", "[opencode] write: b.txt"]
    assert target.read_text() == "two\n"
    # Who may only edit is not even offered a shell.
    offered = tools_of(bench.asked[0])
    assert {"read", "edit", "write"} <= offered
    assert not {"bash", "webfetch", "task"} & offered


@scenario("parallel tools")
def test_parallel_tools(bench: Bench) -> None:
    calls = [bash("sleep 1; echo slow"), bash("echo quick")]
    code, lines, err = bench.run([Reply(tools=calls), Reply(text="Both.")], "Work")
    assert code == 0, err
    assert sorted(lines[:2]) == [
        "[opencode] bash: echo quick",
        "[opencode] bash: sleep 1; echo slow",
    ]


@scenario("denied")
def test_denied_by_nobody_being_there(bench: Bench) -> None:
    bench.settings = {"permission": {"bash": "ask"}}
    script = [Reply(tools=[bash("echo asked > asked")]), Reply(text="Done.")]
    code, lines, err = bench.run(script, "Work")
    assert code == 4, err
    assert lines[1] == "[opencode] DENIED: bash: echo asked > asked (allow it: '--auto')"
    assert "[rook] denied · it stopped at a tool call that was not permitted" in err
    assert not (bench.project / "asked").exists()
    code, lines, err = bench.run(script, "--permission", "all", "Work")
    assert code == 0, err
    assert (bench.project / "asked").exists()


@scenario("denied")
def test_denied_by_a_rule_and_a_rule_lets_it_pass(bench: Bench) -> None:
    bench.settings = {"permission": {"bash": {"*": "allow", "echo *": "deny"}}}
    script = [Reply(tools=[bash("echo asked")]), Reply(text="I could not.")]
    code, lines, err = bench.run(script, "Work")
    assert code == 4, err
    assert lines[1:3] == ["[opencode] DENIED: bash: echo asked", '[opencode] "I could not."']
    code, lines, err = bench.run(script, "--allow", "bash(echo asked)", "Work")
    assert code == 0, err


def test_plan(bench: Bench) -> None:
    write = {"filePath": str(bench.project / "b.txt"), "content": "x\n"}
    script = [Reply(tools=[("write", write)]), Reply(text="A plan.")]
    code, _, err = bench.run(script, "--permission", "plan", "Plan")
    assert code == 4, err
    assert not (bench.project / "b.txt").exists()


@scenario("MCP tool")
def test_mcp_tool(bench: Bench) -> None:
    bench.settings = {"mcp": {"tiny": {"type": "local", "command": mcp_command()}}}
    script = [
        Reply(tools=[("tiny_echo", {"text": "hi"})]),
        Reply(tools=[("tiny_fail", {"text": "no"})]),
        Reply(tools=[("tiny_image", {})]),
        Reply(text="Done."),
    ]
    code, lines, err = bench.run(script, "-v", "Use it")
    assert code == 0, err
    assert lines[:5] == [
        "[opencode] tiny_echo: hi",
        "[opencode]   -> echo: hi",
        "[opencode] tiny_fail: no",
        "[opencode] ERROR: it failed: no",
        "[opencode] tiny_image",
    ]


@scenario("subagent")
def test_subagent(bench: Bench) -> None:
    task = {"description": "kid", "prompt": "CHILD: do it", "subagent_type": "general"}

    def answer(request: dict[str, Any]) -> Answer:
        said = json.dumps(request["messages"])
        if "task_result" in said:
            return Reply(text="Parent done.")
        if request["messages"][-1]["content"] == "CHILD: do it":
            return Reply(text="Child result.")
        return Reply(tools=[("task", task)])

    code, lines, err = bench.run(answer, "-v", "Delegate")
    assert code == 0, err
    assert lines[:3] == [
        "[opencode] task: kid",
        "[opencode]   -> Child result.",
        '[opencode] "Parent done."',
    ]


@scenario("API error for good")
def test_api_error_for_good(bench: Bench) -> None:
    code, lines, err = bench.run(lambda _: Failure(401, message="scripted refusal"), "Go")
    assert code == 1
    assert lines == ["[opencode] ERROR: scripted refusal", "[opencode] FAILED: scripted refusal"]
    assert "[rook] failed · scripted refusal" in err


@scenario("retry then success")
def test_retry_then_success(bench: Bench) -> None:
    script: list[Answer] = [
        Failure(429, headers={"retry-after-ms": "50"}),
        Reply(text="Recovered."),
    ]
    code, lines, err = bench.run(script, "Go")
    assert code == 0, err
    assert lines[0] == '[opencode] "Recovered."'
    assert len(bench.asked) == 2


@scenario("Ctrl-C in mid tool")
def test_ctrl_c_in_mid_tool(bench: Bench) -> None:
    with ScriptedChatApi([Reply(tools=[bash("echo $$ > begun; exec sleep 120")])] * 3) as api:
        bench.configure(api.url)
        with bench.start("run", "--agent", "opencode", "Go") as process:
            command = int(wait_for(bench.project / "begun"))
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 130, err
    assert "[rook] interrupted" in err
    assert not is_alive(command)


@scenario("deadline")
def test_deadline(bench: Bench) -> None:
    code, _, err = bench.run([Reply(text="Late.", delay=LONGEST_S)], "--timeout", "15s", "Go")
    assert code == 124, err
    assert "[rook] timed out" in err  # it has not said a word by then


@scenario("budget stop")
def test_budget_stop(bench: Bench) -> None:
    def spend(request: dict[str, Any]) -> Answer:
        usage = {"prompt_tokens": 100_000, "completion_tokens": 5_000}
        return Reply(tools=[bash(f"echo {len(request['messages'])}")], usage=usage)

    code, _, err = bench.run(spend, "--max-cost", "0.5", "Spend")
    assert code == 5, err
    assert "[rook] over budget" in err


@scenario("resume")
def test_resume(bench: Bench) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 0}
    first = bench.json([Reply(text="One.", usage=usage)], "First prompt")
    name = Path(first["file"]).name
    second = bench.json([Reply(text="Two.", usage=usage)], "--resume", name, "Second prompt")
    assert second["text"] == "Two."
    said = [message["content"] for message in bench.asked[0]["messages"][-3:]]
    assert said == ["First prompt", "One.", "Second prompt"]
    # Each process tells its own steps.
    assert (first["cost_usd"], second["cost_usd"]) == (0.003, 0.003)


@scenario("huge output")
def test_huge_output(bench: Bench) -> None:
    command = "head -c 3000000 /dev/zero | tr '\\0' x | fold -w 99"
    script = [Reply(tools=[bash(command)]), Reply(text="y" * 400_000, piece=50_000)]
    told = bench.json(script, "Flood")
    assert told["text"] == "y" * 400_000
    assert told["status"] == "success"


@scenario("unicode")
def test_unicode(bench: Bench) -> None:
    words = "Grüße 日本 👩‍👩‍👧 \u2028 sep \u0085 nel \x1b[31m esc"
    told = bench.json([Reply(text=words)], "Grüße 日本 👋")
    assert told["text"] == words
    assert bench.asked[0]["messages"][-1]["content"] == "Grüße 日本 👋"


def test_a_command_line_of_the_user_s(bench: Bench) -> None:
    command = ["opencode", "run", "--title", "Hi", "Hi"]
    code, lines, err = bench.rook([Reply(text="Hello.")], "exec", "--", *command)
    assert code == 0, err
    assert "[rook] added: --format json --thinking" in err
    assert lines[0] == '[opencode] "Hello."'


def test_a_wrong_flag_is_no_start(bench: Bench) -> None:
    code, lines, err = bench.run([], "Go", "--", "--no-such-flag")
    assert (code, lines) == (9, []), err
