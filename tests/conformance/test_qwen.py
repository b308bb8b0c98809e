"""The real Qwen Code, run by `rook run` against a scripted model on loopback: no key, no network.

`make conformance` installs it into .cache and tells where in ROOK_TEST_QWEN.
"""

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from nightrook.testing import Answer, Cut, Failure, Reply, ScriptedChatApi, mcp_command
from tests.conformance.bench import Bench, Outcome
from tests.conformance.scenarios import scenario

QWEN = os.environ.get("ROOK_TEST_QWEN", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not QWEN, reason="ROOK_TEST_QWEN is not set"),
]

# What its own prompt begins with; 0.15.10 takes every run for an interactive one.
OURS = re.compile(r"You are Qwen Code, an? (?:non-)?interactive CLI agent")

RUN = ("run", "--agent", "qwen")
FREE = (*RUN, "--permission", "all")


def prepare(home: Path, url: str) -> Mapping[str, str]:
    """Tell Qwen Code where its model is, in a home of its own."""
    program, *words = mcp_command()
    folder = home / ".qwen"
    folder.mkdir(exist_ok=True)
    servers = {"tiny": {"command": program, "args": words, "trust": True}}
    (folder / "settings.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_KEY": "made-up-key",
        "OPENAI_MODEL": "scripted",
    }


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, QWEN, ScriptedChatApi, prepare)


def told(*answers: Answer) -> Callable[[dict[str, Any]], Answer]:
    """The answers in order; what Qwen asks for itself, as for its memory, is none of them.

    Whether a call that it may make is harmless, 0.24.4 asks in its `auto` mode; it always is.
    """
    left = iter(answers)

    def model(request: dict[str, Any]) -> Answer:
        if OURS.search(json.dumps(request["messages"][0])):
            return next(left, Reply(text="Nothing."))
        offered = [tool["function"]["name"] for tool in request.get("tools", ())]
        if offered == ["respond_in_schema"]:
            return Reply(tools=[("respond_in_schema", {"shouldBlock": False})])
        return Reply(text="Nothing.")

    return model


def shell(command: str) -> tuple[str, dict[str, Any]]:
    """A call that runs a command; what one writes that ends at once, 0.24.4 may lose."""
    given = {"command": command, "description": "run it", "is_background": False}
    return "run_shell_command", given


@scenario("text")
def test_text(bench: Bench) -> None:
    done = bench.rook(told(Reply(text="Hello there.")), *RUN, "Say hello")
    assert done.code == 0, done.err
    assert done.lines == ['"Hello there."', "Complete (cost: $?)"]


@scenario("reasoning")
def test_reasoning(bench: Bench) -> None:
    script = told(Reply(thinking="Weighing it.", text="Done."))
    done = bench.rook(script, *RUN, "--verbose", "Think about it")
    assert done.code == 0, done.err
    assert done.lines[:2] == ["(thinks) Weighing it.", '"Done."']


@scenario("read")
def test_a_file_that_is_read(bench: Bench) -> None:
    file = bench.project / "a.txt"
    file.write_text("one\n")
    script = told(Reply(tools=[("read_file", {"file_path": str(file)})]), Reply(text="One."))
    done = bench.rook(script, *RUN, "--verbose", "Read it")
    assert done.code == 0, done.err
    assert done.lines[0] == "read_file: a.txt"
    assert done.lines[1].startswith("  -> one")


@scenario("shell ok")
def test_a_command_that_succeeds(bench: Bench) -> None:
    command = "echo one > a.txt; cat a.txt; sleep 0.3"
    script = told(Reply(tools=[shell(command)]), Reply(text="Done."))
    done = bench.rook(script, *FREE, "--verbose", "Work on it")
    assert done.code == 0, done.err
    assert done.lines[0] == f"run_shell_command: {command}"
    assert done.lines[1].startswith("  -> one")
    assert (bench.project / "a.txt").read_text() == "one\n"


@scenario("shell failing", but="0.15.10 reports a failed command only if the command wrote nothing")
def test_a_command_that_fails_is_told_as_such_if_qwen_does(bench: Bench) -> None:
    bad = "echo bad; sleep 0.3; exit 3"
    script = told(Reply(tools=[shell(bad), shell("exit 4")]), Reply(text="Oh."))
    done = bench.rook(script, *FREE, "Work on it")
    assert done.code == 0, done.err
    assert done.lines[:2] == [f"run_shell_command: {bad}", "run_shell_command: exit 4"]
    old = version(bench) == "0.15.10"
    assert [line for line in done.lines if line.startswith("ERROR")] == (
        ["ERROR: exit 4: Command exited with code: 4"]
        if old
        else [f"ERROR: exit 3: bad (run_shell_command: {bad})", "ERROR: exit 4"]
    )


