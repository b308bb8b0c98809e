"""A run as a page: folded by default, everything with `full`."""

import io

import msgspec

from rookery.adapter.agent import Replacement
from rookery.display.console.paint import Paint
from rookery.display.console.screen import Screen
from rookery.display.page import Heading, Page
from rookery.display.terminal import TerminalDisplay
from rookery.model.events import Event, FileChanged, Text, ToolFinished, ToolStarted
from rookery.model.records import Record


def replaced(started: ToolStarted) -> tuple[Replacement, ...]:
    if started.kind != "edit":
        return ()
    return (Replacement("a\nold\nz", "a\nnew\nz"),)


def page(*events: Event, full: bool = False, colour: bool = False) -> list[str]:
    paint = Paint(colour=colour)
    screen = Screen(io.StringIO(), lambda: 40)
    display = TerminalDisplay(screen, "agent", columns=lambda: 40, paint=paint)
    made = Page(display, paint=paint, width=40, full=full, replacements=replaced)
    records = [Record(n, None, 0, 0, event) for n, event in enumerate(events)]
    return [*(line for record in records for line in made.lines(record)), *made.close()]


READ = ToolStarted(
    id="1", name="Read", kind="read", title="a", input=msgspec.Raw(b'{"path": "a", "n": [1]}')
)
GIVEN = ToolFinished(id="1", status="ok", output="one\n\ttwo\n")
EDIT = ToolStarted(id="2", name="Edit", kind="edit", title="a")
EDITED = ToolFinished(id="2", status="ok", output="fine")
CHANGED = FileChanged(path="a", added=1, removed=1, tool_id="2")


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

    display = TerminalDisplay(Screen(io.StringIO(), lambda: 40), "agent", columns=lambda: 40)
    made = Page(display, paint=Paint(), width=40, replacements=long)
    events: list[Event] = [EDIT, EDITED, CHANGED]
    records = [Record(n, None, 0, 0, event) for n, event in enumerate(events)]
    lines = [line for record in records for line in made.lines(record)]
    assert lines[1:3] == ["    +0", "    +1"]
    assert lines[-1] == "    … 12 more (--full)"


def test_differences_are_in_colour_also_in_a_command_s_output() -> None:
    assert "    \x1b[31m-old\x1b[0m" in page(EDIT, EDITED, CHANGED, colour=True)
    diff = ToolFinished(id="1", status="ok", output="@@ -1 +1 @@\n-x\n+y\n z")
    lines = page(READ, diff, full=True, colour=True)
    assert "    \x1b[32m+y\x1b[0m" in lines
    assert "    \x1b[36m@@ -1 +1 @@\x1b[0m" in lines


def test_the_head_tells_what_was_asked() -> None:
    display = TerminalDisplay(Screen(io.StringIO(), lambda: 9), "agent", columns=lambda: 9)
    made = Page(display, paint=Paint(), width=9)
    heading = Heading(run="k7f3", prompt="Fix it\nnow")
    assert list(made.head(heading)) == ["run k7f3", "    Fix it", "    now", "─" * 9]


def test_the_answer_is_laid_out_between_rules() -> None:
    display = TerminalDisplay(Screen(io.StringIO(), lambda: 9), "agent", columns=lambda: 9)
    made = Page(display, paint=Paint(), width=9)
    assert list(made.answer("**Done.**")) == ["─" * 9, "Done.", "─" * 9]
    assert list(made.answer(" ")) == []
