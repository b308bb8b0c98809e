"""The plain lines, as DISPLAY promises them."""

import io

from rookery.core.events import (
    Error,
    Event,
    SessionStarted,
    Text,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    Unreadable,
)
from rookery.core.records import Record
from rookery.display.plain import PlainDisplay


def shown(*events: Event, verbose: bool = False, text: bool = True) -> list[str]:
    display = PlainDisplay(io.StringIO(), "claude", verbose=verbose, text=text)
    records = [Record(seq, None, 0, 12_345_678, event) for seq, event in enumerate(events)]
    return [line for record in records for line in display.lines(record)]


def test_a_tool_call_is_its_name_and_what_it_is_about() -> None:
    start = ToolStarted(id="1", name="Read", kind="read", title="/repo/internal/config.go")
    assert shown(start) == ["[claude] Read: /repo/internal/config.go"]


def test_paths_are_relative_to_the_working_folder() -> None:
    start = ToolStarted(id="1", name="Read", kind="read", title="/repo/internal/config.go")
    outside = ToolStarted(id="2", name="Read", kind="read", title="/repository/x")
    assert shown(SessionStarted(cwd="/repo"), start, outside) == [
        "[claude] Read: internal/config.go",
        "[claude] Read: /repository/x",
    ]


def test_long_commands_are_cut_with_dots() -> None:
    start = ToolStarted(id="1", name="Bash", kind="execute", title="x" * 61)
    assert shown(start) == ["[claude] Bash: " + "x" * 57 + "..."]


def test_text_is_its_first_line_in_quotes() -> None:
    assert shown(Text(id="1", text='\n\n say "hi" \\ \nmore')) == ['[claude] "say \\"hi\\" \\\\"']
    assert shown(Text(id="1", text="y" * 81)) == ['[claude] "' + "y" * 77 + '..."']


def test_text_can_be_left_out() -> None:
    assert shown(Text(id="1", text="hi"), text=False) == []


def test_a_failed_tool_is_an_error_line() -> None:
    failed = ToolFinished(id="1", status="error", error="Permission denied")
    assert shown(failed) == ["[claude] ERROR: Permission denied"]


def test_an_exit_code_stands_before_what_the_command_said() -> None:
    failed = ToolFinished(id="1", status="error", error="Exit code 1\na\nb", exit_code=1)
    silent = ToolFinished(id="1", status="error", error="Exit code 1", exit_code=1)
    assert shown(failed, silent) == ["[claude] ERROR: exit 1: a b", "[claude] ERROR: exit 1"]


def test_output_is_shown_only_when_asked_for() -> None:
    done = ToolFinished(id="1", status="ok", output="PASS\nok  \tpkg\t0.5s")
    assert shown(done) == []
    assert shown(done, verbose=True) == ["[claude]   -> PASS ok pkg 0.5s"]


def test_the_end_of_a_turn_tells_its_cost_or_that_nobody_knows_it() -> None:
    assert shown(TurnFinished(ok=True, cost_usd=0.015), TurnFinished(ok=True)) == [
        "[claude] Complete (cost: $0.0150)",
        "[claude] Complete (cost: $?)",
    ]


def test_a_failed_turn_tells_the_first_line_of_the_reason() -> None:
    assert shown(
        TurnFinished(ok=False, errors=("Overloaded\nmore",)),
        TurnFinished(ok=False, reason="max_turns"),
        TurnFinished(ok=False),
    ) == [
        "[claude] FAILED: Overloaded",
        "[claude] FAILED: max_turns",
        "[claude] FAILED: it did not say why",
    ]


def test_errors_and_skipped_lines_are_told() -> None:
    assert shown(Error(kind="network"), Unreadable(reason="oversized")) == [
        "[claude] ERROR: network",
        "[rook] WARNING: skipped a line of 12.3 MB",
    ]
