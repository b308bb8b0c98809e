"""A snapshot: what it says, that it is bounded, and that nothing changes it."""

import sys
import threading
from collections.abc import Iterator
from itertools import islice

import msgspec
import pytest

import nightrook
from nightrook.model.events import (
    ContextCompacted,
    Error,
    Event,
    FileChanged,
    LimitReported,
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
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    Unreadable,
    UsageReported,
)
from nightrook.model.fold import Fold, fold
from nightrook.model.ledger import Money
from nightrook.model.price import Price, Rates
from nightrook.model.records import Record
from nightrook.model.snapshot import (
    MOST_ITEMS,
    MOST_STEPS,
    Failure,
    FileCounts,
    PendingQuestion,
    Plan,
    Quota,
    Retry,
    RunningTask,
    RunningTool,
    Snapshot,
    TokenCounts,
    ToolCounts,
)
from nightrook.model.state import RunState
from nightrook.model.stuck_detection import evidence_of
from tests.recorded import agent_of, cases
from tests.rules import each

CLOSED = StreamClosed(
    results=0, truncated=False, open_tools=0, lines=0, blank=0, silent=0, unknown_fields=()
)
LARGEST = 64 * 1024


def records(*events: Event) -> list[Record]:
    """Records of events, one a second."""
    return [Record(seq, float(seq), 0, 0, event) for seq, event in enumerate(events)]


def after(*events: Event) -> Snapshot:
    return fold(records(*events)).snapshot()


def bash(id: str, title: str | None = None) -> ToolStarted:
    return ToolStarted(id=id, name="Bash", kind="execute", title=title)


def usage(id: str, input: int, output: int = 0, cache_read: int = 0) -> UsageReported:
    return UsageReported(
        message_id=id,
        model="m",
        scope="message",
        semantics="final",
        input=input,
        output=output,
        cache_read=cache_read,
    )


def prices(model: str, at: float | None) -> Price:
    return Price(Rates(input=1_000_000, output=1_000_000))


def test_nothing_is_known_before_the_first_record() -> None:
    assert RunState().snapshot() == Snapshot()
    assert not Snapshot().has_usage


def test_it_names_the_session_and_where_it_works() -> None:
    shot = after(
        SessionStarted(session="s", model="m", cwd="/r", version="2", permission_mode="default")
    )
    assert (shot.session, shot.model, shot.cwd, shot.version) == ("s", "m", "/r", "2")
    assert (shot.mode, shot.seq, shot.started_at, shot.last_activity) == ("default", 1, 0.0, 0.0)


def test_it_counts_tokens_and_money_with_their_source() -> None:
    used = records(TurnStarted(), usage("1", input=10, output=5, cache_read=2))
    shot = fold(used, prices).snapshot()
    assert shot.tokens == TokenCounts(input=10, output=5, cache_read=2, cache_write=0)
    assert shot.tokens.total == 17
    assert shot.cost == Money(None, "unknown")  # the cache has no known price
    assert (shot.context_tokens, shot.messages) == (17, 1)
    paid = records(
        TurnStarted(), usage("1", input=10), TurnFinished(ok=True, cost_usd=0.5, turns=3)
    )
    shot = fold(paid, prices).snapshot()
    assert (shot.cost, shot.spent_usd) == (Money(0.5, "native"), 0.5)
    assert (shot.turns, shot.results, shot.ok, shot.steps) == (1, 1, True, 3)
    assert fold(paid[:2], prices).snapshot().cost == Money(0.00001, "estimated")


def test_no_price_is_looked_up_before_anything_is_used() -> None:
    asked: list[str] = []

    def counted(model: str, at: float | None) -> None:
        asked.append(model)

    state = fold(records(SessionStarted(session="s"), Text(id="1", text="a")), counted)
    state.snapshot()
    assert asked == []


