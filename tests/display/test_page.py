"""A run as a page: folded by default, everything with `full`."""

from collections.abc import Callable
from typing import Any

import msgspec
from tests.story.told import ToldStory

from nightrook.adapter.agent import Replacement
from nightrook.display.console import Paint
from nightrook.display.page import Heading, Page, PageOptions
from nightrook.model.events import (
    ContextCompacted,
    Error,
    Event,
    FileChanged,
    LimitReported,
    Notice,
    PermissionDenied,
    PermissionRequested,
    Retrying,
    SessionStarted,
    Text,
    Thinking,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unreadable,
)
from nightrook.model.questions import Decision
from nightrook.model.records import Record
from nightrook.store.decisions import Decided


def replaced(started: ToolStarted) -> tuple[Replacement, ...]:
    if started.kind != "edit":
        return ()
    return (Replacement("a\nold\nz", "a\nnew\nz"),)


def page(
    *events: Event,
    full: bool = False,
    verbose: bool = False,
    colour: bool = False,
    now: float | None = None,
    replacements: Callable[[ToolStarted], tuple[Replacement, ...]] = replaced,
    **options: Any,
) -> list[str]:
    records = [Record(n, n / 2, n, 1, event) for n, event in enumerate(events)]
    made = Page(
        ToldStory(records, replacements=replacements, **options),
        PageOptions(width=40, full=full, verbose=verbose, now=now),
        paint=Paint(colour=colour),
        redact=str,
    )
    return list(made.lines())


READ = ToolStarted(
    id="1", name="Read", kind="read", title="a", input=msgspec.Raw(b'{"path": "a", "n": [1]}')
)
GIVEN = ToolFinished(id="1", status="ok", output="one\n\ttwo\n")
EDIT = ToolStarted(id="2", name="Edit", kind="edit", title="a")
EDITED = ToolFinished(id="2", status="ok", output="fine")
CHANGED = FileChanged(path="a", added=1, removed=1, tool_id="2")


def test_a_call_without_an_end_is_running_while_the_run_is() -> None:
    assert page(READ, now=42.0) == ["[agent] Read: a            running 42.0s"]
    assert page(READ) == ["[agent] Read: a"]


def test_tools_are_folded_but_for_what_they_changed() -> None:
    assert page(READ, GIVEN, EDIT, EDITED, CHANGED) == [
        "[agent] Read: a",
        "[agent] Edit: a                    +1 −1",
        "     a",
        "    -old",
        "    +new",
        "     z",
    ]


def test_a_difference_follows_its_edit_even_if_nobody_counts_its_lines() -> None:
    assert page(EDIT, EDITED, READ, GIVEN)[:3] == ["[agent] Edit: a", "     a", "    -old"]
    assert page(EDIT, EDITED)[:2] == ["[agent] Edit: a", "     a"]


def test_full_shows_inputs_outputs_and_whole_texts() -> None:
    said = Text(id="t", text="first\nsecond")
    assert page(said, READ, GIVEN, full=True) == [
        "first",
        "second",
        "[agent] Read: a",
        "    path: a",
        "    n: [1]",
        "    one",
        "            two",
    ]


def test_an_edit_that_failed_shows_no_difference_unless_in_full() -> None:
    failed = ToolFinished(id="2", status="error", error="no such text")
    assert page(EDIT, failed) == ["[agent] Edit: a", "[agent] ERROR: no such text"]
    assert "    -old" in page(EDIT, failed, full=True)


def test_a_long_difference_is_folded() -> None:
    def long(started: ToolStarted) -> tuple[Replacement, ...]:
        return (Replacement("", "\n".join(map(str, range(20)))),)

    lines = page(EDIT, EDITED, CHANGED, replacements=long)
    assert lines[1:3] == ["    +0", "    +1"]
    assert lines[-1] == "    … 12 more (--full)"


def test_differences_are_in_colour_also_in_a_command_s_output() -> None:
    assert "    \x1b[31m-old\x1b[0m" in page(EDIT, EDITED, CHANGED, colour=True)
    diff = ToolFinished(id="1", status="ok", output="@@ -1 +1 @@\n-x\n+y\n z")
    lines = page(READ, diff, full=True, colour=True)
    assert "    \x1b[32m+y\x1b[0m" in lines
    assert "    \x1b[36m@@ -1 +1 @@\x1b[0m" in lines


def test_the_head_tells_what_was_asked() -> None:
    made = Page(ToldStory([]), PageOptions(width=9), paint=Paint(), redact=str)
    heading = Heading(run="k7f3", prompt="Fix it\nnow")
    assert list(made.head(heading)) == ["run k7f3", "    Fix it", "    now", "─" * 9]


