"""The plain lines, as DISPLAY promises them."""

import io
import re
from threading import Barrier, Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules import each

from nightrook.display.event_lines import RunContext
from nightrook.display.plain import PlainDisplay
from nightrook.model.events import (
    ContextCompacted,
    Error,
    Event,
    FileChanged,
    LimitReported,
    ModelChanged,
    Notice,
    PermissionDenied,
    Retrying,
    SessionStarted,
    Text,
    Thinking,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    Unknown,
    Unreadable,
    UsageReported,
)
from nightrook.model.fold import Beginning, Fold
from nightrook.model.price import Price, Rates
from nightrook.model.records import Record


def shown(
    *events: Event | tuple[float, Event], verbose: bool = False, text: bool = True
) -> list[str]:
    """The lines of events; one that is given with a time arrived then."""
    display = PlainDisplay(io.StringIO(), "claude", verbose=verbose, text=text)
    timed = [event if isinstance(event, tuple) else (None, event) for event in events]
    records = [Record(seq, at, 0, 12_345_678, event) for seq, (at, event) in enumerate(timed)]
    return [line for record in records for line in display.lines(record)]


def test_without_a_word_of_the_agent_a_path_is_relative_to_where_it_was_started() -> None:
    fold = Fold([], beginning=Beginning(cwd="/repo"))
    context = RunContext(cwd=fold.state.cwd, snapshot=fold.state.snapshot)
    display = PlainDisplay(io.StringIO(), "codex", context=context)
    read = ToolStarted(id="1", name="Read", kind="read", title="/repo/a.py")
    told = [Record(0, None, 0, 0, SessionStarted()), Record(1, None, 0, 0, read)]
    assert [line for one in told for line in display.lines(one)] == ["[codex] Read: a.py"]


def printed(*events: Event, **options: Any) -> str:
    """All that is written of events."""
    out = io.StringIO()
    display = PlainDisplay(out, "claude", **options)
    for seq, event in enumerate(events):
        display.show(Record(seq, None, 0, 0, event))
    return out.getvalue()


# The contract of DESIGN §7, and seed 000 step 4.


def test_the_example_of_the_design_byte_for_byte() -> None:
    package = "/repo/internal/config"
    assert printed(
        SessionStarted(session="s", cwd="/repo"),
        ToolStarted(id="1", name="Read", kind="read", title=f"{package}/config.go"),
        ToolFinished(id="1", status="ok", output="package config"),
        Text(id="m", text="I'll fix the failing test by updating the expected value..."),
        ToolStarted(id="2", name="Edit", kind="edit", title=f"{package}/config_test.go"),
        ToolFinished(id="2", status="ok", output="edited"),
        ToolStarted(id="3", name="Bash", kind="execute", title="go test ./internal/config/..."),
        ToolFinished(id="3", status="error", error="Permission denied"),
        TurnFinished(ok=True, text="done", cost_usd=0.015),
    ) == (
        "[claude] Read: internal/config/config.go\n"
        '[claude] "I\'ll fix the failing test by updating the expected value..."\n'
        "[claude] Edit: internal/config/config_test.go\n"
        "[claude] Bash: go test ./internal/config/...\n"
        "[claude] ERROR: Permission denied\n"
        "[claude] Complete (cost: $0.0150)\n"
    )


def test_the_verbose_example_of_the_seed_byte_for_byte() -> None:
    assert printed(
        ToolStarted(id="1", name="Read", kind="read", title="internal/config/config.go"),
        ToolFinished(id="1", status="ok", output="package config..."),
        ToolStarted(id="2", name="Edit", kind="edit", title="internal/config/config_test.go"),
        ToolFinished(id="2", status="ok", output="(edited 3 lines)"),
        ToolStarted(id="3", name="Bash", kind="execute", title="go test ./internal/config/..."),
        ToolFinished(id="3", status="ok", output="PASS\nok  \tpkg\t0.5s"),
        TurnFinished(ok=True, cost_usd=0.015),
        verbose=True,
    ) == (
        "[claude] Read: internal/config/config.go\n"
        "[claude]   -> package config...\n"
        "[claude] Edit: internal/config/config_test.go\n"
        "[claude]   -> (edited 3 lines)\n"
        "[claude] Bash: go test ./internal/config/...\n"
        "[claude]   -> PASS ok pkg 0.5s\n"
        "[claude] Complete (cost: $0.0150)\n"
    )


