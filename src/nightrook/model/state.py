"""The state of a run, folded from its records: every screen, loop and report reads it."""

from collections import Counter
from collections.abc import Collection

import msgspec

from nightrook.model.events import (
    Change,
    Denial,
    Error,
    LimitReported,
    PermissionDenied,
    PermissionRequested,
    PlanItem,
    Retrying,
    StreamClosed,
    TaskKind,
    TaskUsage,
    ToolKind,
    TurnFinished,
)
from nightrook.model.ledger import Ledger
from nightrook.model.provider_limits import window_name
from nightrook.model.snapshot import (
    LONGEST_TITLE,
    MOST_ITEMS,
    MOST_STEPS,
    Activity,
    Failure,
    FileCounts,
    PendingQuestion,
    Phase,
    Plan,
    Quota,
    Retry,
    RunningTask,
    RunningTool,
    Snapshot,
    TokenCounts,
    ToolCounts,
    short,
)
from nightrook.model.text import count, one_line


class Turn(msgspec.Struct):
    """One turn: its trigger and, once it has ended, its result."""

    origin: str | None
    started_at: float | None
    finished_at: float | None = None
    result: TurnFinished | None = None


class ToolSpan(msgspec.Struct):
    """A tool call that has not ended, without its bulky input; the timeline lists all calls."""

    id: str
    name: str | None
    kind: ToolKind | None
    title: str | None
    parent: str | None
    started_at: float | None = None

    def described(self, longest_title: int) -> str:
        """The name and title of the call, on one line."""
        title = f": {one_line(self.title, longest_title)}" if self.title else ""
        return f"{self.name or 'a tool'}{title}"


class TaskSpan(msgspec.Struct):
    """A task that has not ended: a subagent, a long or background command."""

    id: str
    kind: TaskKind | None
    title: str | None
    tool_id: str | None
    background: bool | None = None
    started_at: float | None = None
    doing: str | None = None
    usage: TaskUsage | None = None


class FileState(msgspec.Struct):
    """The changes of one file; lines are None if a change did not count them."""

    change: Change | None
    added: int | None = 0
    removed: int | None = 0


class Asked(msgspec.Struct, frozen=True):
    """A question of the agent, with its place and time in the stream."""

    event: PermissionRequested
    seq: int
    at: float | None


class Dropped(msgspec.Struct):
    """Sums of the items that a state no longer lists because there were too many."""

    steps: int | None = None
    denials: int = 0
    failed: int = 0
    files: int = 0
    added: int | None = 0
    removed: int | None = 0


