"""The real Claude Code, run by `rook run` against a scripted model on loopback: no key, no network.

`make test` installs it into .cache and tells where in ROOKERY_TEST_CLAUDE; without it these are
skipped.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from rookery.testing import Answer, Failure, Reply, ScriptedMessagesApi

CLAUDE = os.environ.get("ROOKERY_TEST_CLAUDE", "")
ROOK = Path(sys.executable).with_name("rook")
pytestmark = pytest.mark.skipif(not CLAUDE, reason="ROOKERY_TEST_CLAUDE is not set")

Script = Sequence[Answer] | Callable[[dict[str, Any]], Answer]


class Bench:
    """A folder to work in, a home, and nothing else of this machine's environment."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        self.home = folder / "home"
        self.home.mkdir()

    def environment(self, url: str) -> Mapping[str, str]:
        return {
            "PATH": os.pathsep.join([str(Path(CLAUDE).parent), os.environ["PATH"]]),
            "HOME": str(self.home),
            "ROOKERY_HOME": str(self.home / "rookery"),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "made-up",
            "DISABLE_TELEMETRY": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
        }

    def start(self, url: str, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [ROOK, *words],
            cwd=self.project,
            env=self.environment(url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def rook(self, script: Script, *words: str) -> tuple[int, list[str], str]:
        """Call rook; give its exit code, the agent's lines, and what was said on stderr."""
        with ScriptedMessagesApi(script) as api, self.start(api.url, *words) as process:
            out, err = process.communicate(timeout=120)
        lines = [line for line in out.split("\n") if line.startswith("[claude]")]
        return process.returncode, lines, err


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_text(bench: Bench) -> None:
    code, lines, err = bench.rook([Reply(text="Hello there.")], "run", "Say hello")
    assert code == 0, err
    assert lines[0] == '[claude] "Hello there."'
    assert lines[1].startswith("[claude] Complete (cost: $0.")


def test_tools_work_and_fail(bench: Bench) -> None:
    script = [
        Reply(tools=[("Write", {"file_path": str(bench.project / "a.txt"), "content": "one\n"})]),
        Reply(tools=[("Bash", {"command": "cat a.txt; exit 3", "description": "look"})]),
        Reply(text="Done."),
    ]
    code, lines, err = bench.rook(script, "run", "--permission", "all", "Work")
    assert code == 0, err
    assert lines[:4] == [
        "[claude] Write: a.txt",
        "[claude] Bash: cat a.txt; exit 3",
        "[claude] ERROR: exit 3: one",
        '[claude] "Done."',
    ]


def test_a_denial_names_the_rule_and_the_rule_lets_it_pass(bench: Bench) -> None:
    target = bench.project / "w.txt"
    script = [
        Reply(tools=[("Write", {"file_path": str(target), "content": "x"})]),
        Reply(text="I could not."),
    ]
    code, lines, err = bench.rook(script, "run", "Write it")
    rule = f"Edit(/{target})"
    assert code == 4, err
    assert lines[1] == f"[claude] DENIED: Write: w.txt (allow it: '{rule}')"
    code, lines, err = bench.rook(script, "run", "--allow", rule, "Write it")
    assert code == 0, err
    assert target.read_text() == "x"


def test_an_api_failure_is_a_failure(bench: Bench) -> None:
    code, lines, err = bench.rook(lambda _: Failure(400, message="scripted"), "run", "Go")
    assert code == 1
    assert "scripted" in lines[-1]
    assert lines[-1].startswith("[claude] FAILED: ")
    assert "[rook] failed" in err


def test_ctrl_c_in_mid_tool(bench: Bench) -> None:
    command = "echo begun > begun; python3 -c 'import time; time.sleep(60)'"
    script = [Reply(tools=[("Bash", {"command": command, "description": "wait"})])] * 3
    with (
        ScriptedMessagesApi(script) as api,
        bench.start(api.url, "run", "--permission", "all", "Go") as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("[claude] Bash"):
                break
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "[rook] interrupted" in err


def test_a_budget_stops_it(bench: Bench) -> None:
    def spend(request: dict[str, Any]) -> Answer:
        usage = {"input_tokens": 100_000, "output_tokens": 5_000}
        return Reply(tools=[("Bash", {"command": "true", "description": "t"})], usage=usage)

    code, _, err = bench.rook(spend, "run", "--permission", "all", "--max-cost", "0.5", "Spend")
    assert code == 5, err
    assert "[rook] over budget" in err


def test_a_resumed_run_tells_its_own_share_of_the_cost(bench: Bench) -> None:
    bench.rook([Reply(text="One.")], "run", "First")
    with ScriptedMessagesApi([Reply(text="Two.")]) as api:
        name = _last(bench, api.url)["name"]
        with bench.start(api.url, "run", "--json", "--resume", name, "Second") as process:
            out, err = process.communicate(timeout=120)
    told = json.loads(out)
    assert process.returncode == 0, err
    assert told["text"] == "Two."
    assert 0 < told["spent_usd"] < told["cost_usd"]


def test_background_work_is_waited_for(bench: Bench) -> None:
    background = {"command": "sleep 1; echo end", "description": "bg", "run_in_background": True}

    def answer(request: dict[str, Any]) -> Answer:
        said = json.dumps(request["messages"])
        if "task-notification" in said or "task_notification" in said:
            return Reply(text="It has ended.")
        return Reply(text="Launched.") if "bg" in said and "tool_result" in said else call

    call = Reply(tools=[("Bash", background)])
    code, lines, err = bench.rook(answer, "run", "--permission", "all", "Go")
    assert code == 0, err
    assert sum("Complete" in line for line in lines) == 2


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
        told = _last(bench, api.url)
        with bench.start(api.url, "show", told["name"]) as showing:
            shown, _ = showing.communicate(timeout=60)
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


def _last(bench: Bench, url: str) -> dict[str, Any]:
    with bench.start(url, "runs", "--json") as process:
        out, _ = process.communicate(timeout=60)
    told: dict[str, Any] = json.loads(out.split("\n")[0])
    return told
