"""What somebody who watches sees: the plain words, laid out, with what belongs beside them."""

import io
from typing import Any

from tests.recorded import CASES, name_of
from tests.rules import each
from tests.terminals import COLOURS

import nightrook
from nightrook.display.console import Paint
from nightrook.display.event_lines import RunContext
from nightrook.display.plain import PlainDisplay
from nightrook.display.screen import Screen
from nightrook.display.terminal import TerminalDisplay
from nightrook.model.events import (
    ContextCompacted,
    Event,
    FileChanged,
    LimitReported,
    Notice,
    PermissionDenied,
    PlanChanged,
    PlanItem,
    Replayed,
    Retrying,
    SessionStarted,
    Text,
    TextDelta,
    Thinking,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    Unknown,
)
from nightrook.model.fold import Beginning, Fold
from nightrook.model.records import Record

Timed = Event | tuple[float, Event]


def watched(*events: Timed, width: int = 70, **options: Any) -> tuple[Fold, TerminalDisplay]:
    timed = [event if isinstance(event, tuple) else (None, event) for event in events]
    records = (Record(n, at, 0, 12_300_000, event) for n, (at, event) in enumerate(timed))
    fold = Fold(records, beginning=options.pop("beginning", None))
    screen = Screen(options.pop("out", None) or io.StringIO(), lambda: width)
    known = {
        name: options.pop(name)
        for name in ("run", "began", "reports_starts", "redact")
        if name in options
    }
    context = RunContext(cwd=fold.state.cwd, snapshot=fold.state.snapshot, **known)
    return fold, TerminalDisplay(
        screen, "claude", columns=lambda: width, context=context, **options
    )


def shown(*events: Timed, **options: Any) -> list[str]:
    fold, display = watched(*events, **options)
    lines = [line for record in fold for line in display.lines(record)]
    return [*lines, *display.released()]


def bash(id: str = "1", title: str = "go vet ./...", **more: Any) -> ToolStarted:
    return ToolStarted(id=id, name="Bash", kind="execute", title=title, **more)


def test_what_an_agent_does_not_tell_of_itself_is_told_as_it_was_asked_for() -> None:
    beginning = Beginning(model="gpt-5.5", cwd="/home/me/project")
    read = ToolStarted(id="1", name="Read", kind="read", title="/home/me/project/a/b.py")
    session = SessionStarted(session="s")
    ended = ToolFinished(id="1", status="ok")
    lines = shown(session, read, ended, beginning=beginning, run="k7f3", home="/home/me")
    assert lines == ["[rook] claude · gpt-5.5 · ~/project · run k7f3", "[claude] Read: a/b.py"]


def test_the_example_of_the_design_as_it_is_on_a_terminal() -> None:
    package = "/home/me/project/internal/config"
    assert shown(
        SessionStarted(version="2.1.325", model="claude-sonnet-4-5", cwd="/home/me/project"),
        ToolStarted(id="1", name="Read", kind="read", title=f"{package}/config.go"),
        ToolFinished(id="1", status="ok"),
        Text(id="t", text="I'll fix the failing test by updating the expected value..."),
        ToolStarted(id="2", name="Edit", kind="edit", title=f"{package}/config_test.go"),
        ToolFinished(id="2", status="ok"),
        FileChanged(path=f"{package}/config_test.go", added=3, removed=1, tool_id="2"),
        (10.0, bash("3")),
        (12.1, ToolFinished(id="3", status="error", error="Exit code 1\nno", exit_code=1)),
        ToolStarted(
            id="4",
            name="Task",
            kind="subagent",
            title="Explore the call sites",
            subagent="explorer",
        ),
        ToolStarted(id="5", name="Grep", kind="search", title="LoadConfig(", parent="4"),
        ToolFinished(id="5", status="ok", parent="4"),
        ToolFinished(id="4", status="ok"),
        ToolStarted(id="6", name="Write", kind="edit", title="/etc/hosts"),
        PermissionDenied(tool_id="6", name="Write", fix="Edit(//etc/hosts)"),
        ToolFinished(id="6", status="denied", error="no"),
        Retrying(attempt=2, max_attempts=10, delay_s=4.0, status=529, reason="overloaded"),
        TurnFinished(ok=True, cost_usd=0.015),
        home="/home/me",
        run="k7f3",
    ) == [
        "[rook] claude 2.1.325 · claude-sonnet-4-5 · ~/project · run k7f3",
        "[claude] Read: internal/config/config.go",
        '[claude] "I\'ll fix the failing test by updating the expected value..."',
        "[claude] Edit: internal/config/config_test.go                    +3 −1",
        "[claude] Bash: go vet ./...                                       2.1s",
        "[claude] ERROR: exit 1: no",
        "[claude] Task: Explore the call sites                         explorer",
        "[claude] │ Grep: LoadConfig(",
        "[claude] DENIED: Write: /etc/hosts       allow it: 'Edit(//etc/hosts)'",
        "[claude] RETRY: overloaded (529), attempt 2 of 10 in 4s",
        "[claude] Complete (cost: $0.0150)",
    ]


