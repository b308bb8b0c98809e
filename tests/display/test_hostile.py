"""Nothing an agent writes can do more to a terminal than be read, on whatever way it gets there.

The bytes are looked at twice: what a display writes without colours holds no control character at
all, and with colours it is the same but for sequences of ours.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from tests.display.hostile import PAYLOADS, events, strings
from tests.rules import each
from tests.story.told import ToldStory
from tests.terminals import COLOURS, Emulator, emulate

from nightrook.adapter.agent import Replacement
from nightrook.display.console import Paint
from nightrook.display.ending import AboutRun, summary
from nightrook.display.event_lines import RunContext
from nightrook.display.markdown_to_terminal import markdown_to_terminal
from nightrook.display.page import Heading, Page, PageOptions
from nightrook.display.plain import PlainDisplay
from nightrook.display.screen import Screen
from nightrook.display.status import status_line
from nightrook.display.table import table
from nightrook.display.terminal import TerminalDisplay
from nightrook.model.ending import Ending
from nightrook.model.events import Event, ToolStarted
from nightrook.model.fold import Fold
from nightrook.model.records import Record
from nightrook.model.snapshot import RunningTool, Snapshot
from nightrook.model.status import EXIT_CODES
from nightrook.model.verdict import Verdict

UNSAFE = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
FEW = 10_000
MANY = 1_000_000
AT_ONCE = 20  # each of so many strings stands in several places of every display


class Sink:
    """Keeps what is written to it."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        return


def records(told: Iterable[Event]) -> Iterator[Record]:
    return (Record(seq, float(seq), 0, 0, event) for seq, event in enumerate(told))


def all_ways(*texts: str, colour: bool) -> Iterator[str]:
    """Every line that some display makes of events that hold these texts."""
    text = texts[0]
    paint = Paint(colour=colour, links=colour, host="here")
    told = Fold(records(events(*texts)))
    sink: Any = Sink()
    shown: list[Record] = []
    context = RunContext(run=text, snapshot=told.state.snapshot)
    options: dict[str, Any] = {"context": context, "verbose": True, "paint": paint}
    plain = PlainDisplay(sink, text, **options)
    screen = Screen(sink, lambda: 80)
    watched = TerminalDisplay(screen, text, columns=lambda: 80, **options)
    for record in told:
        yield from plain.lines(record)
        yield from watched.lines(record)
        yield watched.status(100.0)
        shown.append(record)
    story = ToldStory(
        shown,
        label=text,
        replacements=lambda started: (Replacement(text, f"new {text}"),),
        snapshot=told.state.snapshot,
    )
    page = Page(story, PageOptions(width=60, full=True), paint=paint, redact=str)
    yield from page.head(Heading(run="k7f3", prompt=text, started_at=0.0))
    yield from page.lines()
    for status in EXIT_CODES:
        verdict = Verdict(status=status, sentence=text, exit_code=1)
        about = AboutRun(run="k7f3", resumable=True, own_agent=text)
        yield from summary(
            Ending.of_run(verdict, started_at=0.0, ended_at=1.0), about, told.state, paint
        )
    yield from table(("A", "B"), [(text, text)], width=60)


def assert_safe(text: str) -> None:
    bare = list(all_ways(text, colour=False))
    assert [line for line in bare if UNSAFE.search(line) or "\n" in line] == []
    coloured = [COLOURS.sub("", line) for line in all_ways(text, colour=True)]
    assert coloured == bare


@each("name", PAYLOADS)
def test_a_known_payload_is_safe_on_every_way_to_the_screen(name: str) -> None:
    assert_safe(PAYLOADS[name])


def assert_untouched(screen: Emulator) -> None:
    """Assert that a screen was only written to, line by line."""
    assert screen.deeds == []
    assert (screen.title, screen.icon_name) == ("", "")
    assert screen.mode == Emulator().mode
    assert screen.margins is None
    assert screen.charset == 0