class RunState:
    """The state of a run so far, from its stream. It is read only: `model/fold.py` makes it.

    It changes with every record, so it belongs to one thread; others get a `snapshot`.
    """

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
        self.tools_started = 0
        self.tools_finished = 0
        self.tools_orphaned = 0
        self.tool_kinds: Counter[str] = Counter()
        """The number of ended calls of each kind."""
        self.last_orphan: ToolSpan | None = None
        """The last call that never ended."""
        self.orphan_of_turn: ToolSpan | None = None
        """The main agent's last call of the last turn that never ended."""
        self.earlier_calls: frozenset[str] = frozenset()
        """The calls that were open when the last turn began."""
        self.cancelled_tool: ToolSpan | None = None
        """The last call, if it was cancelled and the agent did nothing after it."""
        self.open_tasks: dict[str, TaskSpan] = {}
        self.background_tasks = 0
        """The number of tasks that may wake the agent when they end."""
        self.cut_tasks = 0
        """The number of tasks that were cut off because the agent ended."""
        self.plan: tuple[PlanItem, ...] = ()
        self.files: dict[str, FileState] = {}
        self.context_tokens: int | None = None
        self.context_window: int | None = None
        self.retries = 0
        self.retrying: Retrying | None = None
        self.limits: dict[str | None, LimitReported] = {}
        self.denials: dict[str | None, PermissionDenied | Denial] = {}
        self.texts: list[str] = []
        """The main agent's texts; only the end if they exceed some megabytes."""
        self.errors: list[Error] = []
        """The latest errors."""
        self.errors_reported = 0
        self.unknown: Counter[str | None] = Counter()
        self.unreadable = 0
        self.plain_text: str | None = None
        """The first line of plain text, if there was one before any message."""
        self.closed: StreamClosed | None = None
        self.started_at: float | None = None
        self.last_activity: float | None = None
        self.phase: Phase = "starting"
        self.phase_since: float | None = None
        self.retrying_since: float | None = None
        self.dropped = Dropped()
        self._failed: set[str] = set()  # the calls that failed and were not denied
        self._asks: dict[str | None, Asked] = {}  # by call, until the stream shows an answer

    @property
    def steps(self) -> int | None:
        """The number of steps, as the agent counts them when a turn is over.

        People call them turns, as agents do in their `--max-turns`; here a turn is all that one
        prompt sets off.
        """
        counts = [result.turns for result in self.results if result.turns is not None]
        counts += [] if self.dropped.steps is None else [self.dropped.steps]
        return sum(counts) if counts else None

    @property
    def heard(self) -> bool:
        """True if there was any message at all, even one without an event."""
        events = self.records - self.unreadable - (self.closed is not None)
        return events > 0 or bool(self.silent)

    @property
    def asked(self) -> PermissionRequested | None:
        """The agent's last question without an answer, as far as the stream shows."""
        latest = next(reversed(self._asks.values()), None)
        return latest.event if latest else None

    @property
    def unfinished_tool(self) -> ToolSpan | None:
        """The last call that is open, never ended, or was cancelled when its turn was."""
        is_interrupted = bool(self.results) and self.results[-1].reason == "interrupted"
        cancelled = self.cancelled_tool if is_interrupted else None
        return next(reversed(self.open_tools.values()), self.last_orphan or cancelled)

    @property
    def open_call(self) -> ToolSpan | None:
        """The main agent's last call of the last turn that has not ended, or never did."""
        for span in reversed(self.open_tools.values()):
            if span.parent is None and span.id not in self.earlier_calls:
                return span
        return self.orphan_of_turn

    def has_answer(self, last: TurnFinished) -> bool:
        """True if its last turn, which succeeded, has an answer or needs none."""
        if last.structured is not None or last.reason == "local_command":
            return True
        return bool(last.text.strip() if last.text is not None else self.texts)

    @property
    def quota_errors(self) -> list[Error]:
        """The errors that report a limit of the provider: a 429 does if nothing came after it."""
        last = [error for error in self.errors[-1:] if error.kind == "rate"]
        return [error for error in self.errors if error.kind == "quota"] or last

    @property
    def needs_payment(self) -> bool:
        """True if no credit is left at the provider."""
        return any(error.needs_payment for error in self.quota_errors)

    @property
    def denied_tools(self) -> int:
        """The number of tool calls that were not permitted."""
        return len(self.denials) + self.dropped.denials

    @property
    def failed_tools(self) -> int:
        """The number of tool calls that failed, without those that were not permitted."""
        return len(self._failed) + self.dropped.failed

    @property
    def lines(self) -> int | None:
        """The number of lines, once the stream is closed."""
        return self.closed.lines if self.closed else None

    @property
    def silent(self) -> int | None:
        """The number of messages without an event, once the stream is closed."""
        return self.closed.silent if self.closed else None

    def snapshot(self) -> Snapshot:
        """Copy the state into a frozen value for other threads, the wire and screens."""
        activity, since = self._activity()
        ledger, last = self.ledger, self.errors[-1] if self.errors else None
        return Snapshot(
            seq=self.records,
            activity=activity,
            since=since,
            started_at=self.started_at,
            last_activity=self.last_activity,
            session=short(self.session),
            model=short(self.model),
            version=short(self.version),
            cwd=short(self.cwd, _LONGEST_PATH),
            mode=short(self.mode),
            tokens=self.token_counts,
            cost=ledger.cost,
            spent_usd=ledger.spent_usd,
            context_tokens=self.context_tokens,
            context_window=self.context_window,
            quotas=tuple(map(_quota, list(self.limits.values())[-MOST_ITEMS:])),
            plan=_plan(self.plan),
            tools=self.tool_counts,
            open_tools=tuple(map(_running_tool, list(self.open_tools.values())[-MOST_ITEMS:])),
            tools_open=len(self.open_tools),
            open_tasks=tuple(map(_running_task, list(self.open_tasks.values())[-MOST_ITEMS:])),
            tasks_open=len(self.open_tasks),
            questions=tuple(map(self._question, list(self._asks.values())[-MOST_ITEMS:])),
            questions_open=len(self._asks),
            retry=_retry(self.retrying, self.retrying_since) if self.retrying else None,
            files=_file_counts(self.files.values(), self.dropped),
            turns=len(self.turns),
            results=len(self.results),
            ok=self.results[-1].ok if self.results else None,
            steps=self.steps,
            messages=ledger.steps,
            errors=self.errors_reported,
            last_error=_failure(last) if last else None,
            unknown=self.unknown.total(),
            unreadable=self.unreadable,
            closed=self.closed is not None,
        )

    @property
    def token_counts(self) -> TokenCounts:
        """All tokens, as a frozen value."""
        if not self.ledger.has_usage:
            return TokenCounts()
        tokens = self.ledger.tokens
        return TokenCounts(
            input=tokens.input,
            output=tokens.output,
            cache_read=tokens.cache_read,
            cache_write=tokens.cache_write,
        )

    @property
    def tool_counts(self) -> ToolCounts:
        """The tool calls, as a frozen value."""
        return ToolCounts(
            started=self.tools_started,
            finished=self.tools_finished,
            failed=self.failed_tools,
            denied=self.denied_tools,
            orphaned=self.tools_orphaned,
        )

    def _activity(self) -> tuple[Activity, float | None]:
        """Return the run's current activity and its start; what blocks the run comes first."""
        if self._asks:
            return "asking", next(reversed(self._asks.values())).at
        if self.retrying is not None:
            return "retrying", self.retrying_since
        if self.open_tools:
            return "tool", next(reversed(self.open_tools.values())).started_at
        if self.open_tasks:
            return "task", next(reversed(self.open_tasks.values())).started_at
        return self.phase, self.phase_since

    def _question(self, asked: Asked) -> PendingQuestion:
        event = asked.event
        tool = self.open_tools.get(event.tool_id or "")
        return PendingQuestion(
            seq=asked.seq,
            id=short(event.id),
            tool_id=short(event.tool_id),
            name=short(event.name),
            title=short(tool.title if tool else None, LONGEST_TITLE),
            reason=short(event.reason, LONGEST_TITLE),
            asked_at=asked.at,
        )

    def drift(self, agent: str) -> str | None:
        """Describe the unknown messages and fields; None if there were none."""
        types = len(self.unknown)
        fields = len(self.closed.unknown_fields) if self.closed else 0
        if not types and not fields:
            return None
        parts = ((types, "type"), (fields, "field"))
        what = " and ".join(count(number, noun) for number, noun in parts if number)
        version = f" {self.version}" if self.version else ""
        return f"{agent}{version} wrote {what} that this version of nightrook does not know"


