"""One fold of records: what it knows, and that neither cuts nor repeats can change it."""

from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, get_args

import msgspec
import mypy.api
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    ModelUsage,
    Notice,
    PermissionDenied,
    PermissionRequested,
    PlanChanged,
    PlanItem,
    Retrying,
    SessionStarted,
    StreamClosed,
    TaskFinished,
    TaskProgress,
    TaskStarted,
    TaskUsage,
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
    UnknownField,
    Unreadable,
    UsageReported,
    UserMessage,
)
from nightrook.model.fold import Fold, fold
from nightrook.model.price import no_prices
from nightrook.model.records import Record
from nightrook.model.state import FileState, RunState, TaskSpan, ToolSpan, Turn
from nightrook.model.timeline import Items, Timeline
from nightrook.story.feed import Feed
from nightrook.story.tail import Tail
from tests.model.test_records import FULL, LEAST
from tests.recorded import ALL, CASES, folded, messages, name_of, results
from tests.rules import each

START = SessionStarted(
    session="s", model="m", cwd="/repo", version="2.1.325", permission_mode="default"
)
CLOSED = StreamClosed(
    results=0, truncated=False, open_tools=0, lines=0, blank=0, silent=0, unknown_fields=()
)


def numbered(*events: Event | tuple[float, Event]) -> list[Record]:
    """Records of events; one that is given with a time arrived then."""
    return [
        Record(seq, event[0], 0, 0, event[1])
        if isinstance(event, tuple)
        else Record(seq, None, 0, 0, event)
        for seq, event in enumerate(events)
    ]


def after(*events: Event | tuple[float, Event]) -> RunState:
    return fold(numbered(*events))


def contents(state: RunState) -> dict[str, Any]:
    """All that a state knows, the ledger's books included, fit to be compared."""
    known = {k: v for k, v in vars(state).items() if k not in ("ledger", "books")}
    known["ledger"] = {k: v for k, v in vars(state.ledger).items() if k != "_prices"}
    return known


def listed(path: Path) -> Items:
    line = Timeline()
    line.take(nightrook.decode(path, agent="claude"))
    return line.items


def bash(id: str, parent: str | None = None, title: str | None = None) -> ToolStarted:
    return ToolStarted(id=id, name="Bash", kind="execute", title=title, parent=parent)


# What it knows.


def test_nothing_is_known_before_the_first_record() -> None:
    state = RunState()
    assert (state.session, state.model, state.version, state.mode) == (None, None, None, None)
    assert (state.turns, state.results, state.texts, state.errors) == ([], [], [], [])
    assert (state.last_activity, state.lines, state.silent) == (None,) * 3
    assert (state.asked, state.retrying, state.drift("Claude Code")) == (None, None, None)
    assert not state.heard


def test_session_model_version_folder_and_mode_come_from_the_session() -> None:
    state = after(START)
    assert (state.session, state.model, state.version) == ("s", "m", "2.1.325")
    assert (state.cwd, state.mode) == ("/repo", "default")


def test_turns_have_their_origin_times_and_results() -> None:
    first, second = TurnFinished(ok=True, text="a"), TurnFinished(ok=False)
    state = after(
        (1.0, TurnStarted(origin="prompt")),
        (2.0, first),
        (3.0, TurnStarted(origin="task")),
        (5.0, second),
        (6.0, TurnStarted(origin="schedule")),
    )
    assert state.turns == [
        Turn("prompt", 1.0, 2.0, first),
        Turn("task", 3.0, 5.0, second),
        Turn("schedule", 6.0),
    ]
    assert state.results == [first, second]


def test_a_result_that_is_held_back_belongs_to_its_own_turn() -> None:
    first, second = TurnFinished(ok=False), TurnFinished(ok=True)
    state = after(TurnStarted(origin="prompt"), TurnStarted(origin="task"), first, second)
    assert [turn.result for turn in state.turns] == [first, second]


