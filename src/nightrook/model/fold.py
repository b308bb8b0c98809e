"""The fold from records to the state of a run: each record is folded once."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from nightrook.model.bookkeeping import NOTHING, OpenLedger
from nightrook.model.bounded_memory import take_oldest
from nightrook.model.events import (
    ContextCompacted,
    Denial,
    Error,
    FileChanged,
    LimitReported,
    ModeChanged,
    ModelChanged,
    PermissionDenied,
    PermissionRequested,
    PlanChanged,
    Retrying,
    SessionStarted,
    StreamClosed,
    TaskFinished,
    TaskProgress,
    TaskStarted,
    Text,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolInputDelta,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    Unreadable,
    Usage,
    UsageReported,
)
from nightrook.model.price import Prices, no_prices
from nightrook.model.records import Record
from nightrook.model.snapshot import Phase
from nightrook.model.state import Asked, FileState, RunState, TaskSpan, ToolSpan, Turn

_GONE = ("delete", "move")
_FAILED = frozenset({"error", "timed_out", "cancelled"})
_MOST_TEXT = 4_000_000  # characters of what the main agent said
_MOST_ERRORS = 100
_MOST_ITEMS = 20_000  # of anything that is listed
_MOST_RESULTS = 1000  # with all they report
_MOST_QUESTIONS = 1000
_MOST_NAMES = 1000  # of unknown messages, and of limits
_MOST_SIZE = 8_000_000  # characters or bytes of all items of a kind
_TRIM_SIZE = 1_000_000  # bytes of the stream between two looks at how much is kept


class Beginning(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a run that are known before its agent writes anything."""

    model: str | None = None
    """The model that was asked for; not every agent reports its own."""

    cwd: str | None = None
    """The folder that it was started in; not every agent reports its own."""

    earlier: Usage | None = NOTHING
    """The usage of a resumed session before this run; None if unknown."""

    earlier_usd: float | None = 0.0
    """The cost of that session before this run, by its agent's count; None if unknown."""


def fold(
    records: Iterable[Record], prices: Prices = no_prices, beginning: Beginning | None = None
) -> RunState:
    """Fold a whole stream."""
    state = _Growing(prices, beginning)
    state.take(records)
    return state


class Fold:
    """Yields the records of a stream and folds each of them into its state.

    A record is folded as it is drawn, and nothing else takes one: none can be folded twice.
    """

    def __init__(
        self,
        records: Iterable[Record] = (),
        prices: Prices = no_prices,
        beginning: Beginning | None = None,
    ) -> None:
        self._records = iter(records)
        self._state = _Growing(prices, beginning)

    @property
    def state(self) -> RunState:
        """The state after the records that were yielded so far."""
        return self._state

    def __iter__(self) -> Iterator[Record]:
        return self

    def __next__(self) -> Record:
        record = next(self._records)
        self._state.take((record,))
        return record

    def take(self, records: Iterable[Record]) -> None:
        """Fold records that were read elsewhere; raises ValueError for one that isn't the next."""
        self._state.take(records)

    def assume_model(self, model: str) -> None:
        """Record the model of the session: the stream itself does not report it."""
        self._state.model = model

    def answered(self, event: PermissionRequested) -> None:
        """Record that a question was answered: the stream itself does not report that."""
        self._state.answered(event)