def test_it_lists_open_tools_tasks_and_questions() -> None:
    shot = after(
        bash("a", "make"),
        TaskStarted(id="t", kind="command", title="make", tool_id="a", background=True),
        TaskProgress(id="t", title="compiles", usage=TaskUsage(tokens=7)),
        PermissionRequested(id="q", tool_id="a", name="Bash", reason="asks"),
    )
    assert shot.open_tools == (
        RunningTool(id="a", name="Bash", kind="execute", title="make", started_at=0.0),
    )
    assert shot.open_tasks == (
        RunningTask(
            id="t",
            kind="command",
            title="make",
            doing="compiles",
            tool_id="a",
            background=True,
            started_at=1.0,
            tokens=7,
        ),
    )
    assert shot.questions == (
        PendingQuestion(
            seq=3, id="q", tool_id="a", name="Bash", title="make", reason="asks", asked_at=3.0
        ),
    )
    assert (shot.tools_open, shot.tasks_open, shot.questions_open) == (1, 1, 1)


def test_it_has_plan_quotas_retry_files_and_errors() -> None:
    steps = (PlanItem(text="a", status="completed"), PlanItem(text="b"))
    shot = after(
        PlanChanged(items=steps),
        LimitReported(window="five_hour", status="warning", used=0.8, resets_at=9.0),
        Retrying(attempt=1, max_attempts=3, delay_s=2.0, status=529, reason="overloaded"),
        FileChanged(path="a", change="add", added=2, removed=1),
        FileChanged(path="b", change="add", added=1, removed=0),
        Error(kind="rate", message="slow"),
        Unknown(name="x"),
        Unreadable(reason="not_json"),
    )
    assert shot.plan == Plan(steps=steps, total=2, done=1)
    assert shot.quotas == (
        Quota(window="five_hour", name="5 h window", status="warning", used=0.8, resets_at=9.0),
    )
    assert shot.retry == Retry(
        attempt=1, max_attempts=3, delay_s=2.0, status=529, reason="overloaded", since=2.0
    )
    assert shot.files == FileCounts(changed=2, added=3, removed=1)
    assert (shot.errors, shot.last_error) == (1, Failure(kind="rate", message="slow"))
    assert (shot.unknown, shot.unreadable, shot.closed) == (1, 1, False)


def test_lines_that_a_change_did_not_count_are_unknown() -> None:
    shot = after(FileChanged(path="a", added=1, removed=1), FileChanged(path="b"))
    assert shot.files == FileCounts(changed=2, added=None, removed=None)


def test_it_counts_calls_by_how_they_ended() -> None:
    shot = after(
        *(bash(id) for id in "abcd"),
        ToolFinished(id="a", status="ok"),
        ToolFinished(id="b", status="error"),
        ToolFinished(id="c", status="orphaned"),
        CLOSED,
    )
    assert shot.tools == ToolCounts(started=4, finished=3, failed=1, denied=0, orphaned=1)
    assert shot.closed


START = SessionStarted(session="s")
ASK = PermissionRequested(id="q", tool_id="a", name="Bash")


@each(
    ("events", "activity", "since"),
    [
        ((), "starting", None),
        ((START,), "waiting", 0.0),
        ((TurnStarted(),), "waiting", 0.0),
        ((START, TurnStarted()), "waiting", 0.0),
        ((START, ThinkingDelta(id="1", text="a")), "thinking", 1.0),
        ((START, TextDelta(id="1", text="a"), TextDelta(id="1", text="b")), "writing", 1.0),
        ((START, TextDelta(id="1", text="a"), Text(id="1", text="a")), "waiting", 2.0),
        ((START, bash("a"), bash("b")), "tool", 2.0),
        ((START, bash("a"), ToolFinished(id="a", status="ok")), "waiting", 2.0),
        ((START, TaskStarted(id="t")), "task", 1.0),
        ((START, bash("a"), Retrying()), "retrying", 2.0),
        ((START, bash("a"), ASK), "asking", 2.0),
        ((START, TurnFinished(ok=True)), "idle", 1.0),
        ((START, TurnFinished(ok=True), TurnStarted()), "waiting", 2.0),
        ((START, CLOSED), "ended", 1.0),
    ],
)
def test_what_runs_now_is_what_holds_it_up(
    events: tuple[Event, ...], activity: str, since: float | None
) -> None:
    shot = after(*events)
    assert (shot.activity, shot.since) == (activity, since)