def test_the_colours_are_those_of_the_design() -> None:
    started = ToolStarted(id="1", name="Edit", kind="edit", title="/r/a")
    lines = shown(
        SessionStarted(cwd="/r"),
        Text(id="t", text="hi"),
        started,
        ToolFinished(id="1", status="ok"),
        FileChanged(path="/r/a", added=3, removed=1, tool_id="1"),
        ToolFinished(id="2", status="error", error="no"),
        TurnFinished(ok=True, cost_usd=1.0),
        paint=Paint(colour=True),
        width=34,
    )
    assert lines == [
        "\x1b[36m[rook]\x1b[0m claude · /r",
        '\x1b[36m[claude]\x1b[0m \x1b[39m"hi"\x1b[0m',
        "\x1b[36m[claude]\x1b[0m \x1b[33mEdit\x1b[0m: a             "
        "\x1b[32m+3\x1b[0m \x1b[31m−1\x1b[0m",
        "\x1b[36m[claude]\x1b[0m \x1b[1;31mERROR: no\x1b[0m",
        "\x1b[36m[claude]\x1b[0m \x1b[32mComplete (cost: $1.0000)\x1b[0m",
    ]


def test_a_path_links_to_its_file() -> None:
    lines = shown(
        SessionStarted(cwd="/r"),
        ToolStarted(id="1", name="Read", kind="read", title="/r/a b\x1b;é.py"),
        ToolFinished(id="1", status="ok"),
        bash("2"),
        ToolFinished(id="2", status="ok"),
        paint=Paint(links=True, host="here"),
    )
    address = "file://here/r/a%20b%1B%3B%C3%A9.py"
    assert lines[1:] == [
        f"[claude] Read: \x1b]8;;{address}\x1b\\a b␛;é.py\x1b]8;;\x1b\\",
        "[claude] Bash: go vet ./...",
    ]


@each("path", CASES, ids=name_of)
def test_the_words_are_those_of_the_plain_lines(path: Any) -> None:
    """Every plain line of a recorded run is on the terminal, too, denied calls as such."""
    plain = PlainDisplay(io.StringIO(), "claude")
    _, display = watched(width=1000)
    fold = Fold(nightrook.decode(path, agent="claude"))
    told: list[str] = []
    seen: list[str] = []
    for record in fold:
        told += plain.lines(record)
        seen += display.lines(record)
    seen += display.released()
    on_screen = [" ".join(line.replace("│ ", "").split()) for line in seen]
    for line in told:
        if line.startswith("[claude]   +"):  # the lines of an edit are beside it on a terminal
            assert any(said.endswith(line[11:]) for said in on_screen), line
            continue
        head = line.partition(" (allow it: ")[0]
        if head.startswith("[claude] ERROR"):
            head = head.rpartition(" (")[0] or head  # which call it was stands above it
        words = " ".join(head.split()).replace("[claude] CUT OFF: ", "[claude] ")
        denied = words.replace("[claude] ", "[claude] DENIED: ")
        cancelled = words.replace("[claude] ", "[claude] CANCELLED: ")
        ways = (words, denied, cancelled)
        assert any(said.startswith(way) for said in on_screen for way in ways), words


def test_a_call_that_never_ended_is_told_as_cut_off() -> None:
    assert shown(bash(), ToolFinished(id="1", status="orphaned"), width=40) == [
        "[claude] Bash: go vet ./...      cut off"
    ]


def test_lines_counted_before_the_end_of_an_edit_or_never_are_told_right() -> None:
    edit = ToolStarted(id="1", name="Edit", kind="edit", title="a")
    done = ToolFinished(id="1", status="ok")
    early = FileChanged(path="a", added=1, removed=0, tool_id="1")
    other = FileChanged(path="b", added=9, removed=9, tool_id="7")
    assert shown(edit, early, done, width=30) == ["[claude] Edit: a         +1 −0"]
    assert shown(edit, done, other, width=30) == ["[claude] Edit: a"]
    assert shown(edit, done, width=30) == ["[claude] Edit: a"]


