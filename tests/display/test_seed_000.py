"""What seed 000 asks of the display, each requirement under its own name."""

import io
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.cli.commands.test_run import Desk

from nightrook import agents
from nightrook.adapter.agent import Task
from nightrook.cli.commands import run
from nightrook.display.event_lines import RunContext
from nightrook.display.plain import PlainDisplay
from nightrook.display.screen import Screen
from nightrook.display.terminal import TerminalDisplay
from nightrook.model.events import (
    Event,
    Notice,
    PermissionDenied,
    PermissionRequested,
    TaskProgress,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    Unknown,
    UsageReported,
)
from nightrook.model.fold import Fold
from nightrook.model.records import Record


def told(*events: Event, verbose: bool = False) -> dict[str, list[str]]:
    """The lines of both displays."""
    plain = PlainDisplay(io.StringIO(), "agent", verbose=verbose)
    screen = Screen(io.StringIO(), lambda: 80)
    watched = TerminalDisplay(screen, "agent", columns=lambda: 80, verbose=verbose)
    records = [Record(n, None, 0, 0, event) for n, event in enumerate(events)]
    return {
        "plain": [line for record in records for line in plain.lines(record)],
        "terminal": [line for record in records for line in watched.lines(record)],
    }


# "Streaming mode is a CLI flag that applies to all agents, not a settings-only toggle"


def test_streaming_mode_is_a_cli_flag() -> None:
    said = CliRunner().invoke(run.command, ["--help"]).output
    assert "--stream / --no-stream" in said


# What only speaks ACP has no plain text to print: it refuses to be run without streaming.
@pytest.mark.parametrize("name", [name for name in agents.NAMES if name != "acp"])
def test_streaming_mode_applies_to_every_agent(name: str) -> None:
    agent = agents.agent(name)
    on = agent.invoke(Task(prompt="x", stream=True)).command
    off = agent.invoke(Task(prompt="x", stream=False)).command
    assert set(agent.output_flags) <= set(on)
    assert not set(agent.output_flags) & set(off)


@pytest.mark.slow
def test_without_streaming_the_agent_s_own_text_is_shown(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (tmp_path / "claude").write_text("#!/bin/sh\necho Just text. $@ $(cat)\n")
    done = desk.rook("run", "--no-stream", "x")
    assert "Just text. -p x" in done.stdout.split("\n")
    assert done.returncode == 0


# "Surface tool errors and permission prompts to user"


def test_tool_errors_are_surfaced_without_being_asked_for() -> None:
    start = ToolStarted(id="1", name="Edit", kind="edit", title="/etc/passwd")
    failed = ToolFinished(id="1", status="error", error="Permission denied")
    for lines in told(start, failed).values():
        assert lines == ["[agent] Edit: /etc/passwd", "[agent] ERROR: Permission denied"]


def test_permission_prompts_are_surfaced_with_the_rule_that_would_allow_them() -> None:
    start = ToolStarted(id="1", name="Bash", kind="execute", title="git push")
    denied = PermissionDenied(tool_id="1", name="Bash", fix="Bash(git push)")
    lines = told(start, denied)
    assert lines["plain"][-1] == "[agent] DENIED: Bash: git push (allow it: 'Bash(git push)')"
    assert lines["terminal"][-1].split(maxsplit=2)[:2] == ["[agent]", "DENIED:"]
    assert lines["terminal"][-1].endswith("  allow it: 'Bash(git push)'")


def test_a_permission_prompt_that_waits_is_surfaced_in_the_status_line() -> None:
    start = ToolStarted(id="1", name="Bash", kind="execute", title="git push")
    asked = PermissionRequested(id="r", tool_id="1", name="Bash")
    fold = Fold([Record(0, 5.0, 0, 0, start), Record(1, 5.0, 0, 0, asked)])
    screen = Screen(io.StringIO(), lambda: 80)
    watched = TerminalDisplay(
        screen, "agent", columns=lambda: 80, context=RunContext(snapshot=fold.state.snapshot)
    )
    for record in fold:
        watched.show(record)
    assert "waiting for an answer: Bash: git push 7s" in watched.status(12.0)


# ShowProgress: "Show progress/unknown events"


@pytest.mark.parametrize(
    ("event", "when_asked"),
    [
        (Unknown(name="future"), ["[agent] unknown message type: future"]),
        (Notice(level="info", text="note"), ["[agent] NOTE: note"]),
        (ToolProgress(id="1", elapsed_s=3.0), []),
        (TaskProgress(id="1", title="reads"), []),
        (UsageReported(scope="message", semantics="final", input=1), []),
    ],
)
def test_progress_and_unknown_are_shown_only_when_asked_for(
    event: Event, when_asked: list[str]
) -> None:
    assert told(event) == {"plain": [], "terminal": []}
    assert told(event, verbose=True) == {"plain": when_asked, "terminal": when_asked}