def test_it_does_not_change_with_the_state() -> None:
    stream = Fold(records(START, bash("a"), ToolFinished(id="a", status="ok"), CLOSED))
    shots = [stream.state.snapshot() for _ in stream]
    assert [shot.seq for shot in shots] == [1, 2, 3, 4]
    assert [shot.tools_open for shot in shots] == [0, 1, 0, 0]


# It can be sent, at any moment of any recorded stream.
def test_snapshots_of_every_recorded_case_survive_the_wire() -> None:
    for path in cases():
        _survive_the_wire(Fold(nightrook.decode(path, agent=agent_of(path))))


def _survive_the_wire(stream: Fold) -> None:
    while list(islice(stream, 50)):
        shot = stream.state.snapshot()
        wire = msgspec.json.encode(shot)
        assert msgspec.json.decode(wire, type=Snapshot) == shot
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(shot), type=Snapshot) == shot
        assert len(wire) <= LARGEST


def test_it_is_bounded_whatever_the_agent_writes() -> None:
    long, many = "x" * 100_000, 2_000
    shot = after(
        SessionStarted(session=long, model=long, cwd=long, version=long, permission_mode=long),
        *(ToolStarted(id=f"{i}{long}", name=long, kind="execute", title=long) for i in range(20)),
        *(bash(f"{i}") for i in range(many)),
        *(TaskStarted(id=f"{i}", title=long) for i in range(many)),
        *(TaskProgress(id=f"{i}", title=long) for i in range(many)),
        *(PermissionRequested(id=f"{i}", name=long, reason=long) for i in range(many)),
        *(LimitReported(window=f"{i}{long}", used=0.1) for i in range(50)),
        PlanChanged(items=tuple(PlanItem(text=long, status=long) for _ in range(many))),
        Error(kind="rate", message=long),
        Retrying(reason=long),
        ContextCompacted(after_tokens=1),
    )
    assert len(msgspec.json.encode(shot)) <= LARGEST
    assert (shot.tools_open, shot.tasks_open, shot.questions_open) == (many + 20, many, many)
    assert (len(shot.open_tools), len(shot.plan.steps)) == (MOST_ITEMS, MOST_STEPS)
    assert shot.open_tools[-1].id == f"{many - 1}"


def test_half_a_character_is_replaced() -> None:
    half = "\ud800"
    plan = PlanChanged(items=(PlanItem(text=half, status=half),))
    shot = after(SessionStarted(session=half, cwd=half), bash(half, half), plan)
    assert (shot.cwd, shot.open_tools[0].title, shot.plan.steps[0].text) == ("?", "?", "?")
    msgspec.json.encode(shot)


# Another thread may read it while the state changes: a live state's dictionaries change their size.
@pytest.mark.slow
def test_a_thread_reads_snapshots_while_the_state_changes() -> None:
    stream = Fold(records(*_busy()))
    latest = stream.state.snapshot()
    over = threading.Event()
    reads: list[int] = []
    problems: list[RuntimeError] = []

    def read() -> None:
        try:
            while not over.is_set():
                evidence_of(latest, now=0.0, silent_s=1.0, processes=None, cpu_s=None)
                reads.append(latest.seq)
                msgspec.json.encode(latest)
        except RuntimeError as error:
            problems.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    reader = threading.Thread(target=read)
    reader.start()
    try:
        for record in stream:
            if record.seq % 10 == 0:
                latest = stream.state.snapshot()
    finally:
        over.set()
        reader.join()
        sys.setswitchinterval(before)
    assert problems == []
    assert len(set(reads)) > 1


def _busy() -> Iterator[Event]:
    """Tools and tasks that come and go, many of them open at once."""
    for n in range(5_000):
        yield from (bash(f"{n}"), TaskStarted(id=f"{n}"))
        if n >= 40:
            yield ToolFinished(id=f"{n - 40}", status="ok")
            yield TaskFinished(id=f"{n - 40}", status="ok")