def test_parallel_subagents_are_told_apart_by_name() -> None:
    def agent(id: str, title: str) -> ToolStarted:
        return ToolStarted(id=id, name="Task", kind="subagent", title=title)

    lines = shown(
        agent("1", "One"),
        agent("2", "Two"),
        Text(id="a", text="x", parent="1"),
        Text(id="b", text="y", parent="1"),
        Text(id="c", text="z", parent="2"),
        ToolStarted(id="3", name="Task", kind="subagent", title="Deep", parent="2"),
        Text(id="d", text="w", parent="3"),
        width=30,
    )
    assert lines == [
        "[claude] Task: One",
        "[claude] Task: Two",
        '[claude] │ "x"             One',
        '[claude] │ "y"',
        '[claude] │ "z"             Two',
        "[claude] │ Task: Deep",
        '[claude] │ │ "w"          Deep',
    ]


def test_long_words_go_on_under_their_beginning() -> None:
    failed = ToolFinished(id="1", status="error", error="one two three four", parent="p")
    assert shown(failed, width=24) == ["[claude] ERROR: one two", "         three four"]
    said = Text(id="t", text="x" * 30, parent="p")
    assert shown(said, width=24) == [
        '[claude] │ "' + "x" * 12,
        "           " + "x" * 13,
        "           " + "x" * 5 + '"',
    ]


def test_what_does_not_fit_on_the_right_follows_below() -> None:
    denied = PermissionDenied(name="Bash", fix="Bash(make all)")
    assert shown(denied, width=40) == [
        "[claude] DENIED: Bash",
        "         allow it: 'Bash(make all)'",
    ]


@each("width", [30, 40, 50, 59])
def test_tool_lines_break_at_words_on_a_narrow_terminal(width: int) -> None:
    command = "python -m pytest --quiet --color no tests/display"
    start = ToolStarted(id="1", name="Bash", kind="execute", title=command)
    lines = shown((1.0, start), (3.1, ToolFinished(id="1", status="ok")), width=width)
    first, *more = lines
    assert len(first) == width
    assert first.endswith("  2.1s")
    assert all(len(line) <= width and line.startswith(" " * 9) for line in more)
    words = " ".join([first.removesuffix("2.1s"), *more]).split()
    assert words == ["[claude]", "Bash:", *command.split()]


def test_each_row_of_a_broken_path_is_linked() -> None:
    start = ToolStarted(id="1", name="Read", kind="read", title="/repo/" + "long/" * 8)
    lines = shown(start, ToolFinished(id="1", status="ok"), width=40, paint=Paint(links=True))
    assert len(lines) == 2
    assert all("file:///repo/long" in line for line in lines)


def test_a_line_that_is_broken_has_its_secrets_replaced_before() -> None:
    said = Text(id="1", text="The password is really hunter-hunter.")
    lines = shown(said, width=36, redact=lambda text: text.replace("hunter-hunter", "[redacted]"))
    assert " ".join(" ".join(lines).split()) == '[claude] "The password is really [redacted]."'


def test_verbose_keeps_the_changed_lines_beside_the_duration() -> None:
    start = ToolStarted(id="1", name="Edit", kind="edit", title="a.py")
    ended = ToolFinished(id="1", status="ok", output="updated")
    changed = FileChanged(path="a.py", added=2, removed=1, tool_id="1")
    events = ((1.0, start), (1.5, ended), (1.5, changed), TurnFinished(ok=True))
    lines = shown(*events, verbose=True)
    assert [" ".join(line.split()) for line in lines[:2]] == [
        "[claude] Edit: a.py +2 −1 0.5s",
        "[claude] -> updated",
    ]


def test_the_lines_of_all_files_of_one_call_are_counted() -> None:
    start = ToolStarted(id="1", name="apply_patch", kind="edit", title="a and 1 more")
    changed = [FileChanged(path=p, added=2, removed=1, tool_id="1") for p in ("a", "b")]
    line, _ = shown(start, ToolFinished(id="1", status="ok"), *changed, TurnFinished(ok=True))
    assert line.endswith("  +4 −2")


def test_what_is_repeated_of_an_earlier_turn_is_shown_with_verbose_alone() -> None:
    events = (
        Replayed(kind="message", text="Fix it\nnow"),
        Replayed(kind="tool", name="Bash", text="make test"),
        Replayed(kind="tool"),
    )
    assert shown(*events) == []
    assert shown(*events, verbose=True) == [
        "[claude] (earlier) Fix it",
        "[claude] (earlier) Bash: make test",
        "[claude] (earlier) a call",
    ]


def test_verbose_shows_every_text_whole() -> None:
    said = Text(id="1", text='First "line".\n\n  code\nLast ' + "word " * 30 + "end.")
    lines = shown(said, verbose=True, width=60)
    assert lines[:3] == ['[claude] "First "line".', "[claude]", "[claude]       code"]
    assert lines[3].startswith("[claude]     Last word word")
    assert all(line.startswith(" " * 13 + "word") for line in lines[4:-1])
    assert lines[-1].endswith('end."')
    assert max(map(len, lines)) <= 60


