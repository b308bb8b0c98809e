"""The real Claude Code, run by `rook run` against a scripted model on loopback: no key, no network.

`make test` installs it into .cache and tells where in ROOKERY_TEST_CLAUDE; without it these are
skipped.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rookery.testing import Answer, Failure, Reply, ScriptedMessagesApi
from tests.conformance.bench import ROOK, Bench

CLAUDE = os.environ.get("ROOKERY_TEST_CLAUDE", "")
pytestmark = pytest.mark.skipif(not CLAUDE, reason="ROOKERY_TEST_CLAUDE is not set")


def prepare(home: Path, url: str) -> Mapping[str, str]:
    """Tell Claude Code where its model is."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "made-up",
        "DISABLE_TELEMETRY": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
    }


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, CLAUDE, ScriptedMessagesApi, prepare)


def test_text(bench: Bench) -> None:
    done = bench.rook([Reply(text="Hello there.")], "run", "Say hello")
    assert done.code == 0, done.err
    assert done.lines[0] == '"Hello there."'
    assert done.lines[1].startswith("Complete (cost: $0.")


def test_tools_work_and_fail(bench: Bench) -> None:
    script = [
        Reply(tools=[("Write", {"file_path": str(bench.project / "a.txt"), "content": "one\n"})]),
        Reply(tools=[("Bash", {"command": "cat a.txt; exit 3", "description": "look"})]),
        Reply(text="Done."),
    ]
    done = bench.rook(script, "run", "--permission", "all", "Work")
    assert done.code == 0, done.err
    assert done.lines[:4] == [
        "Write: a.txt",
        "Bash: cat a.txt; exit 3",
        "ERROR: exit 3: one",
        '"Done."',
    ]


def test_a_denial_names_the_rule_and_the_rule_lets_it_pass(bench: Bench) -> None:
    target = bench.project / "w.txt"
    script = [
        Reply(tools=[("Write", {"file_path": str(target), "content": "x"})]),
        Reply(text="I could not."),
    ]
    done = bench.rook(script, "run", "Write it")
    rule = f"Edit(/{target})"
    assert done.code == 4, done.err
    assert done.lines[1] == f"DENIED: Write: w.txt (allow it: '{rule}')"
    done = bench.rook(script, "run", "--allow", rule, "Write it")
    assert done.code == 0, done.err
    assert target.read_text() == "x"


def test_an_api_failure_is_a_failure(bench: Bench) -> None:
    done = bench.rook(lambda _: Failure(400, message="scripted"), "run", "Go")
    assert done.code == 1
    assert "scripted" in done.lines[-1]
    assert done.lines[-1].startswith("FAILED: ")
    assert "[rook] failed" in done.err


def test_ctrl_c_in_mid_tool(bench: Bench) -> None:
    command = "echo begun > begun; python3 -c 'import time; time.sleep(60)'"
    script = [Reply(tools=[("Bash", {"command": command, "description": "wait"})])] * 3
    done = bench.interrupt(script, "run", "--permission", "all", "Go", at="Bash")
    assert done.code == 130, done.err
    assert "[rook] interrupted" in done.err


def test_a_budget_stops_it(bench: Bench) -> None:
    def spend(request: dict[str, Any]) -> Answer:
        usage = {"input_tokens": 100_000, "output_tokens": 5_000}
        return Reply(tools=[("Bash", {"command": "true", "description": "t"})], usage=usage)

    done = bench.rook(spend, "run", "--permission", "all", "--max-cost", "0.5", "Spend")
    assert done.code == 5, done.err
    assert "[rook] over budget" in done.err


def test_a_resumed_run_tells_its_own_share_of_the_cost(bench: Bench) -> None:
    bench.rook([Reply(text="One.")], "run", "First")
    script = [Reply(text="Two.")]
    done = bench.rook(script, "run", "--json", "--resume", bench.last_run(), "Second")
    assert done.code == 0, done.err
    assert done.told["text"] == "Two."
    assert 0 < done.told["spent_usd"] < done.told["cost_usd"]


def test_background_work_is_waited_for(bench: Bench) -> None:
    background = {"command": "sleep 1; echo end", "description": "bg", "run_in_background": True}

    def answer(request: dict[str, Any]) -> Answer:
        said = json.dumps(request["messages"])
        if "task-notification" in said or "task_notification" in said:
            return Reply(text="It has ended.")
        return Reply(text="Launched.") if "bg" in said and "tool_result" in said else call

    call = Reply(tools=[("Bash", background)])
    done = bench.rook(answer, "run", "--permission", "all", "Go")
    assert done.code == 0, done.err
    assert sum("Complete" in line for line in done.lines) == 2


def test_a_pipe_shows_what_a_run_shows_and_passes_it_on(bench: Bench) -> None:
    script = [
        Reply(tools=[("Bash", {"command": "echo one; exit 3", "description": "look"})]),
        Reply(text="Done."),
    ]
    claude = "claude -p Work --permission-mode bypassPermissions"
    pipeline = f"{claude} --output-format stream-json --verbose | {ROOK} --tee > passed"
    with ScriptedMessagesApi(script) as api:
        done = subprocess.run(
            ["sh", "-c", pipeline],
            cwd=bench.project,
            env=bench.environment(api.url),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    told = bench.last_row()
    shown = bench.rook([], "show", told["name"]).out
    lines = [line for line in done.stderr.split("\n") if line.startswith("[claude]")]
    assert done.returncode == 0, done.stderr
    assert lines[:3] == [
        "[claude] Bash: echo one; exit 3",
        "[claude] ERROR: exit 3: one",
        '[claude] "Done."',
    ]
    assert lines[3].startswith("[claude] Complete (cost: $0.")
    assert shown == "".join(f"{line}\n" for line in lines)
    assert (told["agent"], told["status"], told["what"]) == ("claude", "success", "(piped)")
    (log,) = (bench.home / "rookery" / "runs").glob("*/stdout.raw")
    assert (bench.project / "passed").read_bytes() == log.read_bytes()