def test_a_result_without_a_turn_is_kept() -> None:
    alone = TurnFinished(ok=True)
    state = after(alone)
    assert (state.turns, state.results) == ([], [alone])


def test_tools_are_open_until_they_finish_and_know_how_long_they_took() -> None:
    state = after(
        TurnStarted(origin="prompt"),
        (10.0, bash("1", title="make")),
        (11.0, bash("2")),
        (13.5, ToolFinished(id="1", status="error", error="Exit code 2", exit_code=2)),
    )
    assert list(state.open_tools) == ["2"]
    assert state.open_tools["2"] == ToolSpan("2", "Bash", "execute", None, None, 11.0)
    assert (state.tools_finished, state.tool_kinds) == (1, {"execute": 1})
    assert (state.tools_started, state.failed_tools, state.denied_tools) == (2, 1, 0)


def test_a_tool_that_finishes_without_a_start_is_counted() -> None:
    state = after(ToolFinished(id="1", status="ok", name="Read", kind="read", parent="p"))
    assert (state.tools_started, state.tools_finished, state.tool_kinds) == (0, 1, {"read": 1})


def test_the_last_call_that_never_ended_is_the_unfinished_one() -> None:
    assert after(bash("1")).unfinished_tool == ToolSpan("1", "Bash", "execute", None, None)
    orphan = ToolFinished(id="1", status="orphaned")
    state = after(bash("1", title="make"), orphan)
    assert state.unfinished_tool == ToolSpan("1", "Bash", "execute", "make", None)
    assert state.tools_orphaned == 1
    state = after(bash("1"), orphan, bash("2"))
    assert state.unfinished_tool == ToolSpan("2", "Bash", "execute", None, None)
    assert after(bash("1"), ToolFinished(id="1", status="ok")).unfinished_tool is None


def test_tasks_tell_what_they_do_and_how_they_ended() -> None:
    usage = TaskUsage(tokens=5, tool_uses=1, duration_s=0.5)
    started = TaskStarted(id="x", kind="subagent", title="Look", tool_id="t", background=True)
    begun = ((1.0, started), TaskProgress(id="x", title="Reading", usage=usage))
    state = after(*begun)
    assert state.open_tasks == {
        "x": TaskSpan(
            id="x",
            kind="subagent",
            title="Look",
            tool_id="t",
            background=True,
            started_at=1.0,
            doing="Reading",
            usage=usage,
        )
    }
    finished = TaskFinished(id="x", status="ok", summary="found it")
    state = after(*begun, (4.0, finished))
    assert (state.open_tasks, state.cut_tasks, state.background_tasks) == ({}, 0, 1)


def test_progress_of_an_unknown_task_is_ignored_and_its_end_is_counted() -> None:
    state = after(
        TaskProgress(id="x", title="?"), TaskFinished(id="x", status="error", kind="command")
    )
    assert (state.open_tasks, state.background_tasks) == ({}, 1)


def test_only_a_task_in_the_foreground_wakes_no_agent() -> None:
    assert after(TaskStarted(id="x", background=False)).background_tasks == 0
    assert after(TaskStarted(id="x")).background_tasks == 1


@pytest.mark.parametrize(
    ("status", "while_working", "cut"),
    [
        ("ok", True, 0),
        ("ok", False, 0),
        ("cancelled", True, 0),  # the agent stopped it itself
        ("cancelled", False, 1),  # it was stopped because the agent ended
        ("orphaned", True, 1),
        ("orphaned", False, 1),
    ],
)
def test_a_task_is_cut_if_it_was_still_at_work_at_the_end(
    status: Any, while_working: bool, cut: int
) -> None:
    begun: list[Event] = [TurnStarted(), TaskStarted(id="x")]
    done: list[Event] = [] if while_working else [TurnFinished(ok=True)]
    assert after(*begun, *done, TaskFinished(id="x", status=status)).cut_tasks == cut