def test_the_example_of_the_seed_with_a_tool_error_byte_for_byte() -> None:
    assert printed(
        ToolStarted(id="1", name="Edit", kind="edit", title="/etc/passwd"),
        ToolFinished(id="1", status="error", error="Permission denied"),
    ) == ("[claude] Edit: /etc/passwd\n[claude] ERROR: Permission denied\n")


def test_formatter_tool_start() -> None:
    start = ToolStarted(id="1", name="Read", kind="read", title="/path/to/file.go")
    assert printed(start) == "[claude] Read: /path/to/file.go\n"
    assert printed(ToolStarted(id="1", name="Read", kind="read")) == "[claude] Read\n"


def test_formatter_error() -> None:
    failed = ToolFinished(id="1", status="error", error="Permission denied")
    assert printed(failed) == "[claude] ERROR: Permission denied\n"


def test_formatter_result() -> None:
    result = TurnFinished(ok=True, cost_usd=0.0234)
    assert printed(result) == "[claude] Complete (cost: $0.0234)\n"


def test_formatter_text_disabled() -> None:
    said = Text(id="1", text="Some assistant text")
    assert printed(said, text=False) == ""
    assert printed(said) == '[claude] "Some assistant text"\n'


def test_formatter_concurrent_writes() -> None:
    out = io.StringIO()
    display = PlainDisplay(out, "claude")
    together = Barrier(10)

    def write(thread: int) -> None:
        together.wait()
        for n in range(100):
            start = ToolStarted(
                id=f"{thread} {n}", name="Read", kind="read", title=f"/{thread}/{n}"
            )
            display.show(Record(n, None, 0, 0, start))

    threads = [Thread(target=write, args=(thread,)) for thread in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = out.getvalue().split("\n")
    assert lines.pop() == ""
    assert len(lines) == 1000
    assert sorted(lines) == sorted(
        f"[claude] Read: /{t}/{n}" for t in range(10) for n in range(100)
    )


class Torn(io.StringIO):
    """A stream whose writes other threads could get between, if they were let."""

    def write(self, text: str) -> int:
        for character in text:
            super().write(character)
        return len(text)


def test_no_line_is_torn_even_if_the_stream_writes_letter_by_letter() -> None:
    out = Torn()
    display = PlainDisplay(out, "claude", verbose=True)

    def write(word: str) -> None:
        for n in range(200):
            display.show(Record(n, None, 0, 0, Notice(level="info", text=word * 20)))

    threads = [Thread(target=write, args=(word,)) for word in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = {f"[claude] NOTE: {word * 20}" for word in "abcdefgh"}
    lines = out.getvalue().split("\n")[:-1]
    assert len(lines) == 1600
    assert set(lines) == whole


# Line by line.


def test_a_tool_call_is_its_name_and_what_it_is_about() -> None:
    start = ToolStarted(id="1", name="Read", kind="read", title="/repo/internal/config.go")
    assert shown(start) == ["[claude] Read: /repo/internal/config.go"]


@pytest.mark.parametrize(
    ("cwd", "path", "told"),
    [
        ("/repo", "/repo/internal/config.go", "internal/config.go"),
        ("/repo/", "/repo/a", "a"),
        ("/repo", "/repo//a", "a"),
        ("/repo", "/repo/../etc/passwd", "../etc/passwd"),
        ("/repo", "/repository/x", "/repository/x"),
        ("/repo", "/repo", "/repo"),
        ("/repo", "/repo/", "/repo/"),
        ("/", "/etc/hosts", "etc/hosts"),
        ("repo", "repo/a", "a"),
        ("", "/a", "/a"),
        (None, "/a", "/a"),
    ],
)
def test_paths_are_relative_to_the_working_folder(cwd: str | None, path: str, told: str) -> None:
    start = ToolStarted(id="1", name="Read", kind="read", title=path)
    assert shown(SessionStarted(cwd=cwd), start) == [f"[claude] Read: {told}"]


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
    bare = ToolFinished(id="1", status="error", error="a\nb", exit_code=1)
    nothing = ToolFinished(id="1", status="error", exit_code=1)
    assert shown(bare, nothing) == ["[claude] ERROR: exit 1: a b", "[claude] ERROR: exit 1"]


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
        "[claude] FAILED: max turns",
        "[claude] FAILED: it did not say why",
    ]


def test_errors_and_skipped_lines_are_told() -> None:
    assert shown(Error(kind="network"), Unreadable(reason="oversized")) == [
        "[claude] ERROR: network",
        "[rook] WARNING: cannot show all of a line of 12.3 MB: it is at byte 0 of the output",
    ]


def test_a_cut_stream_is_told() -> None:
    assert shown(Unreadable(reason="truncated", preview='{"type":"resu')) == [
        "[rook] WARNING: the last line was cut off"
    ]


@pytest.mark.parametrize(
    ("kind", "most"),
    [("execute", 60), ("subagent", 40), ("search", 40), ("fetch", 50), ("skill", 60)],
)
def test_each_kind_of_call_has_its_own_longest_title(kind: Any, most: int) -> None:
    for length in (most, most + 1):
        start = ToolStarted(id="1", name="T", kind=kind, title="x" * length)
        title = "x" * most if length == most else "x" * (most - 3) + "..."
        assert shown(start) == [f"[claude] T: {title}"]


@pytest.mark.parametrize("kind", ["read", "edit", "list", "delete", "move"])
def test_a_path_is_shown_whole(kind: Any) -> None:
    path = "/a/long/path" * 100
    start = ToolStarted(id="1", name="T", kind=kind, title=path)
    assert shown(start) == [f"[claude] T: {path}"]


def test_output_is_put_on_one_line_and_cut() -> None:
    done = ToolFinished(id="1", status="ok", output=" a \n\n\tb " + "x" * 200)
    assert shown(done, verbose=True) == ["[claude]   -> a b " + "x" * 93 + "..."]
    assert shown(ToolFinished(id="1", status="ok", output=" \n"), verbose=True) == []


def test_a_call_that_did_not_end_last_is_named_when_it_ends() -> None:
    events = (
        ToolStarted(id="1", name="Bash", kind="execute", title="exit 3"),
        ToolStarted(id="2", name="Read", kind="read", title="a"),
        ToolFinished(id="1", status="error", error="Exit code 3", exit_code=3),
        ToolFinished(id="2", status="ok", output="A"),
    )
    assert shown(*events) == [
        "[claude] Bash: exit 3",
        "[claude] Read: a",
        "[claude] ERROR: exit 3 (Bash: exit 3)",
    ]
    assert shown(*events, verbose=True)[-1] == "[claude]   -> A"


def test_a_cancelled_call_is_no_error_and_nobody_s_refusal() -> None:
    start = ToolStarted(id="1", name="Bash", kind="execute", title="sleep 25")
    ended = ToolFinished(id="1", status="cancelled", error="The user doesn't want to proceed")
    assert shown(start, ended)[1:] == ["[claude] CANCELLED: Bash: sleep 25"]
    assert shown(ended) == ["[claude] CANCELLED: a tool"]


def test_a_denied_call_is_told_once_with_the_rule_that_would_allow_it() -> None:
    start = ToolStarted(id="1", name="Bash", kind="execute", title="touch x")
    denied = PermissionDenied(tool_id="1", name="Bash", fix="Bash(touch x)")
    line = "[claude] DENIED: Bash: touch x (allow it: 'Bash(touch x)')"
    assert shown(start, denied, ToolFinished(id="1", status="denied"))[1:] == [line]
    # Some results tell only afterwards that a call had not merely failed.
    failed = ToolFinished(id="1", status="error", error="no")
    assert shown(start, failed, denied)[1:] == ["[claude] ERROR: no", line]
    assert shown(PermissionDenied(name="Write")) == ["[claude] DENIED: Write"]
    assert shown(PermissionDenied()) == ["[claude] DENIED: a tool"]
    line = "[claude] DENIED: Bash (allow it: 'Bash(echo '\"'\"'; rm x)')"
    assert shown(PermissionDenied(name="Bash", fix="Bash(echo '; rm x)")) == [line]
    line = "[claude] DENIED: Bash (allow it: --permission all)"
    assert shown(PermissionDenied(name="Bash", fix="--permission all")) == [line]


@pytest.mark.parametrize("fix", ["Bash(" + "x" * 200 + ")", "Bash(a\nb)"])
def test_a_rule_that_nobody_could_type_is_not_offered(fix: str) -> None:
    assert shown(PermissionDenied(name="Bash", fix=fix)) == ["[claude] DENIED: Bash"]


def test_an_interruption_is_called_one_whatever_the_agent_says_of_it() -> None:
    ended = TurnFinished(ok=False, reason="interrupted", errors=("[ede_diagnostic] x=1",))
    assert shown(ended) == ["[claude] FAILED: interrupted"]


def test_a_long_reason_is_cut() -> None:
    ended = TurnFinished(ok=False, errors=("  ", "x" * 1000))
    assert shown(ended) == ["[claude] FAILED: " + "x" * 297 + "..."]


def test_error_is_not_said_twice() -> None:
    failed = ToolFinished(id="1", status="error", error="Error: No such tool")
    assert shown(failed) == ["[claude] ERROR: No such tool"]


def test_a_failure_without_a_word_is_called_by_its_status() -> None:
    assert shown(ToolFinished(id="1", status="timed_out")) == ["[claude] ERROR: timed out"]


def test_a_call_that_was_cut_off_is_reported_if_its_start_was() -> None:
    start = ToolStarted(id="1", name="Bash", kind="execute", title="npm test")
    ended = ToolFinished(id="1", status="orphaned")
    assert shown(ended, verbose=True) == []
    assert shown(start, ended)[1:] == ["[claude] CUT OFF: Bash: npm test"]


# What a terminal shows beside a line.

EDIT = ToolStarted(id="1", name="Edit", kind="edit", title="a.py")
CHANGED = FileChanged(path="a.py", added=3, removed=1, tool_id="1")


def test_changed_lines_follow_an_edit() -> None:
    events = (EDIT, ToolFinished(id="1", status="ok", output="done"), CHANGED, CHANGED)
    assert shown(*events, TurnFinished(ok=True))[:-1] == ["[claude] Edit: a.py", "[claude]   +6 −2"]
    uncounted = FileChanged(path="b.py", tool_id="1")
    assert shown(*events, uncounted, TurnFinished(ok=True))[:-1] == ["[claude] Edit: a.py"]


def test_changed_lines_name_their_edit_if_another_call_was_shown_since() -> None:
    read = ToolStarted(id="2", name="Read", kind="read", title="b.py")
    lines = shown(EDIT, read, ToolFinished(id="1", status="ok"), CHANGED, TurnFinished(ok=True))
    assert lines[2] == "[claude]   +3 −1 (Edit: a.py)"


def test_an_edit_at_the_very_end_is_written_when_the_display_closes() -> None:
    out = io.StringIO()
    with PlainDisplay(out, "claude") as display:
        events: list[Event] = [EDIT, ToolFinished(id="1", status="ok"), CHANGED]
        for seq, event in enumerate(events):
            display.show(Record(seq, None, 0, 0, event))
    assert out.getvalue() == "[claude] Edit: a.py\n[claude]   +3 −1\n"


@pytest.mark.parametrize(
    ("output", "changes", "line"),
    [
        ("done", [CHANGED], "[claude]   -> done (+3 −1, 2.5s)"),
        ("done", [], "[claude]   -> done (2.5s)"),
        ("", [CHANGED], "[claude]   +3 −1 (2.5s)"),
        ("", [], "[claude]   took 2.5s"),
    ],
)
def test_verbose_shows_how_long_each_call_took(
    output: str, changes: list[FileChanged], line: str
) -> None:
    ended = ToolFinished(id="1", status="ok", output=output)
    lines = shown((1.0, EDIT), (3.5, ended), *changes, TurnFinished(ok=True), verbose=True)
    assert lines[1:-1] == [line]


def test_the_heading_names_agent_version_model_folder_and_run_once() -> None:
    context = RunContext(run="k7f3", cwd="/home/me/project")
    display = PlainDisplay(io.StringIO(), "claude", context=context, home="/home/me")
    session = Record(0, None, 0, 0, SessionStarted(version="2.1.325", model="claude-sonnet-4-5"))
    assert display.head(Record(0, None, 0, 0, Text(id="1", text="hi"))) is None
    heading = "[rook] claude 2.1.325 · claude-sonnet-4-5 · ~/project · run k7f3"
    assert [display.head(session), display.head(session)] == [heading, None]
    assert list(display.lines(session)) == []


# Texts: the first line of each, or all of it.

LONG = 'First "line".\n\n\tcode\n[claude] Bash: rm -rf /\n  -> no output'


def test_verbose_shows_every_text_whole_and_no_line_of_it_can_pass_for_another() -> None:
    assert shown(Text(id="1", text=LONG)) == ['[claude] "First \\"line\\"."']
    assert shown(Text(id="1", text=f"{LONG}\n"), verbose=True) == [
        '[claude] "First "line".',
        "[claude]",
        "[claude]             code",
        "[claude]     [claude] Bash: rm -rf /",
        '[claude]       -> no output"',
    ]
    assert shown(Text(id="1", text="y" * 90), verbose=True) == [f'[claude] "{"y" * 90}"']


def test_a_secret_of_several_lines_is_replaced_before_they_get_their_prefix() -> None:
    context = RunContext(redact=lambda text: text.replace("BEGIN\nsecret\nEND", "[redacted]"))
    said = Text(id="1", text="Key:\nBEGIN\nsecret\nEND")
    assert printed(said, verbose=True, context=context) == (
        '[claude] "Key:\n[claude]     [redacted]"\n'
    )


def test_display_knows_whether_it_has_shown_all_of_an_answer() -> None:
    plain, verbose = (PlainDisplay(io.StringIO(), "claude", verbose=v) for v in (False, True))
    for display in (plain, verbose):
        display.show(Record(0, None, 0, 0, Text(id="1", text="Short.")))
        assert display.texts.include("Short.", ["Short."])
        display.show(Record(1, None, 0, 0, Text(id="2", text=LONG)))
    assert not plain.texts.include(LONG, ["Short.", LONG])
    assert verbose.texts.include(LONG, ["Short.", LONG])
    assert not verbose.texts.include("Another answer.", ["Short.", LONG])
    assert verbose.texts.include(f"Short.{LONG}", ["Short.", LONG])  # of an agent without a result


# Money: the agent's own, ours, nobody's.


def prices(model: str, at: float | None) -> Price | None:
    return Price(Rates(input=1_000_000, output=1_000_000)) if model == "known" else None


@pytest.mark.parametrize(
    ("model", "cost", "words"),
    [
        ("known", 0.015, "$0.0150"),
        ("known", None, "~$0.0150"),
        ("strange", 0.015, "$0.0150"),
        ("strange", None, "$?"),
        ("known", 0.0, "$0.0000"),
    ],
)
def test_a_cost_says_whose_it_is(model: str, cost: float | None, words: str) -> None:
    used = UsageReported(
        message_id="m", model=model, scope="message", semantics="final", input=14_000, output=1000
    )
    semantics: Any = None if cost is None else "cumulative"
    ended = TurnFinished(ok=True, cost_usd=cost, cost_semantics=semantics)
    events: list[Event] = [used, ended]
    out = io.StringIO()
    fold = Fold((Record(seq, None, 0, 0, event) for seq, event in enumerate(events)), prices)
    display = PlainDisplay(out, "claude", context=RunContext(snapshot=fold.state.snapshot))
    for record in fold:
        display.show(record)
    assert out.getvalue() == f"[claude] Complete (cost: {words})\n"


# Verbose.


ALWAYS = ("RETRY", "LIMIT: five", "LIMIT: the", "COMPACTED", "MODEL")


@each(
    ("event", "line"),
    [
        (Thinking(id="1", text="\n Let me see.\nmore"), "(thinks) Let me see."),
        (
            Retrying(attempt=2, max_attempts=10, delay_s=4.2, status=529, reason="overloaded"),
            "RETRY: overloaded (529), attempt 2 of 10 in 4s",
        ),
        (Retrying(reason="rate_limit"), "RETRY: rate limit"),
        (Retrying(), "RETRY: a call failed"),
        (
            LimitReported(window="five_hour", status="warning", used=0.93),
            "LIMIT: five hour: warning, 93% used",
        ),
        (LimitReported(status="rejected"), "LIMIT: the limit: rejected"),
        (LimitReported(window="week", used=0.5), "LIMIT: week: reported, 50% used"),
        (
            ContextCompacted(before_tokens=2053, after_tokens=643),
            "COMPACTED: 2053 to 643 tokens",
        ),
        (ContextCompacted(after_tokens=0), "COMPACTED: ? to 0 tokens"),
        (ContextCompacted(before_tokens=9), "COMPACTED: 9 to ? tokens"),
        (ModelChanged(before="a", after="b", reason="overloaded"), "MODEL: a to b (overloaded)"),
        (ModelChanged(after="b"), "MODEL: ? to b"),
        (ModelChanged(before="a"), "MODEL: a to ?"),
        (Notice(level="info", text="a  b\nc"), "NOTE: a b c"),
        (Unknown(name="future_type"), "unknown message type: future_type"),
        (Unknown(), "unknown message type: none"),
        (Unreadable(reason="not_json", preview="npm  warn"), "NOISE: npm warn"),
    ],
)
def test_verbose_adds_a_line_unless_it_is_always_shown(event: Event, line: str) -> None:
    assert shown(event) == ([f"[claude] {line}"] if line.startswith(ALWAYS) else [])
    assert shown(event, verbose=True) == [f"[claude] {line}"]


@pytest.mark.parametrize(
    "event",
    [
        Thinking(id="1", redacted=True),
        Thinking(id="1", text=" \n"),
        LimitReported(window="five_hour", status="allowed"),
        Unreadable(reason="not_json", preview=" "),
        Text(id="1", text=" \n "),
    ],
)
def test_what_has_nothing_to_say_gives_no_line(event: Event) -> None:
    assert shown(event, verbose=True) == []


def test_verbose_tells_how_long_a_call_took_if_arrivals_are_known() -> None:
    start = ToolStarted(id="1", name="Bash", kind="execute", title="make")
    done = ToolFinished(id="1", status="ok", output="built")
    failed = ToolFinished(id="1", status="error", error="no")
    assert shown((10.0, start), (14.84, done), verbose=True)[1:] == ["[claude]   -> built (4.8s)"]
    assert shown((10.0, start), (14.84, failed), verbose=True)[1:] == ["[claude] ERROR: no (4.8s)"]
    assert shown((10.0, start), (14.84, failed))[1:] == ["[claude] ERROR: no"]
    assert shown((10.0, start), (10.05, done), verbose=True)[1:] == ["[claude]   -> built"]
    assert shown(start, (14.84, done), verbose=True)[1:] == ["[claude]   -> built"]
    other = ToolStarted(id="2", name="Read", kind="read", title="a")
    assert shown((10.0, start), (11.0, other), (14.84, done), verbose=True)[2:] == [
        "[claude]   -> built (Bash: make, 4.8s)"
    ]


# Everything an agent wrote is hostile text.

HOSTILE = "\x1b]0;owned\x07\x1b[2J\r\n\t\x00\x85\u2028\u202e\u2066\ud800\x9b31m"
UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)


