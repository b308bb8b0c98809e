"""The real Cline, run by `rook run` against a scripted model on loopback: no key, no network.

`make conformance` installs it into .cache and passes its place in ROOKERY_TEST_CLINE.
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

CLINE = os.environ.get("ROOKERY_TEST_CLINE", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not CLINE, reason="ROOKERY_TEST_CLINE is not set"),
]

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100}
RUN = ("run", "--agent", "cline")


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


class ClineBench(Bench):
    """A repository, and a home with a provider of the user's own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, CLINE, ScriptedChatApi, prepare)
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
def bench(tmp_path: Path) -> ClineBench:
    return ClineBench(tmp_path)


def shell(*commands: str) -> tuple[str, dict[str, Any]]:
    return "run_commands", {"commands": list(commands)}


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@scenario("text")
def test_text(bench: ClineBench) -> None:
    done = bench.run([Reply(text="Hello there.", usage=USAGE)], 'Say "hello", twice')
    assert done.code == 0, done.err
    assert done.lines == ['"Hello there."', "Complete (cost: $?)"]
    prompts = [request["messages"][-1]["content"] for request in bench.asked]
    assert prompts == ['Say "hello", twice']
    assert "left running" not in done.err  # no daemon stays behind


def test_a_prompt_of_one_word(bench: ClineBench) -> None:
    done = bench.run([Reply(text="Gone.")], "Go")
    assert done.code == 0, done.err
    assert bench.asked[0]["messages"][-1]["content"] == "Go"


@scenario("reasoning")
def test_reasoning(bench: ClineBench) -> None:
    done = bench.run([Reply(thinking="Six times seven.", text="42.")], "-v", "Think")
    assert done.code == 0, done.err
    assert "(thinks) Six times seven." in done.lines


@scenario("read")
def test_read(bench: ClineBench) -> None:
    (bench.project / "a.txt").write_text("one\n")
    files = [{"path": str(bench.project / "a.txt")}]
    script = [Reply(tools=[("read_files", {"files": files})]), Reply(text="1")]
    done = bench.run(script, "Read it")
    assert done.code == 0, done.err
    assert done.lines[:2] == ["read_files: a.txt", '"1"']


@scenario("shell ok")
def test_shell_ok(bench: ClineBench) -> None:
    script = [Reply(tools=[shell("pwd > here; echo fine")]), Reply(text="Done.")]
    done = bench.run(script, "-v", "Work")
    assert done.code == 0, done.err
    assert done.lines[0] == "run_commands: pwd > here; echo fine"
    assert done.lines[1].startswith("  -> fine")
    assert (bench.project / "here").read_text().strip() == str(bench.project)


@scenario("shell failing")
def test_shell_failing(bench: ClineBench) -> None:
    script = [Reply(tools=[shell("echo one; echo two; exit 3")]), Reply(text="It failed.")]
    done = bench.run(script, "Work")
    assert done.code == 0, done.err
    assert done.lines[1:3] == ["ERROR: exit 3: one two", '"It failed."']


@scenario("edit")
def test_edit(bench: ClineBench) -> None:
    target = bench.project / "a.txt"
    target.write_text("one\n")
    edit = {"path": str(target), "old_text": "one", "new_text": "two"}
    create = {"path": str(bench.project / "b.txt"), "new_text": "x\ny\n"}
    script = [
        Reply(tools=[("editor", edit)]),
        Reply(tools=[("editor", create)]),
        Reply(text="Done."),
    ]
    done = bench.run(script, "Edit")
    assert done.code == 0, done.err
    assert done.lines[:4] == ["editor: a.txt", "  +1 −1", "editor: b.txt", "  +2 −0"]
    assert target.read_text() == "two\n"


@scenario("parallel tools", but="its calls run one after another")
def test_parallel_tools(bench: ClineBench) -> None:
    calls = [shell("sleep 1; echo slow"), shell("echo quick")]
    told = bench.told([Reply(tools=calls), Reply(text="Both.")], "Work")
    assert (told["status"], told["tools"]["finished"]) == ("success", 2)


@scenario("denied")
def test_a_call_that_nobody_can_approve(bench: ClineBench) -> None:
    script = [Reply(tools=[shell("echo x > x")]), Reply(text="I could not.")]
    done = bench.run(script, "Work", "--", "--auto-approve", "false")
    assert done.code == 4, done.err
    assert done.lines[1] == "DENIED: run_commands: echo x > x (allow it: --permission all)"
    assert not (bench.project / "x").exists()


def test_plan(bench: ClineBench) -> None:
    create = {"path": str(bench.project / "b.txt"), "new_text": "x\n"}
    script = [Reply(tools=[("editor", create)]), Reply(text="A plan.")]
    done = bench.run(script, "--permission", "plan", "Plan")
    assert done.code == 4, done.err
    assert not (bench.project / "b.txt").exists()