@each("name", PAYLOADS)
def test_a_known_payload_leaves_title_clipboard_modes_and_cursor_alone(name: str) -> None:
    told = Fold(records(events(PAYLOADS[name])))
    sink: Any = Sink()
    paint = Paint(colour=True, links=True, host="here")
    with TerminalDisplay(
        Screen(sink, lambda: 80),
        PAYLOADS[name],
        columns=lambda: 80,
        context=RunContext(snapshot=told.state.snapshot),
        verbose=True,
        paint=paint,
    ) as display:
        for record in told:
            display.show(record)
            display.tick(float(record.seq))
    sequences = set(re.findall("\x1b(?:\\[[0-9;?]*[A-Za-z]|\\][0-9]+)", sink.text))
    allowed = re.compile("\x1b(?:\\[[0-9;]*m|\\[J|\\[K|\\]8)")
    assert {found for found in sequences if not allowed.fullmatch(found)} == set()
    assert_untouched(emulate(sink.text, lines=200))


def test_the_emulator_would_notice() -> None:
    noticed = [name for name, text in PAYLOADS.items() if emulate(text).deeds]
    assert {"title", "other screen", "hidden cursor", "cursor anywhere", "bell"} <= set(noticed)


@each("colour", [False, True])
@each("name", PAYLOADS)
def test_an_answer_s_markdown_is_safe_after_it_was_laid_out(name: str, colour: bool) -> None:
    text = PAYLOADS[name]
    page = f"# {text}\n\n{text} **{text}** `{text}`\n\n- {text}\n\n```sh\n{text}\n```\n\n> {text}"
    page += f"\n\n| {text} | b |\n|---|---|\n| {text} | [{text}](http://x/{text}) |\n"
    shown = COLOURS.sub("", markdown_to_terminal(page, width=60, colour=colour))
    assert UNSAFE.search(shown) is None
    assert_untouched(emulate(markdown_to_terminal(page, width=60, colour=colour), lines=200))


def run_many(count: int, seed: int) -> None:
    batch: list[str] = []
    for text in strings(count, seed):
        batch.append(text)
        if len(batch) == AT_ONCE:
            # Without colours: `assert_safe` shows that they change nothing.
            assert UNSAFE.search("".join(all_ways(*batch, colour=False))) is None, batch
            assert (
                UNSAFE.search(markdown_to_terminal("\n\n".join(batch), width=60, colour=False))
                is None
            )
            batch.clear()
    assert not batch


@pytest.mark.slow
def test_ten_thousand_hostile_strings_leave_no_control_byte_on_any_way() -> None:
    run_many(FEW, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_a_million_hostile_strings_leave_no_control_byte_on_any_way(seed: int) -> None:
    run_many(MANY // 20, seed=100 + seed)


@pytest.mark.slow
def test_hostile_strings_in_colour_are_the_same_but_for_the_colours() -> None:
    for text in strings(300, seed=2):
        assert_safe(text)


@pytest.mark.slow
def test_a_screen_of_hostile_strings_is_only_written_to() -> None:
    for text in strings(40, seed=3):
        lines = all_ways(text, colour=True)
        assert_untouched(emulate("\n".join(lines), lines=300))


@pytest.mark.slow
@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_a_hostile_status_line_keeps_to_its_width(width: int) -> None:
    for text in strings(500, seed=4):
        tool = RunningTool(id="1", name=text, title=text, started_at=0.0)
        shot = Snapshot(activity="tool", since=0.0, open_tools=(tool,), tools_open=1)
        line = status_line(
            shot, now=9.0, began=0.0, cwd=None, width=width - 1, paint=Paint(colour=True)
        )
        screen = emulate(line, columns=width, lines=3)
        assert screen.rows[1:] == []
        assert screen.cursor.y == 0


def test_joined_emoji_and_indic_text_reach_the_screen_whole() -> None:
    text = "👩‍👩‍👧‍👦 क्‍ष ശ്രീ नमस्ते שלום"
    told = Fold(records([ToolStarted(id="1", name="X", kind="other", title=text)]))
    sink: Any = Sink()
    display = PlainDisplay(sink, "a")
    for record in told:
        display.show(record)
    assert text in sink.text
    assert text in markdown_to_terminal(text, width=60, colour=True)