def test_the_plan_is_the_last_one_told() -> None:
    one, two = PlanItem(text="a", status="pending"), PlanItem(text="a", status="completed")
    assert after(PlanChanged(items=(one,)), PlanChanged(items=(two,))).plan == (two,)


def test_mode_and_model_change() -> None:
    state = after(START, ModeChanged(mode="plan"), ModelChanged(before="m", after="n"))
    assert (state.mode, state.model) == ("plan", "n")


@pytest.mark.parametrize(
    ("changes", "net"),
    [
        (["add", "modify"], "add"),
        (["modify", "modify"], "modify"),
        (["modify", "delete"], "delete"),
        (["add", "move"], "move"),
        (["delete", "add"], "add"),
        (["delete", "modify"], "modify"),
        ([None, "modify"], "modify"),
        (["modify", None], "modify"),
    ],
)
def test_what_became_of_a_file(changes: list[Any], net: Any) -> None:
    state = after(*(FileChanged(path="a", change=change) for change in changes))
    assert state.files["a"].change == net


def test_changed_lines_are_added_up_unless_a_change_did_not_tell_them() -> None:
    state = after(
        FileChanged(path="a", change="add", added=3, removed=0),
        FileChanged(path="a", change="modify", added=1, removed=2),
        FileChanged(path="b", change="modify", added=1, removed=1),
        FileChanged(path="b", change="modify"),
        FileChanged(path="b", change="modify", added=1, removed=1),
    )
    assert state.files == {"a": FileState("add", 4, 2), "b": FileState("modify", None, None)}


def test_context_used_is_that_of_the_main_thread_s_last_message() -> None:
    main = UsageReported(
        scope="message",
        semantics="snapshot",
        input=10,
        output=5,
        cache_read=100,
        cache_write_5m=20,
        cache_write_1h=3,
    )
    sub = UsageReported(scope="message", semantics="snapshot", input=9, parent="t")
    whole = UsageReported(scope="turn", semantics="final", input=999)
    models = (
        ModelUsage(model="m", context_window=200_000),
        ModelUsage(model="other", context_window=1),
    )
    told = (START, main, sub, whole, TurnFinished(ok=True, models=models))
    state = after(*told)
    assert (state.context_tokens, state.context_window) == (138, 200_000)
    compacted = after(*told, ContextCompacted(before_tokens=138, after_tokens=40))
    assert compacted.context_tokens == 40


def test_retries_are_kept_and_over_when_the_model_answers() -> None:
    first, second = Retrying(attempt=1), Retrying(attempt=2)
    state = after(first, second)
    assert (state.retries, state.retrying) == (2, second)
    said = Text(id="t", text="At last.")
    for seen in (bash("1"), said, UsageReported(scope="message", semantics="snapshot")):
        assert after(first, seen).retrying is None
    assert after(TurnStarted(), first, TurnFinished(ok=False)).retrying is None


def test_of_each_limit_the_last_word_counts() -> None:
    warned = LimitReported(window="five_hour", status="warning", used=0.9)
    rejected = LimitReported(window="five_hour", status="rejected")
    week = LimitReported(window="seven_day", status="allowed")
    state = after(warned, week, rejected)
    assert state.limits == {"five_hour": rejected, "seven_day": week}


def test_a_denial_is_counted_once_and_its_call_is_no_failure() -> None:
    told = PermissionDenied(tool_id="1", name="Bash", reason="no")
    again, late = Denial(tool_id="1", name="Bash"), Denial(tool_id="2", name="Write")
    state = after(
        bash("1"),
        told,
        ToolFinished(id="1", status="denied"),
        bash("2"),
        ToolFinished(id="2", status="error", error="no"),
        TurnFinished(ok=True, denials=(again, late)),
    )
    assert state.denials == {"1": told, "2": late}
    assert (state.denied_tools, state.failed_tools) == (2, 0)