@scenario("edit")
def test_an_edit(bench: Bench) -> None:
    (bench.project / "a.txt").write_text("one\n")
    old = {"file_path": str(bench.project / "a.txt"), "old_string": "one", "new_string": "two"}
    new = {"file_path": str(bench.project / "b.txt"), "content": "new\n"}
    script = told(
        Reply(tools=[("read_file", {"file_path": old["file_path"]})]),
        Reply(tools=[("edit", old)]),
        Reply(tools=[("write_file", new)]),
        Reply(text="Edited."),
    )
    done = bench.rook(script, *RUN, "--permission", "edit", "Edit it")
    assert done.code == 0, done.err
    assert done.lines[1:3] == ["edit: a.txt", "write_file: b.txt"]
    assert (bench.project / "a.txt").read_text() == "two\n"
    assert (bench.project / "b.txt").read_text() == "new\n"


@scenario("parallel tools")
def test_parallel_tools(bench: Bench) -> None:
    calls = [shell(f"true {n}; echo {n}") for n in (2, 1)]
    done = bench.rook(told(Reply(tools=calls), Reply(text="Ok.")), *FREE, "--json", "Race them")
    assert done.code == 0, done.err
    tools = {"started": 2, "finished": 2, "failed": 0, "denied": 0, "orphaned": 0}
    assert done.told["tools"] == tools


@scenario("denied")
def test_a_denial(bench: Bench) -> None:
    script = told(Reply(tools=[shell("touch denied.txt")]), Reply(text="It was refused."))
    done = bench.rook(script, *RUN, "Touch it")
    assert done.code == 4, done.err
    line = "DENIED: run_shell_command: touch denied.txt (allow it: --permission all)"
    assert done.lines[1] == line
    assert not (bench.project / "denied.txt").exists()


def test_what_is_named_lets_a_denied_edit_pass(bench: Bench) -> None:
    file = bench.project / "b.txt"
    calls = [("write_file", {"file_path": str(file), "content": "new\n"})]

    def written(*words: str) -> Outcome:
        return bench.rook(told(Reply(tools=calls), Reply(text="Done.")), *words, "Write it")

    done = written(*RUN)
    assert done.lines[1] == "DENIED: write_file: b.txt (allow it: --permission edit)"
    run = bench.last_run()
    assert f'allow it: rook run --resume {run} --permission edit "…"' in done.err
    done = written("run", "--resume", run, "--permission", "edit")
    assert (done.code, file.read_text()) == (0, "new\n"), done.err


def test_an_allowed_tool(bench: Bench) -> None:
    script = told(Reply(tools=[shell("expr 6 + 7; sleep 0.3")]), Reply(text="Counted."))
    done = bench.rook(script, *RUN, "--verbose", "--allow", "run_shell_command", "Count")
    assert done.code == 0, done.err
    assert done.lines[1].startswith("  -> 13")


@scenario("MCP tool")
def test_mcp_tools(bench: Bench) -> None:
    calls = [("mcp__tiny__echo", {"text": "hi"}), ("mcp__tiny__fail", {"text": "oh"})]
    done = bench.rook(told(Reply(tools=calls), Reply(text="Done.")), *FREE, "Call them")
    assert done.code == 0, done.err
    assert "mcp__tiny__echo: hi" in done.lines
    assert any(line.startswith("ERROR: MCP tool 'fail' reported tool error") for line in done.lines)


@scenario("subagent")
def test_a_subagent(bench: Bench) -> None:
    def model(request: dict[str, Any]) -> Answer:
        asked = json.dumps(request["messages"])
        if "Delegate it" not in asked:  # the subagent asks, or the program for itself
            return Reply(text="The child is done.")
        if '"role": "tool"' in asked:
            return Reply(text="The parent is done.")
        task = {"description": "look", "prompt": "A task", "subagent_type": "general-purpose"}
        return Reply(tools=[("agent", task)])

    done = bench.rook(model, *FREE, "--verbose", "Delegate it")
    assert done.code == 0, done.err
    assert done.lines[0].startswith("agent: look")
    assert '"The parent is done."' in done.lines


@pytest.mark.parametrize(
    ("status", "words"), [(400, "invalid request"), (401, "Incorrect API key provided.")]
)
@scenario("API error for good", but="0.15.10 calls that a success; rook does not")
def test_an_api_failure_is_one_even_if_qwen_calls_it_a_success(
    bench: Bench, status: int, words: str
) -> None:
    done = bench.rook(lambda _: Failure(status), *RUN, "Go on")
    assert done.code == 1, done.err
    assert done.lines[-1] == f"FAILED: {words}"
    assert f"[rook] failed: {words}" in done.err


def test_a_stream_that_breaks_off_with_an_error_is_a_failure(bench: Bench) -> None:
    done = bench.rook(lambda _: Cut(after_events=3, how="error"), *RUN, "Go on")
    assert done.code == 1, done.err
    assert done.lines[-1].startswith("FAILED: The server had an error")


@scenario("retry then success")
def test_a_retry_that_succeeds(bench: Bench) -> None:
    done = bench.rook(told(Failure(503), Reply(text="Recovered.")), *RUN, "Go on")
    assert done.code == 0, done.err
    assert done.lines[0] == '"Recovered."'