_LONGEST_PATH = 4096


def _running_tool(span: ToolSpan) -> RunningTool:
    return RunningTool(
        id=short(span.id) or "",
        name=short(span.name),
        kind=span.kind,
        title=short(span.title, LONGEST_TITLE),
        parent=short(span.parent),
        started_at=span.started_at,
    )


def _running_task(span: TaskSpan) -> RunningTask:
    return RunningTask(
        id=short(span.id) or "",
        kind=span.kind,
        title=short(span.title, LONGEST_TITLE),
        doing=short(span.doing, LONGEST_TITLE),
        tool_id=short(span.tool_id),
        background=span.background,
        started_at=span.started_at,
        tokens=span.usage.tokens if span.usage else None,
    )


def _quota(limit: LimitReported) -> Quota:
    return Quota(
        name=window_name(short(limit.window)),
        window=short(limit.window),
        status=limit.status,
        used=limit.used,
        resets_at=limit.resets_at,
    )


def _retry(event: Retrying, since: float | None) -> Retry:
    return Retry(
        attempt=event.attempt,
        max_attempts=event.max_attempts,
        delay_s=event.delay_s,
        status=event.status,
        reason=short(event.reason, LONGEST_TITLE),
        since=since,
    )


def _plan(items: tuple[PlanItem, ...]) -> Plan:
    steps = tuple(
        PlanItem(text=short(item.text, LONGEST_TITLE) or "", status=short(item.status))
        for item in items[:MOST_STEPS]
    )
    done = sum(item.status == "completed" for item in items)
    return Plan(steps=steps, total=len(items), done=done)


def _file_counts(files: Collection[FileState], dropped: Dropped) -> FileCounts:
    return FileCounts(
        changed=len(files) + dropped.files,
        added=_total([dropped.added, *(file.added for file in files)]),
        removed=_total([dropped.removed, *(file.removed for file in files)]),
    )


def _total(counts: list[int | None]) -> int | None:
    """The sum; None if one of them is unknown."""
    return None if None in counts else sum(number or 0 for number in counts)


def _failure(error: Error) -> Failure:
    return Failure(kind=error.kind, message=short(error.message, LONGEST_TITLE))
