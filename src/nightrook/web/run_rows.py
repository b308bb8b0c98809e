"""A run in the page's lists, as its row, and in the event stream, as its beat."""

import time

import msgspec

from nightrook.display import event_lines
from nightrook.model.durations import elapsed_s
from nightrook.model.ledger import Money
from nightrook.model.snapshot import Activity, Snapshot, TokenCounts
from nightrook.model.text import encodable, first_line
from nightrook.store.names import kind_of
from nightrook.store.run_formats import RunInfo, VerdictInfo
from nightrook.web.shown_runs import ShownRun

_LONGEST_TITLE = 300


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What a run has spent; None if that is not known."""

    usd: float | None = None
    kind: str = "unknown"
    at_least: bool = False


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A run in the list."""

    name: str
    agent: str | None = None
    called: str | None = None
    title: str = ""
    status: str
    alive: bool = False
    started_at: float | None = None
    ended_at: float | None = None
    duration_s: float | None = None
    cost: Cost = Cost()
    tokens: TokenCounts | None = None
    model: str | None = None
    cwd: str | None = None
    loop: str | None = None
    batch: str | None = None
    iteration: int | None = None
    sentence: str | None = None
    exit_code: int | None = None
    activity: Activity | None = None
    since: float | None = None
    doing: str | None = None
    questions: int = 0
    revision: int | None = None


def ended_row(name: str, info: RunInfo, verdict: VerdictInfo) -> Row:
    """A run that has its verdict."""
    ending = verdict.ending(info)
    return msgspec.structs.replace(
        _begun(name, info),
        status=ending.status,
        ended_at=ending.ended_at,
        duration_s=ending.duration_s,
        cost=cost_of(Money(verdict.spent_usd, verdict.cost_source, verdict.cost_at_least)),
        tokens=verdict.tokens,
        model=verdict.model or info.model,
        sentence=ending.sentence,
        exit_code=ending.exit_code,
    )


def shown_row(shown: ShownRun) -> Row:
    """A run as far as it is folded."""
    if shown.verdict is not None:
        return ended_row(shown.name, shown.info, shown.verdict)
    snapshot = shown.story.snapshot()
    return msgspec.structs.replace(
        _begun(shown.name, shown.info),
        status=shown.status,
        alive=shown.is_alive,
        duration_s=elapsed_s(shown.info.started_at, time.time()),
        cost=spent(snapshot),
        tokens=snapshot.tokens if snapshot.has_usage else None,
        model=snapshot.model or shown.info.model,
        activity=snapshot.activity,
        since=snapshot.since,
        doing=doing(snapshot),
        questions=snapshot.questions_open,
        revision=shown.timeline.revision,
    )


def _begun(name: str, info: RunInfo) -> Row:
    what = "(piped)" if info.piped else info.prompt or " ".join(info.command)
    is_batch = info.loop is not None and kind_of(info.loop) == "batch"
    return Row(
        name=name,
        agent=info.agent,
        called=info.called,
        title=encodable(first_line(what, _LONGEST_TITLE)),
        status="running",
        started_at=info.started_at,
        model=info.model,
        cwd=encodable(info.cwd),
        loop=None if is_batch else info.loop,
        batch=info.loop if is_batch else None,
        iteration=info.iteration,
    )


class Beat(msgspec.Struct, frozen=True, kw_only=True):
    """A run at one moment."""

    name: str
    epoch: str
    revision: int
    total: int
    seq: int
    status: str
    alive: bool
    activity: Activity
    since: float | None
    doing: str | None
    cost: Cost
    tokens: TokenCounts | None
    questions: int


def beat(shown: ShownRun) -> Beat:
    """A run as it is now."""
    snapshot = shown.story.snapshot()
    return Beat(
        name=shown.name,
        epoch=shown.epoch,
        revision=shown.timeline.revision,
        total=len(shown.timeline.items),
        seq=snapshot.seq,
        status=shown.status,
        alive=shown.is_alive,
        activity=snapshot.activity,
        since=snapshot.since,
        doing=doing(snapshot),
        cost=spent(snapshot),
        tokens=snapshot.tokens if snapshot.has_usage else None,
        questions=snapshot.questions_open,
    )


def cost_of(money: Money) -> Cost:
    """An amount, and where it is from."""
    kind = "unknown" if money.usd is None else money.source
    return Cost(usd=money.usd, kind=kind, at_least=money.at_least)


def spent(snapshot: Snapshot) -> Cost:
    """What a run has spent so far."""
    cost = snapshot.cost
    return cost_of(Money(snapshot.spent_usd, cost.source, cost.at_least))


def doing(snapshot: Snapshot) -> str | None:
    """What a run does now, in a few words: the call that is open."""
    if not snapshot.open_tools:
        return None
    tool = snapshot.open_tools[-1]
    return event_lines.call(tool, tool.started_at, snapshot.cwd).words
