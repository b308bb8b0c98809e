"""A snapshot of a run at one moment: a frozen value for other threads, the wire and screens.

Everything in it is bounded: of lists only the latest items are kept, beside how many there are, and
long text is cut. `RunState.snapshot` makes it.
"""

from typing import Literal

import msgspec

from nightrook.model.events import ErrorKind, PlanItem, TaskKind, ToolKind
from nightrook.model.ledger import Money
from nightrook.model.text import cut, encodable

MOST_ITEMS = 16
"""The most open tools, open tasks, questions and limits that are listed: the latest."""

MOST_STEPS = 50
"""The most steps of a plan that are listed: the first."""

LONGEST_NAME = 200
LONGEST_TITLE = 300

Phase = Literal["starting", "waiting", "thinking", "writing", "idle", "ended"]
"""The main agent's activity between calls: it waits for its model, or its model thinks or writes.

It is idle once a turn has ended, and ended once its stream is closed.
"""

Activity = Literal[Phase, "tool", "task", "retrying", "asking"]
"""The run's current activity; the fields of that kind name the tool, task, retry or question."""


class _Part(msgspec.Struct, frozen=True, omit_defaults=True, gc=False, kw_only=True):
    """A value inside a snapshot; None means unknown."""


class TokenCounts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """All tokens of a run, each message counted once; None if none were reported."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None

    @property
    def total(self) -> int:
        """The sum of all counts."""
        parts = (self.input, self.output, self.cache_read, self.cache_write)
        return sum(part or 0 for part in parts)


class ToolCounts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The tool calls of a run; `finished` counts every end, orphaned ones too."""

    started: int = 0
    finished: int = 0
    failed: int = 0
    denied: int = 0
    orphaned: int = 0


class FileCounts(_Part, frozen=True, kw_only=True):
    """The numbers of changed files and lines; None if a change reported no lines."""

    changed: int = 0
    added: int | None = 0
    removed: int | None = 0


class RunningTool(_Part, frozen=True, kw_only=True):
    """A tool call that has not ended."""

    id: str
    name: str | None = None
    kind: ToolKind | None = None
    title: str | None = None
    parent: str | None = None
    started_at: float | None = None


class RunningTask(_Part, frozen=True, kw_only=True):
    """A subagent, or a long or background command, that has not ended."""

    id: str
    kind: TaskKind | None = None
    title: str | None = None
    doing: str | None = None
    tool_id: str | None = None
    background: bool | None = None
    started_at: float | None = None
    tokens: int | None = None


class PendingQuestion(_Part, frozen=True, kw_only=True):
    """A question of the agent without an answer; `seq` is the record with all of it."""

    seq: int
    id: str | None = None
    tool_id: str | None = None
    name: str | None = None
    title: str | None = None
    reason: str | None = None
    asked_at: float | None = None


class Retry(_Part, frozen=True, kw_only=True):
    """A failed call to the model that is tried again."""

    attempt: int | None = None
    max_attempts: int | None = None
    delay_s: float | None = None
    status: int | None = None
    reason: str | None = None
    since: float | None = None


class Quota(_Part, frozen=True, kw_only=True):
    """The used share of a provider's limit, from 0 to 1."""

    window: str | None = None
    name: str | None = None
    """The name of that window for people."""

    status: str | None = None
    used: float | None = None
    resets_at: float | None = None


class Plan(_Part, frozen=True, kw_only=True):
    """The agent's list of steps."""

    steps: tuple[PlanItem, ...] = ()
    total: int = 0
    done: int = 0


class Failure(_Part, frozen=True, kw_only=True):
    """An error that the agent reported, cut."""

    kind: ErrorKind
    message: str | None = None


class Snapshot(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The state of a run after `seq` records."""

    seq: int = 0
    """The number of records it is made from: reading can continue at this number."""

    activity: Activity = "starting"
    since: float | None = None
    """The time at which the activity began."""

    started_at: float | None = None
    """The time at which the first record arrived."""

    last_activity: float | None = None
    """The time at which the last record arrived."""

    session: str | None = None
    model: str | None = None
    version: str | None = None
    cwd: str | None = None
    mode: str | None = None

    tokens: TokenCounts = TokenCounts()
    cost: Money = Money(None, "unknown")
    """The cost of the session so far, and whether the agent reported it or rook estimated it."""

    spent_usd: float | None = None
    """The share of it that this process spent."""

    context_tokens: int | None = None
    context_window: int | None = None
    quotas: tuple[Quota, ...] = ()
    plan: Plan = Plan()

    tools: ToolCounts = ToolCounts()
    open_tools: tuple[RunningTool, ...] = ()
    tools_open: int = 0
    open_tasks: tuple[RunningTask, ...] = ()
    tasks_open: int = 0
    questions: tuple[PendingQuestion, ...] = ()
    questions_open: int = 0
    retry: Retry | None = None
    files: FileCounts = FileCounts()

    turns: int = 0
    """The number of prompts, finished tasks and schedules the agent began to work on."""

    results: int = 0
    """The number of those turns that have ended."""

    ok: bool | None = None
    """True if the last of them ended well, as the agent reports."""

    steps: int | None = None
    """The number of steps in the finished turns, as the agent counts them."""

    messages: int = 0
    """The number of messages the main agent's model has written."""

    errors: int = 0
    last_error: Failure | None = None
    unknown: int = 0
    unreadable: int = 0
    closed: bool = False

    @property
    def has_usage(self) -> bool:
        """True if any tokens were reported."""
        return self.tokens.input is not None


def short(text: str | None, most: int = LONGEST_NAME) -> str | None:
    """Cut a text for a snapshot."""
    return None if text is None else encodable(cut(text, most))
