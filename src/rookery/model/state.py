"""What is known of a run: every screen, loop and report reads it, and none can change it."""

from collections import Counter

import msgspec

from rookery.model.events import (
    Change,
    Denial,
    Error,
    LimitReported,
    PermissionDenied,
    PermissionRequested,
    PlanItem,
    Retrying,
    Status,
    StreamClosed,
    TaskKind,
    TaskUsage,
    ToolKind,
    TurnFinished,
)
from rookery.model.ledger import Ledger


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
    """What a stream has told so far. It is read only: `core/fold.py` makes it."""

    def __init__(self, ledger: Ledger | None = None) -> None:
        self.records = 0
        self.ledger = ledger or Ledger()
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

    @property
    def last_text(self) -> str | None:
        """What the main agent said last."""
        return self.texts[-1] if self.texts else None

    @property
    def steps(self) -> int | None:
        """How many steps it took, as the agent counts them when a turn is over.

        People call them turns, as agents do in their `--max-turns`; here a turn is all that one
        prompt sets off.
        """
        told = [result.turns for result in self.results if result.turns is not None]
        return sum(told) if told else None

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


_FAILED = frozenset({"error", "timed_out", "cancelled"})


def _some(count: int, noun: str) -> str:
    return "" if not count else f"{count} {noun}" if count == 1 else f"{count} {noun}s"