@scenario("MCP tool")
def test_mcp_tool(bench: ClineBench) -> None:
    script = [
        Reply(tools=[("tiny__echo", {"text": "hi"})]),
        Reply(tools=[("tiny__fail", {"text": "no"})]),
        Reply(text="Done."),
    ]
    done = bench.run(script, "-v", "Use it")
    assert done.code == 0, done.err
    assert done.lines[1].startswith("  -> echo: hi")
    assert "it failed: no" in done.lines[3]


@scenario("subagent")
def test_subagent(bench: ClineBench) -> None:
    task = {"systemPrompt": "You are a child.", "task": "CHILD: do it"}

    def answer(request: dict[str, Any]) -> Answer:
        said = json.dumps(request["messages"])
        if '"role": "tool"' in said:
            return Reply(text="Parent done.", usage=USAGE)
        if "You are a child." in said:
            return Reply(text="Child result.", usage=USAGE)
        return Reply(tools=[("spawn_agent", task)], usage=USAGE)

    told = bench.told(answer, "Delegate")
    assert (told["status"], told["text"]) == ("success", "Parent done.")
    assert told["tokens"]["output"] == 300


@scenario("API error for good")
def test_api_error_for_good(bench: ClineBench) -> None:
    done = bench.run(lambda _: Failure(401, message="scripted refusal"), "Go")
    assert done.code == 1
    assert done.lines == ["ERROR: scripted refusal", "FAILED: scripted refusal"]


@scenario("retry then success")
def test_retry_then_success(bench: ClineBench) -> None:
    script: list[Answer] = [Failure(429), Reply(text="Recovered.")]
    done = bench.run(script, "Go")
    assert done.code == 0, done.err
    assert done.lines[0] == '"Recovered."'


@scenario("Ctrl-C in mid tool")
def test_ctrl_c_in_mid_tool(bench: ClineBench) -> None:
    begun = bench.project / "begun"
    script = [Reply(tools=[shell("echo $$ > begun; exec sleep 120")])] * 3
    done = bench.interrupt(script, *RUN, "Go", at=begun)
    assert done.code == 130, done.err
    assert "[rook] interrupted" in done.err
    assert not is_alive(int(begun.read_text()))


@scenario("deadline")
def test_deadline(bench: ClineBench) -> None:
    done = bench.run([Reply(text="Late.", delay=PATIENCE_S)], "--timeout", "15s", "Go")
    assert done.code == 124, done.err
    assert "[rook] timed out" in done.err


@scenario("budget stop", but="it names its model only when the run has ended")
def test_a_budget_that_cannot_hold_is_refused(bench: ClineBench) -> None:
    done = bench.run([], "--max-cost", "0.5", "Spend")
    assert (done.code, bench.asked) == (2, []), done.err
    assert "cline reports its model only when the run has ended" in done.err


@scenario("resume", but="it resumes sessions only in a terminal, and rook says so")
def test_resume_is_refused(bench: ClineBench) -> None:
    first = bench.told([Reply(text="One.")], "First prompt")
    done = bench.run([], "--resume", Path(first["file"]).name, "Second prompt")
    assert (done.code, bench.asked) == (2, []), done.err


@scenario("huge output")
def test_huge_output(bench: ClineBench) -> None:
    command = "head -c 3000000 /dev/zero | tr '\\0' x | fold -w 99"
    script = [Reply(tools=[shell(command)]), Reply(text="y" * 400_000, piece=50_000)]
    told = bench.told(script, "Flood")
    assert (told["status"], told["text"]) == ("success", "y" * 400_000)


@scenario("unicode")
def test_unicode(bench: ClineBench) -> None:
    words = "Grüße 日本 👩‍👩‍👧 \u2028 sep \u0085 nel \x1b[31m esc"
    told = bench.told([Reply(text=words)], "Grüße 日本 👋")
    assert told["text"] == words
    assert bench.asked[0]["messages"][-1]["content"] == "Grüße 日本 👋"


def test_a_stream_that_breaks_off_is_not_a_success(bench: ClineBench) -> None:
    done = bench.run([Cut(after_events=2, how="close")] * 8, "Go")
    assert done.code == 1, done.err


def test_a_command_line_of_the_user_s(bench: ClineBench) -> None:
    done = bench.rook([Reply(text="Hello.")], "exec", "--", "cline", "Say hi")
    assert done.code == 0, done.err
    assert "[rook] added: --json" in done.err
    assert done.lines[0] == '"Hello."'


def test_a_wrong_flag_is_no_start(bench: ClineBench) -> None:
    done = bench.run([], "Go", "--", "--no-such-flag")
    assert (done.code, done.lines) == (9, []), done.err