def everything(text: str) -> list[Event]:
    """An event of each kind that is shown, with a text wherever an agent can put one."""
    kinds: tuple[Any, ...] = ("read", "edit", "execute", "search", "subagent", "fetch", "other")
    calls = [ToolStarted(id=f"{text} {k}", name=text, kind=k, title=text) for k in kinds]
    return [
        SessionStarted(session=text, cwd=text, model=text, version=text),
        *calls,
        Text(id="t", text=f"x{text}"),
        Thinking(id="t", text=f"x{text}"),
        PermissionDenied(tool_id=calls[0].id, name=text, fix=text),
        PermissionDenied(name=text, fix=text[:5]),
        ToolFinished(id=calls[1].id, status="ok", output=f"x{text}"),
        ToolFinished(id=calls[2].id, status="error", error=text),
        ToolFinished(id=calls[3].id, status="error", error=f"Exit\n{text}", exit_code=1),
        ToolFinished(id=calls[4].id, status="cancelled", error=text),
        ToolFinished(id="gone", status="cancelled", name=text),
        Retrying(reason=text),
        LimitReported(window=text, status="rejected"),
        ModelChanged(before=text, after=text, reason=text),
        Notice(level="info", text=text),
        Error(kind="network", message=text),
        Unknown(name=text),
        Unreadable(reason="not_json", preview=f"x{text}"),
        TurnFinished(ok=False, errors=(f"x{text}",)),
        TurnFinished(ok=False, reason=text),
    ]


def test_hostile_text_never_reaches_the_output_unescaped() -> None:
    out = io.StringIO()
    display = PlainDisplay(out, HOSTILE, verbose=True)
    events = everything(HOSTILE)
    for seq, event in enumerate(events):
        display.show(Record(seq, None, 0, 0, event))
    lines = out.getvalue().split("\n")
    assert lines.pop() == ""
    # The session has no line, and the text is shown whole.
    assert len(lines) == len(events) - 1 + HOSTILE.count("\n")
    assert [line for line in lines if UNSAFE.search(line)] == []
    assert all(line.startswith("[\u241b]0;owned") for line in lines)


@given(st.text(st.characters(codec=None, categories=None), max_size=80))
def test_any_text_stays_on_its_line_and_is_safe(text: str) -> None:
    for line in shown(*everything(text), verbose=True):
        assert UNSAFE.search(line) is None
        assert line.startswith("[claude] ") or line == "[claude]"


def test_a_tool_name_of_several_lines_stays_on_one() -> None:
    start = ToolStarted(id="1", name="Read\n[claude] Complete", kind="execute", title="a\nb\tc\rd")
    assert printed(start) == "[claude] Read [claude] Complete: a b c\u240dd\n"