def test_a_question_is_open_until_the_stream_shows_that_it_was_answered() -> None:
    asked = PermissionRequested(id="r", tool_id="1", name="Bash")
    assert after(bash("1"), asked).asked == asked
    answers: list[Event] = [
        ToolFinished(id="1", status="ok"),
        ToolProgress(id="1"),
        TaskStarted(id="x", tool_id="1"),
        PermissionDenied(tool_id="1"),
        Text(id="t", text="Then not."),
        ModeChanged(mode="default"),
        TurnFinished(ok=True),
    ]
    for answer in answers:
        assert after(bash("1"), asked, answer).asked is None
    others: list[Event] = [
        ToolFinished(id="2", status="ok"),
        ToolProgress(id="2"),
        PermissionDenied(tool_id="2"),
        Text(id="t", text="a subagent's", parent="p"),
        Notice(level="info", text="waiting"),
    ]
    for other in others:
        assert after(bash("1"), asked, other).asked == asked


def test_of_two_questions_the_answer_to_one_leaves_the_other_open() -> None:
    first = PermissionRequested(id="r1", tool_id="1", name="Bash")
    second = PermissionRequested(id="r2", tool_id="2", name="Write")
    assert after(first, second).asked == second
    assert after(first, second, ToolFinished(id="2", status="ok")).asked == first


def test_texts_are_the_main_agent_s_own() -> None:
    state = after(
        UserMessage(text="the prompt", replay=True),
        Text(id="1", text="One."),
        Text(id="2", text="from below", parent="t"),
        Thinking(id="3", text="hm"),
        Text(id="4", text="Two."),
    )
    assert state.texts == ["One.", "Two."]


def test_of_very_much_text_and_many_errors_the_latest_are_kept() -> None:
    long = "x" * 1_500_000
    state = after(*(Text(id=f"{n}", text=f"{n}{long}") for n in range(5)))
    assert [text[0] for text in state.texts] == ["3", "4"]
    assert after(Text(id="1", text=long * 4)).texts == [long * 4]
    state = after(*(Error(kind="rate", message=f"{n}") for n in range(500)))
    assert (len(state.errors), state.errors_reported) == (100, 500)
    assert state.errors[-1].message == "499"


def test_a_denial_is_kept_without_its_input() -> None:
    denied = PermissionDenied(tool_id="1", name="Bash", input=msgspec.Raw(b'{"a":1}'), fix="f")
    assert after(denied).denials == {"1": PermissionDenied(tool_id="1", name="Bash", fix="f")}


def test_errors_are_kept() -> None:
    error = Error(kind="overload", message="529", retryable=True)
    assert after(error).errors == [error]


def test_what_was_not_understood_is_counted() -> None:
    closed = StreamClosed(
        results=0, truncated=True, open_tools=0, lines=9, blank=1, silent=4, unknown_fields=()
    )
    state = after(
        Unknown(name="dream"),
        Unknown(name="dream"),
        Unknown(name=None),
        Unreadable(reason="not_json"),
        Unreadable(reason="truncated"),
        closed,
    )
    assert state.unknown == {"dream": 2, None: 1}
    assert (state.unreadable, state.lines, state.silent, state.closed) == (2, 9, 4, closed)


def test_the_last_activity_is_the_last_arrival() -> None:
    state = after((1.0, Text(id="1", text="a")), (2.5, TextDelta(id="2", text="b")), CLOSED)
    assert state.last_activity == 2.5


def test_a_stream_is_heard_of_when_it_held_any_message() -> None:
    noise = Unreadable(reason="not_json")
    silent = StreamClosed(
        results=0, truncated=False, open_tools=0, lines=1, blank=0, silent=1, unknown_fields=()
    )
    assert not after(noise, noise, CLOSED).heard
    assert after(noise, silent).heard
    assert after(noise, Notice(level="info", text="hi"), CLOSED).heard
    assert after(Unknown(name="dream"), CLOSED).heard


# What this version does not know.