def test_the_answer_is_laid_out_between_rules() -> None:
    made = Page(ToldStory([]), PageOptions(width=9), paint=Paint(), redact=str)
    assert list(made.answer("**Done.**")) == ["─" * 9, "Done.", "─" * 9]
    assert list(made.answer(" ")) == []


def bash(id: str, title: str, parent: str | None = None) -> ToolStarted:
    return ToolStarted(id=id, name="Bash", kind="execute", title=title, parent=parent)


def test_calls_are_in_the_order_in_which_they_began_each_with_its_error() -> None:
    failed = ToolFinished(id="a", status="error", error="no", exit_code=1)
    done = ToolFinished(id="b", status="ok")
    assert page(bash("a", "one"), bash("b", "two"), done, failed) == [
        "[agent] Bash: one                   1.5s",
        "[agent] ERROR: exit 1: no",
        "[agent] Bash: two",
    ]


def test_what_a_subagent_did_is_below_its_call() -> None:
    agent = ToolStarted(id="s", name="Task", kind="subagent", title="Look", subagent="explorer")
    lines = page(
        agent,
        bash("a", "ls", parent="s"),
        ToolFinished(id="a", status="ok"),
        Text(id="t", text="found", parent="s"),
        ToolFinished(id="s", status="ok"),
    )
    assert lines == [
        "[agent] Task: Look        explorer  2.0s",
        "[agent] │ Bash: ls",
        '[agent] │ "found"',
    ]


def test_a_denied_call_is_shown_once_with_what_would_allow_it() -> None:
    lines = page(
        bash("a", "push"),
        ToolFinished(id="a", status="error", error="no"),
        PermissionDenied(tool_id="a", name="Bash", fix="Bash(push)"),
    )
    assert lines == ["[agent] DENIED: Bash: push", "        allow it: 'Bash(push)'"]


def test_calls_that_were_cut_off_or_cancelled_say_so() -> None:
    assert page(bash("a", "x"), ToolFinished(id="a", status="orphaned")) == [
        "[agent] Bash: x                  cut off"
    ]
    assert page(bash("a", "x"), ToolFinished(id="a", status="cancelled")) == [
        "[agent] CANCELLED: Bash: x"
    ]


def test_every_turn_ends_before_the_next_one() -> None:
    lines = page(
        SessionStarted(session="s", version="2", model="m", cwd="/r"),
        TurnStarted(),
        Text(id="1", text="a"),
        TurnFinished(ok=True, cost_usd=0.5),
        TurnStarted(),
        Text(id="2", text="b"),
        TurnFinished(ok=False, errors=("it broke\nhere",)),
    )
    assert lines == [
        "[rook] agent 2 · m · /r",
        '[agent] "a"',
        "[agent] Complete (cost: $0.5000)",
        '[agent] "b"',
        "[agent] FAILED: it broke",
    ]


def test_what_matters_is_shown_to_everybody_and_the_rest_to_those_who_ask() -> None:
    events: list[Event] = [
        Retrying(attempt=2, max_attempts=10, reason="busy"),
        ContextCompacted(before_tokens=9, after_tokens=1),
        LimitReported(window="five_hour", status="rejected"),
        Error(kind="network", message="gone"),
        Unreadable(reason="truncated"),
        Notice(level="info", text="n"),
        Thinking(id="1", text="hm\nmore"),
        LimitReported(window="week", status="allowed", used=0.2),
    ]
    matter = [
        "[agent] RETRY: busy, attempt 2 of 10",
        "[agent] COMPACTED: 9 to 1 tokens",
        "[agent] LIMIT: five hour: rejected",
        "[agent] ERROR: gone",
        "[rook] WARNING: the last line was cut off",
    ]
    assert page(*events) == matter
    assert page(*events, verbose=True) == [
        *matter,
        "[agent] NOTE: n",
        "[agent] (thinks) hm",
        "[agent] LIMIT: week: allowed, 20% used",
    ]


def test_verbose_shows_the_first_line_of_an_output() -> None:
    assert page(READ, GIVEN, verbose=True)[1:] == ["[agent]   -> one two"]


def test_what_was_decided_stands_where_it_was_asked() -> None:
    made = Decided(
        at=1.0, id="q", name="Bash", title="x", decision=Decision(allow=True), waited_s=1.0
    )
    asked = PermissionRequested(id="q", tool_id="a", name="Bash")
    lines = page(bash("a", "x"), asked, decisions={"q": made})
    assert lines[1] == "[rook] asked: Bash: x · yes, once"