def test_what_stands_on_the_right_is_not_too_far_away() -> None:
    (line,) = shown((1.0, bash()), (9.0, ToolFinished(id="1", status="ok")), width=200)
    assert len(line) == 100


def test_thinking_notices_and_the_unknown_are_for_those_who_ask() -> None:
    extra: list[Event] = [
        Thinking(id="1", text="hm"),
        Notice(level="info", text="n"),
        Unknown(name="u"),
        LimitReported(window="five_hour", status="allowed", used=0.2),
    ]
    assert shown(*extra) == []
    assert len(shown(*extra, verbose=True)) == 4


def test_limits_that_matter_and_compactions_are_told_to_everybody() -> None:
    assert shown(
        LimitReported(window="five_hour", status="warning", used=0.9),
        ContextCompacted(before_tokens=9, after_tokens=1),
    ) == ["[claude] LIMIT: five hour: warning, 90% used", "[claude] COMPACTED: 9 to 1 tokens"]


def test_verbose_tells_outputs_and_short_times() -> None:
    lines = shown((1.0, bash()), (1.3, ToolFinished(id="1", status="ok", output="fine")))
    assert lines == ["[claude] Bash: go vet ./..."]
    lines = shown(
        (1.0, bash()), (1.3, ToolFinished(id="1", status="ok", output="fine")), verbose=True
    )
    assert [line.split() for line in lines] == [
        ["[claude]", "Bash:", "go", "vet", "./...", "0.3s"],
        ["[claude]", "->", "fine"],
    ]


def status(*events: Timed, now: float = 112.0, width: int = 100, **options: Any) -> str:
    fold, display = watched(*events, width=width, began=100.0, **options)
    for record in fold:
        list(display.lines(record))
    return display.status(now)[2:]


def test_the_status_line_says_what_runs_and_since_when() -> None:
    assert status() == "starting   12s"
    assert status((100.0, bash())) == "Bash: go vet ./... 12s   12s"
    assert status((100.0, bash()), (105.0, bash("2", "ls"))) == "Bash: ls (+1) 7s   12s"
    assert status((101.0, TextDelta(id="t", text="x"))) == "writing 11s   12s"
    done = ToolFinished(id="1", status="ok")
    assert status((100.0, bash()), (104.0, done)) == "waiting for the model 8s   12s"
    # An agent that reports calls when they have ended may be inside one.
    assert status((100.0, bash()), (104.0, done), reports_starts=False) == "working 8s   12s"
    assert status((100.0, SessionStarted()), reports_starts=False) == "working 12s   12s"
    assert status(Retrying(reason="overloaded")) == "RETRY: overloaded   12s"
    assert status(now=5000.0) == "starting   1h 21m"


def test_progress_is_signalled_to_terminals_that_show_it_and_taken_back() -> None:
    out = io.StringIO()
    plan = (PlanItem(text="a", status="completed"), PlanItem(text="b"))
    fold, display = watched(bash(), PlanChanged(items=plan), out=out, progress=True)
    display.tick(1.0)
    for record in fold:
        display.show(record)
    display.tick(1.1)
    display.tick(1.2)
    display.close()
    signals = [part for part in out.getvalue().split("\x1b") if part.startswith("]9;4")]
    assert signals == ["]9;4;3;0", "]9;4;1;50", "]9;4;0;0"]
    out = io.StringIO()
    _, quiet = watched(out=out)
    quiet.tick(1.0)
    quiet.close()
    assert "]9;" not in out.getvalue()


def test_rook_s_own_words_stand_above_the_status_line_or_in_the_log() -> None:
    out, log = io.StringIO(), io.StringIO()
    _, display = watched(out=out)
    display.tick(1.0)
    display.say("a\x1bb")
    assert "\r\x1b[J[rook] a␛b\n⠋ starting" in out.getvalue()
    PlainDisplay(log, "claude").say("a\x1bb", "c")
    assert log.getvalue() == "[rook] a␛b\n[rook] c\n"


def test_colours_can_be_had_in_a_log_and_change_no_word() -> None:
    events: list[Event] = [bash(), ToolFinished(id="1", status="error", error="no")]
    plain, coloured = (
        [
            line
            for n, event in enumerate(events)
            for line in PlainDisplay(io.StringIO(), "claude", paint=paint).lines(
                Record(n, None, 0, 0, event)
            )
        ]
        for paint in (Paint(), Paint(colour=True))
    )
    assert coloured != plain
    assert [COLOURS.sub("", line) for line in coloured] == plain