def closed_with(fields: int) -> StreamClosed:
    unknown = tuple(UnknownField(type="assistant", field=f"f{n}", count=9) for n in range(fields))
    return StreamClosed(
        results=0,
        truncated=False,
        open_tools=0,
        lines=0,
        blank=0,
        silent=0,
        unknown_fields=unknown,
    )


def test_the_drift_report_counts_types_and_fields_not_messages() -> None:
    state = after(
        SessionStarted(session="s", version="2.1.999"),
        Unknown(name="dream"),
        Unknown(name="dream"),
        Unknown(name="system/weather"),
        closed_with(3),
    )
    assert state.drift("Claude Code") == (
        "Claude Code 2.1.999 wrote 2 types and 3 fields "
        "that this version of nightrook does not know"
    )


def test_the_drift_report_is_silent_on_what_is_known_and_right_in_its_grammar() -> None:
    assert after(START, CLOSED).drift("X") is None
    assert after(Unknown(name="a")).drift("X") == (
        "X wrote 1 type that this version of nightrook does not know"
    )
    assert after(START, closed_with(1)).drift("X") == (
        "X 2.1.325 wrote 1 field that this version of nightrook does not know"
    )


def test_no_recording_of_a_checked_version_drifts() -> None:
    drifting = {name_of(p) for p in ALL if folded(p).drift("Claude Code")}
    assert drifting == {"session-extras", "strange-shapes", "unknown-type"}


# Folding.


TWICE = """
from nightrook.story.feed import Feed
from nightrook.model.fold import Fold, fold
from nightrook.model.records import Record
from nightrook.model.state import RunState
from nightrook.runs.run import Run

def f(state: RunState, drawing: Fold, feeding: Feed, run: Run, record: Record) -> None:
    state.fold([record])
    state.take([record])
    state.ledger.report(record.event)
    state.ledger.settle(record.event)
    drawing.state.take([record])
    drawing.state = state
    drawing.send(record)
    feeding.state.take([record])
    feeding.take(record)
    fold(state)
    run.state.take([record])
"""


@pytest.mark.slow
def test_folding_twice_is_impossible_by_type(tmp_path: Path) -> None:
    file = tmp_path / "twice.py"
    file.write_text(TWICE)
    cache = f"--cache-dir={tmp_path}"
    out, _, _ = mypy.api.run(["--config-file=", "--follow-imports=silent", cache, str(file)])
    refused = {int(line.split(":")[1]) for line in out.splitlines() if ": error:" in line}
    body = range(TWICE[: TWICE.index("    state.fold")].count("\n") + 1, TWICE.count("\n") + 1)
    assert refused == set(body)


def test_a_record_is_folded_as_it_is_drawn_and_then_gone() -> None:
    fold_ = Fold(numbered(START, TurnStarted(), bash("1")))
    assert fold_.state.records == 0
    assert [fold_.state.records for _ in fold_] == [1, 2, 3]
    assert list(fold_) == []
    assert fold_.state.records == 3


def test_a_record_that_is_not_the_next_is_refused() -> None:
    good = numbered(START, TurnStarted())
    for bad in ([*good, good[0]], [*good, good[1]], [*good, Record(3, None, 0, 0, CLOSED)]):
        drawn = Fold(bad)
        with pytest.raises(ValueError, match=r"record \d is not the next one, 2"):
            list(drawn)
        assert contents(drawn.state) == contents(fold(good))