def test_a_retry_that_qwen_tells_twice_is_told_once(bench: Bench) -> None:
    cut = Cut(after_events=3, how="close")
    done = bench.rook(told(cut, Reply(text="Recovered.")), *RUN, "--verbose", "Go on")
    assert done.code == 0, done.err
    retries = [line for line in done.lines if line.startswith("RETRY")]
    assert retries == ([] if version(bench) == "0.15.10" else ["RETRY: a call failed"])


@scenario("Ctrl-C in mid tool")
def test_ctrl_c_in_mid_tool(bench: Bench) -> None:
    script = told(Reply(tools=[shell("tail -f /dev/null")]))
    done = bench.interrupt(script, *FREE, "Go on", at="run_shell_command: ")
    assert done.code == 130, done.err
    assert "[rook] interrupted" in done.err  # Qwen itself ends the call, but tells no result


@scenario("deadline")
def test_a_deadline(bench: Bench) -> None:
    script = told(Reply(tools=[shell("tail -f /dev/null")]))
    done = bench.rook(script, *FREE, "--timeout", "20s", "Go on")
    assert done.code == 124, done.err
    assert "reached the time limit" in done.err


@scenario("budget stop")
def test_a_budget_stops_it_while_it_works(bench: Bench) -> None:
    used = {"prompt_tokens": 5000, "completion_tokens": 5}
    calls = [Reply(tools=[shell(f"expr {n}")], usage=used) for n in range(1, 30)]
    done = bench.rook(told(*calls), *FREE, "--max-tokens", "12000", "Spend it")
    assert done.code == 5, done.err
    assert "tokens (limit 12000)" in done.err


def test_its_own_limit_of_turns(bench: Bench) -> None:
    calls = [Reply(tools=[shell(f"expr {n}")]) for n in range(1, 30)]
    done = bench.rook(told(*calls), *FREE, "--max-turns", "2", "Go on")
    assert done.code == 5, done.err  # whoever counts first
    assert "turns" in done.err


@scenario("resume")
def test_a_resumed_run_tells_its_own_share_of_the_tokens(bench: Bench) -> None:
    def say(words: str) -> Callable[[dict[str, Any]], Answer]:
        used = {"prompt_tokens": 100, "completion_tokens": 5}
        return lambda _: Reply(text=words, usage=used)

    first = bench.rook(say("One."), *RUN, "--json", "The first")
    assert first.code == 0, first.err
    second = bench.rook(say("Two."), *RUN, "--json", "--resume", bench.last_run(), "The second")
    assert (second.code, second.told["text"]) == (0, "Two."), second.err
    # Each has its own call, and perhaps some of the program's own; Qwen tells the sum of all.
    assert first.told["tokens"]["input"] % 100 == second.told["tokens"]["input"] % 100 == 0
    assert second.told["tokens"]["input"] <= 200


@scenario("huge output")
def test_huge_output(bench: Bench) -> None:
    script = told(Reply(tools=[shell("yes 0123456789 | head -c 3000000")]), Reply(text="Ok."))
    done = bench.rook(script, *FREE, "--json", "Flood it")
    assert done.code == 0, done.err
    assert (done.told["text"], done.told["unreadable"]) == ("Ok.", 0)


@scenario("unicode")
def test_unicode(bench: Bench) -> None:
    said = "emoji 👩‍👧 日本語 \u2028 \u0085 \x1b[31mred end"
    script = told(Reply(tools=[shell("printf 'caf\\303\\251 \\033[31m\\n'")]), Reply(text=said))
    done = bench.rook(script, *FREE, "--json", "Grüße 日本")
    assert done.code == 0, done.err
    assert (done.told["text"], done.told["unreadable"]) == (said, 0)
    assert "\x1b" not in bench.rook([], "show").out


def test_a_long_prompt(bench: Bench) -> None:
    seen: list[str] = []

    def model(request: dict[str, Any]) -> Answer:
        seen.append(json.dumps(request["messages"], ensure_ascii=False))
        return Reply(text="Long.")

    file = bench.home / "prompt.txt"
    file.write_text("ü" * 70_000, encoding="utf-8")
    done = bench.rook(model, *RUN, "--prompt-file", str(file))
    assert done.code == 0, done.err
    assert any("ü" * 70_000 in words for words in seen)


def test_pieces_come_while_it_writes_when_somebody_watches(bench: Bench) -> None:
    script: Sequence[Answer] = [Reply(text="One, two, three, four.", piece=5)] * 3
    done = bench.rook(script, *RUN, "--max-tokens", "1000000", "Count")
    assert done.code == 0, done.err
    shown = bench.rook([], "decode", str(_log(bench))).out
    assert '"type":"text_delta"' in shown


def version(bench: Bench) -> str:
    """The version that wrote the only run so far, by its first message."""
    told: str = json.loads(_log(bench).read_bytes().partition(b"\n")[0])["qwen_code_version"]
    return told


def _log(bench: Bench) -> Path:
    (found,) = (bench.home / "nightrook").glob("runs/*/stdout.raw")
    return found
