"""The real Kimi Code, run by `rook run` against a scripted model on loopback: no key, no network.

`make conformance` installs it into .cache and names its program in ROOK_TEST_KIMI.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nightrook.testing import Answer, Cut, Reply, ScriptedChatApi, mcp_command
from tests.conformance.acp.speakers import SPEAKERS
from tests.conformance.bench import Bench
from tests.conformance.headless import Headless, ReadScenario, said
from tests.conformance.scenarios import scenario

KIMI = os.environ.get("ROOK_TEST_KIMI", "")
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not KIMI, reason="ROOK_TEST_KIMI is not set"),
]


def prepare(home: Path, url: str) -> Mapping[str, str]:
    """Set Kimi Code up as over ACP, with an MCP server."""
    variables = SPEAKERS["kimi"].prepare(home, home, url)
    program, *words = mcp_command()
    servers = {"mcpServers": {"tiny": {"command": program, "args": words}}}
    (home / ".kimi-code" / "mcp.json").write_text(json.dumps(servers), encoding="utf-8")
    return variables


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, KIMI, ScriptedChatApi, prepare)


class TestKimi(ReadScenario):
    agent = Headless(
        name="kimi",
        shell=lambda command: ("Bash", {"command": command}),
        read=lambda path: ("Read", {"path": str(path)}),
        edit=lambda path, old, new: (
            "Edit",
            {"path": str(path), "old_string": old, "new_string": new},
        ),
        write=lambda path, text: ("Write", {"path": str(path), "content": text}),
        mcp="mcp__tiny__{}",
        may_edit=(),
    )

    @scenario("reasoning", but="it does not report thoughts")
    def test_reasoning_is_shown_once(self, bench: Bench) -> None:
        done = self.run(bench, [Reply(thinking="Six times seven.", text="42.")], "-v", "Think")
        assert (done.code, done.lines[0]) == (0, '"42."'), done.err

    @scenario("denied", but="headless, it allows everything; rook refuses to promise less")
    def test_what_it_cannot_hold_is_refused(self, bench: Bench) -> None:
        for permission in ("plan", "edit"):
            done = self.run(bench, [], "--permission", permission, "Go")
            assert (done.code, bench.asked) == (2, []), done.err

    @scenario("subagent", but="it does not report what a subagent does")
    def test_a_subagent(self, bench: Bench) -> None:
        def model(request: dict[str, Any]) -> Answer:
            if "Delegate it" not in said(request):
                return Reply(text="The child is done.")
            if '"role": "tool"' in said(request):
                return Reply(text="The parent is done.")
            return Reply(tools=[("Agent", {"description": "kid", "prompt": "A child's task"})])

        done = self.run(bench, model, "Delegate it")
        assert done.code == 0, done.err
        assert done.lines[:2] == ["Agent: kid", '"The parent is done."']

    @scenario("budget stop", but="it reports no tokens, so rook refuses a limit on the cost")
    def test_a_budget_is_refused(self, bench: Bench) -> None:
        done = self.run(bench, [], "--max-cost", "1", "Spend it")
        assert (done.code, bench.asked) == (2, []), done.err
        assert "kimi reports neither tokens nor cost" in done.err

    def test_an_answer_that_breaks_off_is_not_a_success(self, bench: Bench) -> None:
        cut = Cut(after_events=3, how="close")
        scripts: list[list[Answer]] = [
            [cut],
            [Reply(tools=[self.agent.shell("echo one")]), cut],
        ]
        for script in scripts:
            done = self.run(bench, script, "Go")
            assert done.code == 3, done.err
            assert "the answer may be cut off" in done.err

    def test_what_its_commands_print_is_shown_once(self, bench: Bench) -> None:
        script = [Reply(tools=[self.agent.shell("echo printed")]), Reply(text="Done.")]
        done = self.run(bench, script, "Work")
        assert done.code == 0, done.err
        assert "printed\n" not in done.err  # though it repeats it there

    def test_a_command_line_of_the_user_s(self, bench: Bench) -> None:
        done = bench.rook([Reply(text="Hello.")], "exec", "--", "kimi", "-p", "Say hi")
        assert done.code == 0, done.err
        assert "[rook] added: --output-format stream-json" in done.err
        assert done.lines[0] == '"Hello."'
