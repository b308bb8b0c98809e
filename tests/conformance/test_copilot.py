"""The real GitHub Copilot CLI, run by `rook run` against a scripted model: no key, no network.

`make conformance` installs it into .cache and tells where in ROOKERY_TEST_COPILOT.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rookery.testing import Answer, Cut, Failure, Reply, ScriptedChatApi, mcp_command
from tests.conformance.bench import Bench
from tests.conformance.scenarios import scenario

COPILOT = os.environ.get("ROOKERY_TEST_COPILOT", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not COPILOT, reason="ROOKERY_TEST_COPILOT is not set"),
]

RUN = ("run", "--agent", "copilot")
FREE = (*RUN, "--permission", "all")


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


@scenario("text")
def test_text(bench: Bench) -> None:
    done = bench.rook([Reply(text="Hello there.")], *RUN, "Say hello")
    assert done.code == 0, done.err
    assert done.lines[0] == '"Hello there."'
    assert done.lines[-1] == "Complete (cost: $?)"


@scenario("reasoning")
def test_thoughts(bench: Bench) -> None:
    script = [Reply(thinking="Weighing it.", text="Done.")]
    done = bench.rook(script, *RUN, "--verbose", "Think about it")
    assert done.code == 0, done.err
    assert any("Weighing it." in line for line in done.lines)


@scenario("read")
def test_a_file_that_is_read(bench: Bench) -> None:
    file = bench.project / "a.txt"
    file.write_text("one\n")
    script = [Reply(tools=[("view", {"path": str(file)})]), Reply(text="It says one.")]
    done = bench.rook(script, *RUN, "Read it")
    assert done.code == 0, done.err
    assert done.lines[:2] == ["view: a.txt", '"It says one."']


@scenario("shell ok")
def test_a_command_that_succeeds(bench: Bench) -> None:
    script = [Reply(tools=[shell("echo one > a.txt; cat a.txt")]), Reply(text="Done.")]
    done = bench.rook(script, *FREE, "--verbose", "Work on it")
    assert done.code == 0, done.err
    assert done.lines[0] == "bash: echo one > a.txt; cat a.txt"
    assert any(line.startswith("  -> one") for line in done.lines)
    assert (bench.project / "a.txt").read_text() == "one\n"


@scenario("shell failing")
def test_a_command_that_fails(bench: Bench) -> None:
    script = [Reply(tools=[shell("echo bad; exit 3")]), Reply(text="It failed.")]
    done = bench.rook(script, *FREE, "--json", "Work on it")
    assert (done.code, done.told["tools"]["failed"]) == (0, 1), done.err


@scenario("edit")
def test_an_edit(bench: Bench) -> None:
    file, new = bench.project / "a.txt", bench.project / "b.txt"
    file.write_text("one\n")
    script = [
        Reply(tools=[("edit", {"path": str(file), "old_str": "one", "new_str": "two"})]),
        Reply(tools=[("create", {"path": str(new), "file_text": "new\n"})]),
        Reply(text="Edited."),
    ]
    done = bench.rook(script, *RUN, "--permission", "edit", "Edit it")
    assert done.code == 0, done.err
    assert "edit: a.txt" in done.lines
    assert "2 files +2 −1" in done.err
    assert (file.read_text(), new.read_text()) == ("two\n", "new\n")


@scenario("parallel tools")
def test_parallel_tools(bench: Bench) -> None:
    calls = [shell(f"sleep {n}; echo {n}") for n in (2, 1)]
    done = bench.rook([Reply(tools=calls), Reply(text="Ok.")], *FREE, "--json", "Race them")
    assert done.code == 0, done.err
    tools = {"started": 2, "finished": 2, "failed": 0, "denied": 0, "orphaned": 0}
    assert done.told["tools"] == tools


@scenario("denied")
def test_a_denial_and_the_rule_that_allows_it(bench: Bench) -> None:
    script = [Reply(tools=[shell("touch denied.txt")]), Reply(text="It was refused.")]
    done = bench.rook(script, *RUN, "Touch it")
    assert done.code == 4, done.err
    assert done.lines[1].startswith("DENIED: bash: touch denied.txt")
    assert not (bench.project / "denied.txt").exists()
    assert "--allow 'shell(touch)'" in done.err
    again = bench.rook(script, *RUN, "--allow", "shell(touch)", "Touch it")
    assert again.code == 0, again.err
    assert (bench.project / "denied.txt").exists()


def test_a_plan_changes_nothing(bench: Bench) -> None:
    script = [Reply(tools=[shell("touch a.txt")]), Reply(text="This is the plan.")]
    done = bench.rook(script, *RUN, "--permission", "plan", "Plan it")
    assert done.code == 4, done.err
    assert not (bench.project / "a.txt").exists()


@scenario("MCP tool")
def test_mcp_tools(bench: Bench) -> None:
    calls = [("tiny-echo", {"text": "hi"}), ("tiny-fail", {"text": "oh"})]
    done = bench.rook([Reply(tools=calls), Reply(text="Done.")], *FREE, "Call them")
    assert done.code == 0, done.err
    assert "tiny-echo: hi" in done.lines
    assert any(line.startswith("ERROR: ") for line in done.lines)


@scenario("subagent")
def test_a_subagent(bench: Bench) -> None:
    def model(request: dict[str, Any]) -> Answer:
        asked = json.dumps(request["messages"])
        if "Delegate it" not in asked:  # the subagent asks
            return Reply(text="The child is done.")
        if '"tool"' in asked:
            return Reply(text="The parent is done.")
        task = {"agent_type": "general-purpose", "description": "work", "prompt": "A child's task"}
        return Reply(tools=[("task", {**task, "name": "worker", "mode": "sync"})])

    done = bench.rook(model, *FREE, "--json", "Delegate it")
    assert (done.code, done.told["text"]) == (0, "The parent is done."), done.err


@scenario("API error for good")
def test_an_api_failure_is_a_failure(bench: Bench) -> None:
    done = bench.rook(lambda _: Failure(400, message="scripted"), *RUN, "Go on")
    assert done.code == 1, done.err
    assert "scripted" in done.lines[-1]
    assert "[rook] failed: " in done.err


def test_a_wrong_key(bench: Bench) -> None:
    done = bench.rook(lambda _: Failure(401), *RUN, "Go on")
    assert done.code == 1, done.err
    assert "to log in:  copilot login" in done.err


@scenario("retry then success")
def test_a_retry_that_succeeds(bench: Bench) -> None:
    script: list[Answer] = [Failure(500), Cut(after_events=2), Reply(text="Recovered.")]
    done = bench.rook(script, *RUN, "--json", "Go on")
    assert (done.code, done.told["text"]) == (0, "Recovered."), done.err


@scenario("Ctrl-C in mid tool")
def test_ctrl_c_in_mid_tool(bench: Bench) -> None:
    script = [Reply(tools=[shell("sleep 1000")])]
    done = bench.interrupt(script, *FREE, "Go on", at="bash: ")
    assert done.code == 130, done.err
    assert "in the middle of bash: sleep 1000" in done.err


@scenario("deadline")
def test_a_deadline(bench: Bench) -> None:
    done = bench.rook([Reply(tools=[shell("sleep 1000")])], *FREE, "--timeout", "15s", "Go on")
    assert done.code == 124, done.err


@scenario("budget stop", but="it reports no tokens, so rook refuses a limit on the cost")
def test_a_budget_is_refused(bench: Bench) -> None:
    done = bench.rook([], *RUN, "--max-cost", "1", "Spend it")
    assert done.code == 2, done.err
    assert "copilot does not report its tokens" in done.err


def test_what_it_cannot_do_is_refused(bench: Bench) -> None:
    done = bench.rook([], *RUN, "--max-turns", "3", "Go on")
    assert (done.code, "leave out --max-turns" in done.err) == (2, True)


@scenario("resume")
def test_a_resumed_run_remembers(bench: Bench) -> None:
    assert bench.rook([Reply(text="One.")], *RUN, "The first").code == 0
    done = bench.rook([Reply(text="Two.")], *RUN, "--json", "--resume", bench.last_run(), "Second")
    assert (done.code, done.told["text"]) == (0, "Two."), done.err
    assert "The first" in json.dumps(bench.asked[0]["messages"])


@scenario("huge output")
def test_huge_output(bench: Bench) -> None:
    script = [Reply(tools=[shell("yes 0123456789 | head -c 400000")]), Reply(text="Ok.")]
    done = bench.rook(script, *FREE, "--json", "Flood it")
    assert done.code == 0, done.err
    assert (done.told["text"], done.told["unreadable"]) == ("Ok.", 0)


@scenario("unicode")
def test_unicode(bench: Bench) -> None:
    said = "emoji 👩‍👧 日本語 \u2028 \u0085 end"
    script = [Reply(tools=[shell("printf 'caf\\303\\251 \\033[31m\\n'")]), Reply(text=said)]
    done = bench.rook(script, *FREE, "--json", "Grüße 日本")
    assert done.code == 0, done.err
    assert (done.told["text"], done.told["unreadable"]) == (said, 0)
    assert "\x1b" not in bench.rook([], "show").out


def test_a_long_prompt(bench: Bench) -> None:
    file = bench.home / "prompt.txt"
    file.write_text("ü" * 70_000, encoding="utf-8")
    done = bench.rook([Reply(text="Long.")], *RUN, "--prompt-file", str(file))
    assert done.code == 0, done.err
    assert "ü" * 70_000 in json.dumps(bench.asked[0]["messages"], ensure_ascii=False)
