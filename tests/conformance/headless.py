"""The scenarios that every agent goes through alike when `rook run` runs it headless.

The file of an agent says how it is set up and what its tools are called, derives a class from
`HeadlessScenarios`, and adds or replaces what differs in that agent.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from nightrook.testing import Answer, Failure, Reply, Script
from tests.conformance.bench import PATIENCE_S, Bench, Outcome
from tests.conformance.scenarios import scenario

Call = tuple[str, Mapping[str, Any] | str]
USAGE = {"prompt_tokens": 1000, "completion_tokens": 100}
SERVER_ERROR = Failure(500)


@dataclass(frozen=True, kw_only=True)
class Headless:
    """One agent: its options, and how its tools are called."""

    name: str
    shell: Callable[[str], Call]
    edit: Callable[[Path, str, str], Call]
    write: Callable[[Path, str], Call]
    read: Callable[[Path], Call] | None = None
    """None if it has no tool for it: its shell reads files."""

    mcp: str
    """What a tool of the MCP server `tiny` is called, with `{}` for its name."""

    options: tuple[str, ...] = ()
    """The options of every run."""

    free: tuple[str, ...] = ("--permission", "all")
    """The options with which it may do everything."""

    may_edit: tuple[str, ...] = ("--permission", "edit")
    cost: str = "$?"
    """How the cost of `USAGE` is shown."""

    passing: Failure = SERVER_ERROR
    """An error after which it tries again, soon."""


class HeadlessScenarios:
    """What is the same in all agents; `bench` is a fixture of each agent's file."""

    agent: ClassVar[Headless]

    def words(self, *words: str) -> tuple[str, ...]:
        return ("run", "--agent", self.agent.name, *self.agent.options, *words)

    def run(self, bench: Bench, script: Script, *words: str) -> Outcome:
        """Call `rook run` with the agent."""
        return bench.rook(script, *self.words(*words))

    def report(self, bench: Bench, script: Script, *words: str) -> dict[str, Any]:
        """Return what `rook run --json` reports."""
        done = self.run(bench, script, "--json", *words)
        assert done.out, done.err
        return done.told

    @scenario("text")
    def test_text(self, bench: Bench) -> None:
        done = self.run(bench, [Reply(text="Hello there.", usage=USAGE)], 'Say "hello", twice')
        assert done.code == 0, done.err
        assert done.lines == ['"Hello there."', f"Complete (cost: {self.agent.cost})"]
        assert len(bench.asked) == 1  # no request that would not be seen, as for a title
        assert 'Say "hello", twice' in said(bench.asked[0])

    @scenario("reasoning")
    def test_reasoning_is_shown_once(self, bench: Bench) -> None:
        done = self.run(bench, [Reply(thinking="Six times seven.", text="42.")], "-v", "Think")
        assert done.code == 0, done.err
        assert done.lines.count("(thinks) Six times seven.") == 1

    @scenario("shell ok")
    def test_a_command_that_succeeds(self, bench: Bench) -> None:
        call = self.agent.shell("pwd > here; echo fine")
        script = [Reply(tools=[call]), Reply(text="Done.")]
        done = self.run(bench, script, *self.agent.free, "-v", "Work")
        assert done.code == 0, done.err
        assert done.lines[0] == f"{call[0]}: pwd > here; echo fine"
        assert done.lines[1].startswith("  -> fine")
        assert (bench.project / "here").read_text().strip() == str(bench.project)

    @scenario("shell failing")
    def test_a_command_that_fails(self, bench: Bench) -> None:
        call = self.agent.shell("echo one; echo two; exit 3")
        script = [Reply(tools=[call]), Reply(text="It failed.")]
        done = self.run(bench, script, *self.agent.free, "Work")
        assert done.code == 0, done.err
        assert done.lines[1].startswith("ERROR: exit 3: one two")  # and some add words of their own
        assert done.lines[2] == '"It failed."'

    @scenario("edit")
    def test_an_edit(self, bench: Bench) -> None:
        file, new = bench.project / "a.txt", bench.project / "b.txt"
        file.write_text("one\n")
        calls = [self.agent.edit(file, "one", "two"), self.agent.write(new, "x\ny\n")]
        if self.agent.read is not None:  # some edit only what they have read
            calls.insert(0, self.agent.read(file))
        script = [*(Reply(tools=[call]) for call in calls), Reply(text="Done.")]
        done = self.run(bench, script, *self.agent.may_edit, "Edit")
        assert done.code == 0, done.err
        shown = [f"{calls[-2][0]}: a.txt", f"{calls[-1][0]}: b.txt"]
        assert [line for line in done.lines if line in shown] == shown
        assert (file.read_text(), new.read_text()) == ("two\n", "x\ny\n")

    @scenario("parallel tools")
    def test_parallel_tools(self, bench: Bench) -> None:
        calls = [self.agent.shell("sleep 1; echo slow"), self.agent.shell("echo quick")]
        script = [Reply(tools=calls), Reply(text="Both.")]
        told = self.report(bench, script, *self.agent.free, "Work")
        tools = {"started": 2, "finished": 2, "failed": 0, "denied": 0, "orphaned": 0}
        assert (told["status"], told["tools"]) == ("success", tools)

    @scenario("MCP tool")
    def test_tools_of_an_mcp_server(self, bench: Bench) -> None:
        script = [
            Reply(tools=[(self.agent.mcp.format("echo"), {"text": "hi"})]),
            Reply(tools=[(self.agent.mcp.format("fail"), {"text": "no"})]),
            Reply(text="Done."),
        ]
        done = self.run(bench, script, *self.agent.free, "-v", "Use it")
        assert done.code == 0, done.err
        assert done.lines[0].endswith(": hi")
        assert done.lines[1].startswith("  -> echo: hi")
        assert any("it failed: no" in line for line in done.lines)

    @scenario("API error for good")
    def test_an_api_error_is_a_failure(self, bench: Bench) -> None:
        done = self.run(bench, lambda _: Failure(400, message="scripted refusal"), "Go")
        assert done.code == 1, done.err
        assert "[rook] failed: " in done.err
        assert "scripted refusal" in done.err

    @scenario("retry then success")
    def test_a_retry_that_succeeds(self, bench: Bench) -> None:
        script: list[Answer] = [self.agent.passing, Reply(text="Recovered.")]
        told = self.report(bench, script, "Go")
        assert (told["status"], told["text"]) == ("success", "Recovered.")
        assert len(bench.asked) == 2

    @scenario("Ctrl-C in mid tool")
    def test_ctrl_c_in_mid_tool(self, bench: Bench) -> None:
        begun = bench.project / "begun"
        call = self.agent.shell("echo $$ > begun; exec sleep 120")
        script = [Reply(tools=[call]), Reply(delay=PATIENCE_S)]
        done = bench.interrupt(script, *self.words(*self.agent.free, "Go"), at=begun)
        assert done.code == 130, done.err
        assert "[rook] interrupted" in done.err
        assert not Path("/proc", begun.read_text().strip()).exists()

    @scenario("deadline")
    def test_a_deadline(self, bench: Bench) -> None:
        script = [Reply(text="Late.", delay=PATIENCE_S)]
        done = self.run(bench, script, "--timeout", "15s", "Go")
        assert done.code == 124, done.err
        assert "[rook] timed out" in done.err

    @scenario("resume")
    def test_a_resumed_run_remembers(self, bench: Bench) -> None:
        first = self.report(bench, [Reply(text="One.", usage=USAGE)], "First prompt")
        resume = ("--resume", Path(first["file"]).name)
        second = self.report(bench, [Reply(text="Two.", usage=USAGE)], *resume, "Second prompt")
        assert second["text"] == "Two."
        words = said(bench.asked[0])
        assert words.index("First prompt") < words.index("One.") < words.index("Second prompt")
        # Each run has its own tokens, whatever the agent adds up.
        assert first["tokens"] == second["tokens"]

    @scenario("huge output")
    def test_huge_output(self, bench: Bench) -> None:
        call = self.agent.shell("head -c 3000000 /dev/zero | tr '\\0' x | fold -w 99")
        text = " ".join(map(str, range(60_000)))  # some ask again after a text that repeats itself
        script = [Reply(tools=[call]), Reply(text=text, piece=50_000)]
        told = self.report(bench, script, *self.agent.free, "Flood")
        assert (told["status"], told["text"], told["unreadable"]) == ("success", text, 0)

    @scenario("unicode")
    def test_unicode(self, bench: Bench) -> None:
        text = "Grüße 日本 👩‍👩‍👧 \u2028 sep \u0085 nel \x1b[31m esc"
        told = self.report(bench, [Reply(text=text)], "Grüße 日本 👋")
        assert told["text"] == text
        assert "Grüße 日本 👋" in said(bench.asked[0])
        assert "\x1b" not in bench.rook([], "show").out

    def test_a_wrong_flag_is_not_a_start(self, bench: Bench) -> None:
        done = self.run(bench, [], "Go", "--", "--no-such-flag")
        assert (done.code, done.lines) == (9, []), done.err


class ReadScenario(HeadlessScenarios):
    """For agents that have a tool to read files."""

    @scenario("read")
    def test_a_file_that_is_read(self, bench: Bench) -> None:
        assert self.agent.read is not None
        file = bench.project / "a.txt"
        file.write_text("one\n")
        call = self.agent.read(file)
        done = self.run(bench, [Reply(tools=[call]), Reply(text="1")], "Read it")
        assert done.code == 0, done.err
        assert done.lines[:2] == [f"{call[0]}: a.txt", '"1"']


def said(request: dict[str, Any]) -> str:
    """Everything that the model was given in a request."""
    return json.dumps(request["messages"], ensure_ascii=False).replace('\\"', '"')