class _Growing(RunState):
    """A state while its stream is read; other modules see only a `RunState`."""

    def __init__(self, prices: Prices, beginning: Beginning | None) -> None:
        known = beginning or Beginning()
        self.books = OpenLedger(prices, earlier=known.earlier, earlier_usd=known.earlier_usd)
        super().__init__(self.books)
        self.model = known.model
        self.cwd = known.cwd
        self.asks = self._asks
        self.failed = self._failed
        self.text_size = 0
        self.trim_at = _TRIM_SIZE
        self.slim = 0  # how many of the first results have lost their contents
        self.slim_turns = 0  # the same for turns

    def take(self, records: Iterable[Record]) -> None:
        """Fold the next records; a ValueError refuses one that is not the next."""
        folds, expected = _FOLDS, self.records
        for record in records:
            if record.seq != expected:
                raise ValueError(f"record {record.seq} is not the next one, {expected}")
            expected += 1
            fold = folds.get(record.event.__class__)
            if fold is not None:
                fold(self, record.event, record)
            if record.at is not None:
                if self.started_at is None:
                    self.started_at = record.at
                self.last_activity = record.at
            self.records = expected
            if record.offset >= self.trim_at:
                self.trim_at = record.offset + _TRIM_SIZE
                self.trim()

    def trim(self) -> None:
        """Drop the oldest items above the limits; they still count."""
        dropped, most = self.dropped, {"most": _MOST_ITEMS, "most_size": _MOST_SIZE}
        dropped.denials += len(take_oldest(self.denials, _denial_size, **most))
        if len(self.failed) > _MOST_ITEMS or sum(map(len, self.failed)) > _MOST_SIZE:
            dropped.failed += len(self.failed)
            self.failed.clear()
        take_oldest(self.asks, _question_size, most=_MOST_QUESTIONS, most_size=_MOST_SIZE)
        for file in take_oldest(self.files, lambda path, _: len(path), **most).values():
            dropped.files += 1
            dropped.added = _sum(dropped.added, file.added)
            dropped.removed = _sum(dropped.removed, file.removed)
        take_oldest(self.open_tools, _span_size, **most)
        take_oldest(self.open_tasks, _span_size, **most)
        take_oldest(self.limits, _name_size, most=_MOST_NAMES, most_size=_MOST_SIZE)
        strangers = take_oldest(self.unknown, _name_size, most=_MOST_NAMES, most_size=_MOST_SIZE)
        if strangers:
            self.unknown[None] += sum(strangers.values())
        while len(self.errors) > 1 and sum(map(_error_size, self.errors)) > _MOST_SIZE:
            del self.errors[0]
        self._trim_results()

    def _trim_results(self) -> None:
        """Empty the oldest results and turns; there are still as many."""
        total = sum(map(_result_size, self.results[self.slim :]))
        kept = len(self.results) - self.slim
        if kept > _MOST_RESULTS or total > _MOST_SIZE:
            while kept > 1 and (kept > _MOST_RESULTS // 2 or total > _MOST_SIZE // 2):
                total -= _result_size(self.results[self.slim])
                self._empty_result(self.slim)
                self.slim, kept = self.slim + 1, kept - 1
        for turn in range(self.slim_turns, len(self.turns) - _MOST_ITEMS):
            self.turns[turn] = _EMPTY_TURN
            self.slim_turns = turn + 1

    def _empty_result(self, number: int) -> None:
        result = self.results[number]
        if result.turns is not None:
            self.dropped.steps = (self.dropped.steps or 0) + result.turns
        self.results[number] = _EMPTY_RESULTS[result.ok]
        if number < len(self.turns):
            self.turns[number] = _EMPTY_TURN

    def answered(self, event: PermissionRequested) -> None:
        """Record that a question was answered."""
        self.asks.pop(event.tool_id or event.id, None)

    def enter(self, phase: Phase, record: Record) -> None:
        """Record the main agent's activity from now on."""
        self.phase, self.phase_since = phase, record.at

    def deny(self, denial: PermissionDenied | Denial) -> None:
        """Record a call that was denied, without its bulky input."""
        self.denials[denial.tool_id] = msgspec.structs.replace(denial, input=None)
        if denial.tool_id is not None:
            self.failed.discard(denial.tool_id)

    @property
    def turn(self) -> int:
        """The number of the current turn."""
        return max(0, len(self.turns) - 1)

    @property
    def next_result(self) -> int:
        """The number of the turn that the next result belongs to."""
        return len(self.results)


def _session_started(state: _Growing, event: SessionStarted, record: Record) -> None:
    state.session = event.session
    state.model = event.model or state.model
    state.version = event.version
    state.cwd = event.cwd or state.cwd
    state.mode = event.permission_mode
    state.enter("waiting", record)


def _turn_started(state: _Growing, event: TurnStarted, record: Record) -> None:
    if state.next_result >= len(state.turns):  # the turns before it are over
        state.earlier_calls, state.orphan_of_turn = frozenset(state.open_tools), None
    state.turns.append(Turn(event.origin, record.at))
    if state.phase in ("starting", "idle"):
        state.enter("waiting", record)


def _turn_finished(state: _Growing, event: TurnFinished, record: Record) -> None:
    # Results come in the order of their turns, even when one is held back.
    turn = state.next_result
    if turn < len(state.turns) and state.turns[turn] is not _EMPTY_TURN:
        state.turns[turn].result = event
        state.turns[turn].finished_at = record.at
    state.results.append(event)
    state.asks.clear()
    state.books.settle(event, turn=turn, at=record.at, model=state.model)
    for denial in event.denials or ():
        if denial.tool_id not in state.denials:
            state.deny(denial)
    for used in event.models or ():
        if used.model == state.model and used.context_window:
            state.context_window = used.context_window
    state.retrying = None
    state.enter("idle", record)


def _tool_started(state: _Growing, event: ToolStarted, record: Record) -> None:
    state.tools_started += 1
    state.retrying = state.cancelled_tool = None
    state.open_tools[event.id] = ToolSpan(
        event.id, event.name, event.kind, event.title, event.parent, record.at
    )


def _tool_finished(state: _Growing, event: ToolFinished, record: Record) -> None:
    span = state.open_tools.pop(event.id, None)
    state.tools_finished += 1
    state.tool_kinds[(span.kind if span else event.kind) or "other"] += 1
    if event.status == "orphaned":
        state.tools_orphaned += 1
        state.last_orphan = span or ToolSpan(event.id, event.name, event.kind, None, event.parent)
        if state.last_orphan.parent is None and event.id not in state.earlier_calls:
            state.orphan_of_turn = state.last_orphan
    elif event.status in _FAILED and event.id not in state.denials:
        state.failed.add(event.id)
    if event.status == "cancelled":
        state.cancelled_tool = span
    state.asks.pop(event.id, None)
    state.enter("waiting", record)


def _tool_progress(state: _Growing, event: ToolProgress, record: Record) -> None:
    state.asks.pop(event.id, None)  # what runs was allowed


def _task_started(state: _Growing, event: TaskStarted, record: Record) -> None:
    state.open_tasks[event.id] = TaskSpan(
        event.id, event.kind, event.title, event.tool_id, event.background, record.at
    )
    state.background_tasks += event.background is not False
    state.asks.pop(event.tool_id, None)


def _task_progress(state: _Growing, event: TaskProgress, record: Record) -> None:
    if task := state.open_tasks.get(event.id):
        task.doing = event.title
        task.usage = event.usage or task.usage


def _task_finished(state: _Growing, event: TaskFinished, record: Record) -> None:
    if state.open_tasks.pop(event.id, None) is None:
        state.background_tasks += 1  # its start was not seen
    turn_open = state.next_result < len(state.turns)
    cut = event.status == "orphaned" or (event.status == "cancelled" and not turn_open)
    state.cut_tasks += cut


def _file_changed(state: _Growing, event: FileChanged, record: Record) -> None:
    file = state.files.get(event.path)
    if file is None:
        file = state.files[event.path] = FileState(event.change)
    elif event.change in _GONE or file.change in (None, *_GONE):
        file.change = event.change
    file.added = _sum(file.added, event.added)
    file.removed = _sum(file.removed, event.removed)


def _plan_changed(state: _Growing, event: PlanChanged, record: Record) -> None:
    state.plan = event.items


def _mode_changed(state: _Growing, event: ModeChanged, record: Record) -> None:
    state.mode = event.mode
    state.asks.clear()


def _model_changed(state: _Growing, event: ModelChanged, record: Record) -> None:
    state.model = event.after


def _permission_requested(state: _Growing, event: PermissionRequested, record: Record) -> None:
    state.asks[event.tool_id or event.id] = Asked(event, record.seq, record.at)


def _permission_denied(state: _Growing, event: PermissionDenied, record: Record) -> None:
    state.deny(event)
    state.asks.pop(event.tool_id, None)


def _usage_reported(state: _Growing, event: UsageReported, record: Record) -> None:
    model = state.model if event.parent is None else None
    state.books.report(event, turn=state.turn, at=record.at, model=model)
    if event.parent is None and event.scope == "message":
        parts = (event.input, event.cache_read, event.cache_write_5m, event.cache_write_1h)
        state.context_tokens = sum(part or 0 for part in parts) + (event.output or 0)
    state.retrying = None


def _limit_reported(state: _Growing, event: LimitReported, record: Record) -> None:
    state.limits[event.window] = event


def _retrying(state: _Growing, event: Retrying, record: Record) -> None:
    state.retries += 1
    state.retrying, state.retrying_since = event, record.at


def _context_compacted(state: _Growing, event: ContextCompacted, record: Record) -> None:
    state.context_tokens = event.after_tokens


def _writes(state: _Growing, event: TextDelta, record: Record) -> None:
    if state.phase != "writing":
        state.enter("writing", record)


def _thinks(state: _Growing, event: ThinkingDelta, record: Record) -> None:
    if state.phase != "thinking":
        state.enter("thinking", record)


def _writes_call(state: _Growing, event: ToolInputDelta, record: Record) -> None:
    if event.name is not None and state.phase != "writing":
        state.enter("writing", record)


def _said(state: _Growing, event: Text, record: Record) -> None:
    state.enter("waiting", record)
    state.cancelled_tool = None
    if event.parent is not None:
        return
    state.texts.append(event.text)
    state.text_size += len(event.text)
    while state.text_size > _MOST_TEXT and len(state.texts) > 1:  # guards: text-bounded
        state.text_size -= len(state.texts.pop(0))
    state.asks.clear()
    state.retrying = None  # the model has answered


def _error(state: _Growing, event: Error, record: Record) -> None:
    state.errors_reported += 1
    state.errors.append(event)
    del state.errors[:-_MOST_ERRORS]  # guards: errors-bounded


def _unknown(state: _Growing, event: Unknown, record: Record) -> None:
    state.unknown[event.name] += 1


def _unreadable(state: _Growing, event: Unreadable, record: Record) -> None:
    state.unreadable += 1
    state.plain_text = state.plain_text or event.preview


def _stream_closed(state: _Growing, event: StreamClosed, record: Record) -> None:
    state.closed = event
    state.enter("ended", record)


_FOLDS: dict[type, Callable[[_Growing, Any, Record], None]] = {
    SessionStarted: _session_started,
    TurnStarted: _turn_started,
    TurnFinished: _turn_finished,
    ToolStarted: _tool_started,
    ToolProgress: _tool_progress,
    ToolFinished: _tool_finished,
    TaskStarted: _task_started,
    TaskProgress: _task_progress,
    TaskFinished: _task_finished,
    FileChanged: _file_changed,
    PlanChanged: _plan_changed,
    ModeChanged: _mode_changed,
    ModelChanged: _model_changed,
    PermissionRequested: _permission_requested,
    PermissionDenied: _permission_denied,
    UsageReported: _usage_reported,
    LimitReported: _limit_reported,
    Retrying: _retrying,
    ContextCompacted: _context_compacted,
    TextDelta: _writes,
    ThinkingDelta: _thinks,
    ToolInputDelta: _writes_call,
    Text: _said,
    Error: _error,
    Unknown: _unknown,
    Unreadable: _unreadable,
    StreamClosed: _stream_closed,
}


def _sum(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more


_EMPTY_TURN = Turn(None, None)
_EMPTY_RESULTS = {ok: TurnFinished(ok=ok) for ok in (True, False)}


def _name_size(name: str | None, _: object) -> int:
    return len(name or "")


def _span_size(id: str, span: ToolSpan | TaskSpan) -> int:
    return len(id) + len(span.title or "")


def _denial_size(id: str | None, denial: PermissionDenied | Denial) -> int:
    reason = denial.reason if isinstance(denial, PermissionDenied) else None
    return len(id or "") + len(denial.name or "") + len(reason or "")


def _question_size(_: str | None, asked: Asked) -> int:
    input = asked.event.input
    return len(asked.event.reason or "") + (0 if input is None else memoryview(input).nbytes)


def _error_size(error: Error) -> int:
    return len(error.message or "")


def _result_size(result: TurnFinished) -> int:
    raw = 0 if result.structured is None else memoryview(result.structured).nbytes
    return len(result.text or "") + sum(map(len, result.errors or ())) + raw
