"""The one fold: records in, what they tell of the run out, each record once."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from rookery.model.bookkeeping import NOTHING, OpenLedger
from rookery.model.events import (
    ContextCompacted,
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
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    Unreadable,
    Usage,
    UsageReported,
)
from rookery.model.price import Prices, no_prices
from rookery.model.records import Record
from rookery.model.snapshot import Phase
from rookery.model.state import Asked, FileState, RunState, TaskSpan, ToolSpan, Turn

_GONE = ("delete", "move")


class Beginning(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a run before its agent has written a word."""

    model: str | None = None
    """The model that was asked for; not every agent tells its own."""

    cwd: str | None = None
    """The folder that it was started in; not every agent tells its own."""

    earlier: Usage | None = NOTHING
    """What a session that is gone on with had used; None if nobody knows."""


def fold(
    records: Iterable[Record], prices: Prices = no_prices, beginning: Beginning | None = None
) -> RunState:
    """Give what a whole stream tells."""
    state = _Growing(prices, beginning)
    state.take(records)
    return state


class Fold:
    """Gives the records of a stream, and keeps what those that were given tell.

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
        """What the records tell that were drawn so far."""
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

    def answered(self, event: PermissionRequested) -> None:
        """Note that a question was answered: the stream itself does not report that."""
        self._state.answered(event)


class _Growing(RunState):
    """A state while its stream is read; only this module knows it as such."""

    def __init__(self, prices: Prices, beginning: Beginning | None) -> None:
        known = beginning or Beginning()
        self._ledger = OpenLedger(prices, earlier=known.earlier)
        super().__init__(self._ledger)
        self.model = known.model
        self.cwd = known.cwd
        self._folds: dict[type, Callable[[Any, Record], None]] = {
            SessionStarted: self._session_started,
            TurnStarted: self._turn_started,
            TurnFinished: self._turn_finished,
            ToolStarted: self._tool_started,
            ToolProgress: self._tool_progress,
            ToolFinished: self._tool_finished,
            TaskStarted: self._task_started,
            TaskProgress: self._task_progress,
            TaskFinished: self._task_finished,
            FileChanged: self._file_changed,
            PlanChanged: self._plan_changed,
            ModeChanged: self._mode_changed,
            ModelChanged: self._model_changed,
            PermissionRequested: self._permission_requested,
            PermissionDenied: self._permission_denied,
            UsageReported: self._usage_reported,
            LimitReported: self._limit_reported,
            Retrying: self._retrying,
            ContextCompacted: self._context_compacted,
            TextDelta: self._writes,
            ThinkingDelta: self._thinks,
            Text: self._said,
            Error: self._error,
            Unknown: self._unknown_seen,
            Unreadable: self._unreadable_seen,
            StreamClosed: self._stream_closed,
        }

    def take(self, records: Iterable[Record]) -> None:
        """Take in the next records; a ValueError refuses one that is not the next."""
        folds, expected = self._folds, self.records
        for record in records:
            if record.seq != expected:
                raise ValueError(f"record {record.seq} is not the next one, {expected}")
            expected += 1
            fold = folds.get(record.event.__class__)
            if fold is not None:
                fold(record.event, record)
            if record.at is not None:
                if self.started_at is None:
                    self.started_at = record.at
                self.last_activity = record.at
            self.records = expected

    def answered(self, event: PermissionRequested) -> None:
        """Take in that nobody need be asked any more."""
        self._asks.pop(event.tool_id or event.id, None)

    def _session_started(self, event: SessionStarted, record: Record) -> None:
        self.session = event.session
        self.model = event.model or self.model
        self.version = event.version
        self.cwd = event.cwd or self.cwd
        self.mode = event.permission_mode
        self._enter("waiting", record)

    def _turn_started(self, event: TurnStarted, record: Record) -> None:
        self.turns.append(Turn(event.origin, record.at))
        if self.phase in ("starting", "idle"):
            self._enter("waiting", record)

    def _turn_finished(self, event: TurnFinished, record: Record) -> None:
        # Results come in the order of their turns, even when one is held back.
        turn = self._finished_turns
        self._finished_turns += 1
        if turn < len(self.turns):
            self.turns[turn].result = event
            self.turns[turn].finished_at = record.at
        self.results.append(event)
        self._asks.clear()
        self._ledger.settle(event, turn=turn, at=record.at)
        for denial in event.denials or ():
            self.denials.setdefault(denial.tool_id, denial)
        for used in event.models or ():
            if used.model == self.model and used.context_window:
                self.context_window = used.context_window
        self.retrying = None
        self._enter("idle", record)

    def _tool_started(self, event: ToolStarted, record: Record) -> None:
        self.tools_started += 1
        self.retrying = None
        self.open_tools[event.id] = ToolSpan(
            id=event.id,
            name=event.name,
            kind=event.kind,
            title=event.title,
            parent=event.parent,
            turn=max(0, len(self.turns) - 1),
            started_at=record.at,
        )

    def _tool_finished(self, event: ToolFinished, record: Record) -> None:
        span = self.open_tools.pop(event.id, None)
        if span is None:
            span = ToolSpan(
                id=event.id,
                name=event.name,
                kind=event.kind,
                title=None,
                parent=event.parent,
                turn=max(0, len(self.turns) - 1),
            )
        span.finished_at = record.at
        span.status = event.status
        span.error = event.error
        span.exit_code = event.exit_code
        self.finished_tools.append(span)
        self._asks.pop(event.id, None)
        self._enter("waiting", record)

    def _tool_progress(self, event: ToolProgress, record: Record) -> None:
        self._asks.pop(event.id, None)  # what runs was allowed

    def _task_started(self, event: TaskStarted, record: Record) -> None:
        self.tasks[event.id] = TaskSpan(
            id=event.id,
            kind=event.kind,
            title=event.title,
            tool_id=event.tool_id,
            background=event.background,
            started_at=record.at,
        )
        self._asks.pop(event.tool_id, None)

    def _task_progress(self, event: TaskProgress, record: Record) -> None:
        if task := self.tasks.get(event.id):
            task.doing = event.title
            task.usage = event.usage or task.usage

    def _task_finished(self, event: TaskFinished, record: Record) -> None:
        task = self.tasks.setdefault(
            event.id, TaskSpan(event.id, event.kind, event.title, event.tool_id)
        )
        task.finished_at = record.at
        task.status = event.status
        turn_open = self._finished_turns < len(self.turns)
        task.cut = event.status == "orphaned" or (event.status == "cancelled" and not turn_open)
        task.summary = event.summary
        task.usage = event.usage or task.usage
        task.doing = None

    def _file_changed(self, event: FileChanged, record: Record) -> None:
        file = self.files.get(event.path)
        if file is None:
            file = self.files[event.path] = FileState(event.change)
        elif event.change in _GONE or file.change in (None, *_GONE):
            file.change = event.change
        file.added = _sum(file.added, event.added)
        file.removed = _sum(file.removed, event.removed)

    def _plan_changed(self, event: PlanChanged, record: Record) -> None:
        self.plan = event.items

    def _mode_changed(self, event: ModeChanged, record: Record) -> None:
        self.mode = event.mode
        self._asks.clear()

    def _model_changed(self, event: ModelChanged, record: Record) -> None:
        self.model = event.after

    def _permission_requested(self, event: PermissionRequested, record: Record) -> None:
        self._asks[event.tool_id or event.id] = Asked(event, record.seq, record.at)

    def _permission_denied(self, event: PermissionDenied, record: Record) -> None:
        self.denials[event.tool_id] = event
        self._asks.pop(event.tool_id, None)

    def _usage_reported(self, event: UsageReported, record: Record) -> None:
        model = self.model if event.parent is None else None
        turn = max(0, len(self.turns) - 1)
        self._ledger.report(event, turn=turn, at=record.at, model=model)
        if event.parent is None and event.scope == "message":
            parts = (event.input, event.cache_read, event.cache_write_5m, event.cache_write_1h)
            self.context_tokens = sum(part or 0 for part in parts) + (event.output or 0)
        self.retrying = None

    def _limit_reported(self, event: LimitReported, record: Record) -> None:
        self.limits[event.window] = event

    def _retrying(self, event: Retrying, record: Record) -> None:
        self.retries.append(event)
        self.retrying, self.retrying_since = event, record.at

    def _context_compacted(self, event: ContextCompacted, record: Record) -> None:
        self.context_tokens = event.after_tokens

    def _writes(self, event: TextDelta, record: Record) -> None:
        if self.phase != "writing":
            self._enter("writing", record)

    def _thinks(self, event: ThinkingDelta, record: Record) -> None:
        if self.phase != "thinking":
            self._enter("thinking", record)

    def _enter(self, phase: Phase, record: Record) -> None:
        self.phase, self.phase_since = phase, record.at

    def _said(self, event: Text, record: Record) -> None:
        self._enter("waiting", record)
        if event.parent is None:
            self.texts.append(event.text)
            self._asks.clear()
            self.retrying = None  # the model has answered

    def _error(self, event: Error, record: Record) -> None:
        self.errors.append(event)

    def _unknown_seen(self, event: Unknown, record: Record) -> None:
        self.unknown[event.name] += 1

    def _unreadable_seen(self, event: Unreadable, record: Record) -> None:
        self.unreadable += 1

    def _stream_closed(self, event: StreamClosed, record: Record) -> None:
        self.closed = event
        self._enter("ended", record)


def _sum(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more
