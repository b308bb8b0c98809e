"""One fold of records that knows what happened: every screen, loop and report reads it."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from rookery.core.events import (
    Change,
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
    PlanItem,
    Retrying,
    SessionStarted,
    Status,
    StreamClosed,
    TaskFinished,
    TaskKind,
    TaskProgress,
    TaskStarted,
    TaskUsage,
    Text,
    ToolFinished,
    ToolKind,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    Unreadable,
    UsageReported,
)
from rookery.core.ledger import Ledger
from rookery.core.price import Prices, no_prices
from rookery.core.records import Record


class Turn(msgspec.Struct):
    """One turn: what set it off and, once it has ended, how."""

    origin: str | None
    started_at: float | None
    finished_at: float | None = None
    result: TurnFinished | None = None


class ToolSpan(msgspec.Struct):
    """One tool call, without its bulky input and output."""

    id: str
    name: str | None
    kind: ToolKind | None
    title: str | None
    parent: str | None
    turn: int
    started_at: float | None = None
    finished_at: float | None = None
    status: Status | None = None
    error: str | None = None
    exit_code: int | None = None

    @property
    def duration_s(self) -> float | None:
        """How long it took, as far as arrival times tell."""
        if self.started_at is None or self.finished_at is None:
            return None
        return self.finished_at - self.started_at


class TaskSpan(msgspec.Struct):
    """One task: a subagent, a long or background command."""

    id: str
    kind: TaskKind | None
    title: str | None
    tool_id: str | None
    background: bool | None = None
    started_at: float | None = None
    finished_at: float | None = None
    status: Status | None = None
    cut: bool = False
    """Whether it was still at work when the agent had nothing more to do."""

    doing: str | None = None
    summary: str | None = None
    usage: TaskUsage | None = None


class FileState(msgspec.Struct):
    """What was done to one file; lines are None where a change did not tell them."""

    change: Change | None
    added: int | None = 0
    removed: int | None = 0


class RunState:
    """What a stream has told so far.

    `fold` takes the records in order, each once: a record whose number is not the next is refused,
    so nothing can be folded twice.
    """

    def __init__(self, prices: Prices = no_prices) -> None:
        self.records = 0
        self.ledger = Ledger(prices)
        self.session: str | None = None
        self.model: str | None = None
        self.version: str | None = None
        self.cwd: str | None = None
        self.mode: str | None = None
        self.turns: list[Turn] = []
        self.results: list[TurnFinished] = []
        self.open_tools: dict[str, ToolSpan] = {}
        self.finished_tools: list[ToolSpan] = []
        self.tools_started = 0
        self.tasks: dict[str, TaskSpan] = {}
        self.plan: tuple[PlanItem, ...] = ()
        self.files: dict[str, FileState] = {}
        self.context_tokens: int | None = None
        self.context_window: int | None = None
        self.retries: list[Retrying] = []
        self.retrying: Retrying | None = None
        self.limits: dict[str | None, LimitReported] = {}
        self.denials: dict[str | None, PermissionDenied | Denial] = {}
        self.texts: list[str] = []
        self.errors: list[Error] = []
        self.unknown: Counter[str | None] = Counter()
        self.unreadable = 0
        self.closed: StreamClosed | None = None
        self.last_activity: float | None = None
        self._finished_turns = 0
        self._asks: dict[str | None, PermissionRequested] = {}  # by call, while nobody answered
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
            Text: self._said,
            Error: self._error,
            Unknown: self._unknown_seen,
            Unreadable: self._unreadable_seen,
            StreamClosed: self._stream_closed,
        }

    def fold(self, records: Iterable[Record]) -> "RunState":
        """Take in the next records."""
        folds, expected = self._folds, self.records
        for record in records:
            if record.seq != expected:
                raise ValueError(f"record {record.seq} is not the next one, {expected}")
            expected += 1
            fold = folds.get(record.event.__class__)
            if fold is not None:
                fold(record.event, record)
            if record.at is not None:
                self.last_activity = record.at
            self.records = expected
        return self

    @property
    def last_text(self) -> str | None:
        """What the main agent said last."""
        return self.texts[-1] if self.texts else None

    @property
    def heard(self) -> bool:
        """Whether there was any message at all, even one with nothing to tell."""
        told = self.records - self.unreadable - (self.closed is not None)
        return told > 0 or bool(self.silent)

    @property
    def asked(self) -> PermissionRequested | None:
        """What the agent asked last and nobody has answered, as far as the stream tells."""
        return next(reversed(self._asks.values()), None)

    @property
    def open_tasks(self) -> list[TaskSpan]:
        """The tasks that have not ended."""
        return [task for task in self.tasks.values() if task.status is None]

    @property
    def cut_tasks(self) -> int:
        """How many tasks were cut off because the agent ended."""
        return sum(task.cut for task in self.tasks.values())

    @property
    def denied_tools(self) -> int:
        """How many tool calls were not permitted."""
        return len(self.denials)

    @property
    def failed_tools(self) -> int:
        """How many tool calls failed, those that were not permitted aside."""
        failed = (tool for tool in self.finished_tools if tool.status in _FAILED)
        return sum(tool.id not in self.denials for tool in failed)

    @property
    def lines(self) -> int | None:
        """How many lines there were, once the stream is closed."""
        return self.closed.lines if self.closed else None

    @property
    def silent(self) -> int | None:
        """How many messages had nothing to tell, once the stream is closed."""
        return self.closed.silent if self.closed else None

    def children(self, parent: str | None) -> list[ToolSpan]:
        """The calls made inside a call: the subagent tree, one level at a time."""
        every = (*self.finished_tools, *self.open_tools.values())
        return [tool for tool in every if tool.parent == parent]

    def drift(self, agent: str) -> str | None:
        """Say what this version of rookery did not know; None if it knew everything."""
        types = len(self.unknown)
        fields = len(self.closed.unknown_fields) if self.closed else 0
        if not types and not fields:
            return None
        parts = [_some(types, "type"), _some(fields, "field")]
        what = " and ".join(part for part in parts if part)
        version = f" {self.version}" if self.version else ""
        return f"{agent}{version} wrote {what} that this version of rookery does not know"

    def _session_started(self, event: SessionStarted, record: Record) -> None:
        self.session = event.session
        self.model = event.model
        self.version = event.version
        self.cwd = event.cwd
        self.mode = event.permission_mode

    def _turn_started(self, event: TurnStarted, record: Record) -> None:
        self.turns.append(Turn(event.origin, record.at))

    def _turn_finished(self, event: TurnFinished, record: Record) -> None:
        # Results come in the order of their turns, even when one is held back.
        turn = self._finished_turns
        self._finished_turns += 1
        if turn < len(self.turns):
            self.turns[turn].result = event
            self.turns[turn].finished_at = record.at
        self.results.append(event)
        self._asks.clear()
        self.ledger.settle(event, turn=turn, at=record.at)
        for denial in event.denials or ():
            self.denials.setdefault(denial.tool_id, denial)
        for used in event.models or ():
            if used.model == self.model and used.context_window:
                self.context_window = used.context_window
        self.retrying = None

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
        self._asks[event.tool_id or event.id] = event

    def _permission_denied(self, event: PermissionDenied, record: Record) -> None:
        self.denials[event.tool_id] = event
        self._asks.pop(event.tool_id, None)

    def _usage_reported(self, event: UsageReported, record: Record) -> None:
        self.ledger.report(event, turn=max(0, len(self.turns) - 1), at=record.at)
        if event.parent is None and event.scope == "message":
            parts = (event.input, event.cache_read, event.cache_write_5m, event.cache_write_1h)
            self.context_tokens = sum(part or 0 for part in parts) + (event.output or 0)
        self.retrying = None

    def _limit_reported(self, event: LimitReported, record: Record) -> None:
        self.limits[event.window] = event

    def _retrying(self, event: Retrying, record: Record) -> None:
        self.retries.append(event)
        self.retrying = event

    def _context_compacted(self, event: ContextCompacted, record: Record) -> None:
        self.context_tokens = event.after_tokens

    def _said(self, event: Text, record: Record) -> None:
        if event.parent is None:
            self.texts.append(event.text)
            self._asks.clear()

    def _error(self, event: Error, record: Record) -> None:
        self.errors.append(event)

    def _unknown_seen(self, event: Unknown, record: Record) -> None:
        self.unknown[event.name] += 1

    def _unreadable_seen(self, event: Unreadable, record: Record) -> None:
        self.unreadable += 1

    def _stream_closed(self, event: StreamClosed, record: Record) -> None:
        self.closed = event


_GONE = ("delete", "move")
_FAILED = frozenset({"error", "timed_out", "cancelled"})


def _sum(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more


def _some(count: int, noun: str) -> str:
    return "" if not count else f"{count} {noun}" if count == 1 else f"{count} {noun}s"