@each("path", ALL, ids=name_of)
def test_folding_record_by_record_equals_folding_at_once(path: Path) -> None:
    records = list(nightrook.decode(path, agent="claude"))
    at_once = contents(fold(records))
    drawn = Fold(iter(records))
    assert list(drawn) == records
    assert contents(drawn.state) == at_once
    source = Feed("claude", partial(Tail, path.parent), prices=no_prices)
    data = path.read_bytes()
    cuts = [*range(0, len(data), max(1, len(data) // 7)), len(data)]
    told = [record for a, b in pairwise(cuts) for record in source.take([(data[a:b], None)])]
    assert [*told, *source.close()] == records
    assert contents(source.state) == at_once


EVENTS: list[Event] = [record.event for record in (*FULL, *LEAST)]


def alike(event: Event, id: str) -> Event:
    """The same event under another id, so that spans of a random stream meet."""
    names = {"id", "tool_id", "message_id", "parent"} & set(event.__struct_fields__)
    return msgspec.structs.replace(event, **dict.fromkeys(names, id))


ANY_EVENTS = st.lists(
    st.tuples(st.sampled_from(EVENTS), st.sampled_from("ab")).map(lambda pair: alike(*pair)),
    max_size=25,
)


def test_the_random_streams_hold_every_event() -> None:
    assert {type(event) for event in EVENTS} == set(get_args(Event))


@given(ANY_EVENTS, st.lists(st.integers(0, 25)))
def test_any_events_in_any_cuts_fold_to_the_same(events: list[Event], cuts: list[int]) -> None:
    records = numbered(*events)
    at_once, drawn = fold(records), Fold(records)
    for count in cuts:
        list(islice(drawn, count))
    list(drawn)
    assert contents(drawn.state) == contents(at_once)
    assert at_once.records == len(events)


@given(ANY_EVENTS)
def test_a_state_is_a_pure_fold(events: list[Event]) -> None:
    dumped = [nightrook.dump(record) for record in numbered(*events)]
    records = [nightrook.load(line) for line in dumped]
    first = contents(fold(records))
    assert [nightrook.dump(record) for record in records] == dumped
    assert contents(fold(records)) == first


@each("path", CASES, ids=name_of)
def test_dropping_every_delta_loses_nothing(path: Path) -> None:
    events = [record.event for record in nightrook.decode(path, agent="claude")]
    deltas = (TextDelta, ThinkingDelta, ToolInputDelta)
    state = after(*(event for event in events if not isinstance(event, deltas)))
    state.records = len(events)
    assert contents(state) == contents(after(*events))


# What it makes of recorded streams, against the raw messages.


@each("path", ALL, ids=name_of)
def test_a_recorded_stream_is_known_as_its_messages_tell_it(path: Path) -> None:
    state = folded(path)
    assert len(state.results) == len(results(path))
    assert state.open_tools == {}
    assert state.open_tasks == {}
    inits = [m for m in messages(path) if m.get("subtype") == "init"]
    if inits:
        told = [init.get("claude_code_version") for init in inits]
        assert state.version == told[-1]
        assert state.cwd == inits[-1].get("cwd")
    called = {
        block["id"]
        for message in messages(path)
        if message.get("type") == "assistant" and isinstance(message.get("message"), dict)
        for block in message["message"].get("content") or ()
        if isinstance(block, dict)
        and block.get("type") in ("tool_use", "server_tool_use")
        and block.get("name") not in ("EnterPlanMode", "ExitPlanMode")
        and isinstance(block.get("id"), str)
    }
    called |= {
        message["event"]["content_block"]["id"]
        for message in messages(path)
        if path.parent.name != "strange-shapes"
        and message.get("type") == "stream_event"
        and message["event"].get("content_block", {}).get("type") == "tool_use"
    }
    if path.parent.name not in ("heartbeat", "strange-shapes"):
        assert {item.key for item in listed(path) if item.kind in ("tool", "subagent")} == called


def test_a_session_with_subagents_is_a_tree() -> None:
    path = next(p for p in CASES if name_of(p) == "s08b_subagents_parallel_partial-2.1.197")
    items = list(listed(path))
    tree = {
        call.title: [item.title for item in items if item.kind == "tool" and item.parent == call.id]
        for call in items
        if call.kind == "subagent"
    }
    assert tree == {"One": ["/home/dev/project/a.txt", "sleep 1; echo from-sub"], "Two": ["exit 7"]}
    assert [(item.title, item.status) for item in items if item.kind == "task"] == [
        ("One", "ok"),
        ("Two", "ok"),
    ]
