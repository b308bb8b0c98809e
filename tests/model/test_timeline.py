"""The timeline: what it lists, in place and once, and how little of it stays in memory."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import nightrook
from nightrook.model.events import (
    ContextCompacted,
    Denial,
    Error,
    Event,
    FileChanged,
    LimitReported,
    ModeChanged,
    ModelChanged,
    Notice,
    PermissionDenied,
    PermissionRequested,
    Retrying,
    SessionStarted,
    StreamClosed,
    TaskFinished,
    TaskProgress,
    TaskStarted,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolFinished,
    ToolInputDelta,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    Unreadable,
    UserMessage,
)
from nightrook.model.fold import fold
from nightrook.model.records import Record
from nightrook.model.timeline import Item, Place, Timeline
from tests.recorded import agent_of, cases

CLOSED = StreamClosed(
    results=0, truncated=False, open_tools=0, lines=0, blank=0, silent=0, unknown_fields=()
)
DELTAS = (TextDelta, ThinkingDelta, ToolInputDelta, ToolProgress, TaskProgress)


def records(*events: Event) -> list[Record]:
    """Records of events, one a second, ten bytes each."""
    return [Record(seq, float(seq), seq * 10, 10, event) for seq, event in enumerate(events)]


def timeline(*events: Event) -> Timeline:
    line = Timeline()
    line.take(records(*events))
    return line


def only(line: Timeline) -> dict[str, Any]:
    """The one item of a timeline, without what every item has."""
    (item,) = line.items
    known = msgspec.structs.asdict(item)
    return {k: v for k, v in known.items() if v is not None and k not in _EVERYWHERE}


_EVERYWHERE = ("id", "seq", "revision", "begin", "end", "place", "result")


def bash(id: str, title: str | None = None, parent: str | None = None) -> ToolStarted:
    return ToolStarted(id=id, name="Bash", kind="execute", title=title, parent=parent)


def test_nothing_is_listed_before_the_first_record() -> None:
    line = Timeline()
    assert (len(line.items), line.revision, line.seq, line.changes()) == (0, 0, 0, [])


def test_a_call_is_one_item_that_changes_when_it_ends() -> None:
    line = timeline(bash("a", "make"))
    assert line.items[0] == Item(
        0,
        "tool",
        0,
        1,
        key="a",
        title="make",
        name="Bash",
        tool="execute",
        begin=0.0,
        place=Place(0, 10),
    )
    failed = ToolFinished(id="a", status="error", error="no", exit_code=1)
    line.take([Record(1, 4.5, 10, 20, failed)])
    (item,) = line.items
    assert (item.status, item.detail, item.exit_code, item.size) == ("error", "no", 1, 2)
    assert (item.end, item.result, item.revision) == (4.5, Place(10, 20), 2)
    assert item.duration_s == 4.5


def test_the_calls_of_a_subagent_are_inside_its_call() -> None:
    line = timeline(
        ToolStarted(id="s", name="Task", kind="subagent", title="Look", subagent="explorer"),
        bash("a", parent="s"),
        Text(id="t", text="found", parent="s"),
        ToolFinished(id="a", status="ok", parent="s"),
        ToolFinished(id="s", status="ok"),
        bash("late", parent="s"),  # of a subagent that works in the background
    )
    assert [(item.kind, item.parent) for item in line.items] == [
        ("subagent", None),
        ("tool", 0),
        ("text", 0),
        ("tool", 0),
    ]
    assert line.items[0].subagent == "explorer"


def test_what_was_changed_belongs_to_the_call_even_after_its_end() -> None:
    edit = ToolStarted(id="e", name="Edit", kind="edit", title="/r/a")
    change = FileChanged(path="/r/a", change="modify", added=3, removed=1, tool_id="e")
    line = timeline(edit, ToolFinished(id="e", status="ok"), change)
    item = line.items[1]
    assert (item.kind, item.parent, item.title) == ("file", 0, "/r/a")
    assert (item.name, item.added, item.removed) == ("modify", 3, 1)


def test_turns_hold_what_happened_in_them_and_end_in_order() -> None:
    line = timeline(
        TurnStarted(origin="prompt"),
        Text(id="1", text="a"),
        TurnStarted(origin="task"),
        TurnFinished(ok=True, turns=3, cost_usd=0.5),
        TurnFinished(ok=False, errors=("", "it broke"), reason="error"),
    )
    first, text, second = line.items
    assert (first.kind, first.name, first.status) == ("turn", "prompt", "ok")
    assert (first.number, first.cost_usd, first.result) == (3, 0.5, Place(30, 10))
    assert (second.status, second.detail, second.name) == ("error", "it broke", "task")
    assert (text.turn, second.turn) == (0, None)


def test_a_result_without_a_start_is_a_turn_too() -> None:
    assert only(timeline(TurnFinished(ok=False, reason="max_turns"))) == {
        "kind": "turn",
        "status": "error",
        "detail": "max turns",
    }


def test_a_turn_without_a_result_is_orphaned_when_the_stream_ends() -> None:
    line = timeline(TurnStarted(), CLOSED)
    assert (line.items[0].status, line.items[0].end) == ("orphaned", 1.0)


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        (
            SessionStarted(session="s", model="m", version="2", cwd="/r"),
            {"kind": "session", "key": "s", "title": "m", "name": "2", "detail": "/r"},
        ),
        (Text(id="1", text="\n a b \nc"), {"kind": "text", "key": "1", "title": "a b", "size": 8}),
        (Thinking(id="1", text="hm"), {"kind": "thinking", "key": "1", "title": "hm", "size": 2}),
        (
            Thinking(id="1", redacted=True),
            {"kind": "thinking", "key": "1", "title": "", "size": 0},
        ),
        (UserMessage(text="do it"), {"kind": "message", "title": "do it", "size": 5}),
        (Error(kind="rate", message="slow"), {"kind": "error", "title": "slow", "name": "rate"}),
        (Notice(level="info", text="n"), {"kind": "notice", "title": "n", "name": "info"}),
        (
            ContextCompacted(before_tokens=9, after_tokens=1),
            {"kind": "compaction", "number": 9, "of": 1},
        ),
        (
            ModelChanged(before="a", after="b", reason="r"),
            {"kind": "model", "title": "b", "name": "a", "detail": "r"},
        ),
        (ModeChanged(mode="plan"), {"kind": "mode", "title": "plan"}),
        (Unknown(name="x"), {"kind": "unknown", "title": "x"}),
        (
            Unreadable(reason="not_json", preview="oops"),
            {"kind": "unreadable", "title": "oops", "name": "not_json", "size": 10},
        ),
        (
            ToolFinished(id="a", status="ok", name="Bash", kind="execute", output="abc"),
            {
                "kind": "tool",
                "key": "a",
                "name": "Bash",
                "tool": "execute",
                "status": "ok",
                "size": 3,
            },
        ),
        (
            TaskFinished(id="t", status="ok", title="x", summary="done"),
            {"kind": "task", "key": "t", "title": "x", "status": "ok", "detail": "done"},
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, msgspec.Struct) else "",
)
def test_every_kind_of_item_has_its_fields(event: Event, fields: dict[str, Any]) -> None:
    assert only(timeline(event)) == fields


def test_a_task_is_one_item_from_start_to_end() -> None:
    line = timeline(
        bash("a"),
        TaskStarted(id="t", kind="command", title="make", tool_id="a"),
        TaskFinished(id="t", status="cancelled", summary="stopped"),
    )
    task = line.items[1]
    assert (task.kind, task.parent, task.title, task.name) == ("task", 0, "make", "command")
    assert (task.status, task.detail, task.end) == ("cancelled", "stopped", 2.0)


def test_attempts_at_one_call_are_one_item() -> None:
    line = timeline(
        Retrying(attempt=1, max_attempts=10, status=529, reason="over_loaded"),
        Retrying(attempt=2, max_attempts=10, status=529, reason="over_loaded"),
        Text(id="1", text="here I am"),
        Retrying(attempt=1),
    )
    first, _, second = line.items
    assert (first.title, first.number, first.of) == ("over loaded (529)", 2, 10)
    assert (first.status, first.end) == ("ok", 2.0)
    assert (second.number, second.status) == (1, None)


def test_a_limit_has_an_item_for_each_status() -> None:
    line = timeline(
        LimitReported(window="five_hour", status="allowed", used=0.1),
        LimitReported(window="five_hour", status="allowed", used=0.2),
        LimitReported(window="five_hour", status="allowed", used=0.2),
        LimitReported(window="seven_day", status="allowed", used=0.3),
        LimitReported(window="five_hour", status="warning", used=0.9),
    )
    limits = [(item.name, item.status, item.used) for item in line.items]
    assert limits == [
        ("five_hour", "allowed", 0.2),
        ("seven_day", "allowed", 0.3),
        ("five_hour", "warning", 0.9),
    ]
    assert line.revision == 4  # the third report changed nothing


def test_a_denial_is_listed_once_and_marks_its_call() -> None:
    line = timeline(
        bash("a", "rm -r x"),
        ToolFinished(id="a", status="error", error="no"),
        PermissionDenied(tool_id="a", name="Bash", fix="Bash(rm:*)"),
        TurnFinished(ok=True, denials=(Denial(tool_id="a"), Denial(tool_id="b", name="Write"))),
    )
    call, denial, other, _ = line.items
    assert call.status == "denied"
    assert (denial.kind, denial.parent, denial.title) == ("denial", 0, "rm -r x")
    assert (denial.name, denial.detail) == ("Bash", "Bash(rm:*)")
    assert (other.kind, other.key, other.name) == ("denial", "b", "Write")


def test_a_call_that_was_denied_before_its_end_is_denied() -> None:
    denied = PermissionDenied(tool_id="a", name="Bash")
    line = timeline(bash("a"), denied, ToolFinished(id="a", status="error"))
    assert line.items[0].status == "denied"


ASK = PermissionRequested(id="q", tool_id="a", name="Bash", reason="outside")


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (ToolProgress(id="a"), "ok"),
        (ToolFinished(id="a", status="ok"), "ok"),
        (PermissionDenied(tool_id="a"), "denied"),
        (Text(id="1", text="go on"), "ok"),
        (TurnFinished(ok=True), "ok"),
        (Text(id="1", text="go on", parent="s"), None),
    ],
)
def test_a_question_ends_with_what_shows_that_it_was_answered(
    answer: Event, status: str | None
) -> None:
    line = timeline(bash("a", "make"), ASK, answer)
    question = next(item for item in line.items if item.kind == "question")
    assert (question.key, question.title, question.detail) == ("q", "make", "outside")
    assert question.status == status


def test_what_is_being_written_is_a_draft_until_it_is_whole() -> None:
    line = timeline(TextDelta(id="1", text="ab"), TextDelta(id="1", text="c"))
    assert (len(line.items), line.revision) == (0, 0)
    assert (line.drafts["1"].kind, line.drafts["1"].size) == ("text", 3)
    line.take([Record(2, 2.0, 20, 10, Text(id="1", text="abc"))])
    assert (len(line.items), line.drafts) == (1, {})


def test_drafts_that_are_never_finished_do_not_pile_up() -> None:
    line = timeline(*(ThinkingDelta(id=f"{n}", text="x") for n in range(1000)))
    assert len(line.drafts) == 64
    line.take([Record(1000, None, 0, 0, CLOSED)])
    assert line.drafts == {}


# Sequence numbers guard it.


def test_a_record_that_skips_others_is_refused() -> None:
    line = timeline(bash("a"))
    with pytest.raises(ValueError, match="record 2 is not the next one, 1"):
        line.take([Record(2, None, 0, 0, bash("b"))])


def decoded(path: Path) -> list[Record]:
    return list(nightrook.decode(path, agent=agent_of(path)))


def listed(line: Timeline) -> list[Item]:
    return list(line.items)


def whole(stream: Iterable[Record]) -> Timeline:
    line = Timeline()
    line.take(stream)
    return line


def test_folding_again_from_any_record_changes_nothing() -> None:
    for path in cases():
        stream = decoded(path)
        once, again = whole(stream), Timeline()
        for end in range(0, len(stream) + 7, 7):
            again.take(stream[max(0, end - 20) : end])  # as a viewer that comes back
        again.take(stream)
        assert listed(again) == listed(once)
        assert (again.revision, again.seq) == (once.revision, once.seq)


def test_without_deltas_the_items_are_the_same() -> None:
    for path in cases():
        stream = decoded(path)
        kept = [record for record in stream if not isinstance(record.event, DELTAS)]
        renumbered = [msgspec.structs.replace(r, seq=n) for n, r in enumerate(kept)]
        without, every = whole(renumbered), whole(stream)
        assert list(map(_without_numbers, without.items)) == list(
            map(_without_numbers, every.items)
        )


def _without_numbers(item: Item) -> Item:
    """An item without numbers of records, and without times that a sign of life may set."""
    question = {"end": None, "result": None} if item.kind == "question" else {}
    return msgspec.structs.replace(item, seq=0, revision=0, **question)


@pytest.mark.parametrize("limit", [None, 1, 10])
def test_a_viewer_that_asks_what_changed_has_every_item_once_and_up_to_date(
    limit: int | None,
) -> None:
    for path in cases()[::3]:
        stream, line = decoded(path), Timeline()
        seen: dict[int, Item] = {}
        revision = 0
        for start in range(0, len(stream), 9):
            line.take(stream[start : start + 9])
            while changed := line.changes(revision, limit):
                assert len({item.id for item in changed}) == len(changed)
                assert all(item.revision > revision for item in changed)
                seen.update((item.id, item) for item in changed)
                revision = changed[-1].revision
            assert [seen[n] for n in range(len(line.items))] == listed(line)
        assert revision == line.revision


def test_every_call_of_every_recorded_case_is_listed_once_and_has_ended() -> None:
    for path in cases():
        stream = decoded(path)
        line, state = whole(stream), fold(stream)
        calls = [item for item in line.items if item.kind in ("tool", "subagent")]
        assert len(calls) == len([r for r in stream if isinstance(r.event, ToolFinished)])
        assert all(item.status is not None for item in calls)
        failed = [item for item in calls if item.status in ("error", "timed_out", "cancelled")]
        assert len(failed) == state.failed_tools
        assert [item.id for item in line.items] == list(range(len(line.items)))
        assert all(item.parent is None or item.parent < item.id for item in line.items)


def test_items_survive_the_wire() -> None:
    for path in cases()[::5]:
        for item in whole(decoded(path)).items:
            assert msgspec.json.decode(msgspec.json.encode(item), type=Item) == item


def test_half_a_character_is_replaced() -> None:
    item = timeline(Text(id="\ud800", text="a\udfffb")).items[0]
    assert (item.key, item.title) == ("?", "a?b")
    msgspec.json.encode(item)


# What stays in memory is bounded for every item.


def test_no_item_is_large_whatever_the_agent_writes() -> None:
    long = "x\n" * 500_000
    events: Iterator[Event] = iter(
        [
            SessionStarted(session=long, model=long, cwd=long, version=long),
            TurnStarted(origin=long),
            Text(id=long, text=long),
            ToolStarted(id=long, name=long, kind="other", title=long, subagent=long),
            PermissionRequested(id=long, tool_id=long, name=long, reason=long),
            ToolFinished(id=long, status="error", error=long, output=long),
            FileChanged(path=long, tool_id=long),
            TaskStarted(id=long, title=long),
            TaskFinished(id=long, status="ok", summary=long),
            PermissionDenied(tool_id=long, name=long, fix=long),
            Retrying(reason=long),
            Error(kind="rate", message=long),
            Notice(level="info", text=long),
            ModelChanged(before=long, after=long, reason=long),
            Unknown(name=long),
            Unreadable(reason="not_json", preview=long),
            TurnFinished(ok=False, errors=(long,)),
        ]
    )
    line = timeline(*events)
    assert max(len(msgspec.json.encode(item)) for item in line.items) < 4096
