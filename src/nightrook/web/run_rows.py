"""A run in the page's lists, as its row, and in the event stream, as its beat."""

from typing import Any

import msgspec

from nightrook.display import event_lines
from nightrook.model.ledger import Money
from nightrook.model.snapshot import Activity, Snapshot, TokenCounts
from nightrook.model.text import encodable, first_line
from nightrook.runs.listing import with_state
from nightrook.store.list import Row, ended_row, started_row
from nightrook.store.names import kind_of
from nightrook.web.shown_runs import ShownRun

_LONGEST_TITLE = 300

Json = dict[str, Any]


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """Cost of a run; None if it is not known."""

    usd: float | None = None
    kind: str = "unknown"
    at_least: bool = False


def row_json(row: Row) -> Json:
    """A run in the list, as the page has it."""
    is_batch = row.part_of is not None and kind_of(row.part_of) == "batch"
    return {
        "name": row.name,
        "agent": row.agent,
        "called": row.called,
        "title": encodable(first_line(row.what, _LONGEST_TITLE)),
        "status": row.status,
        "alive": False,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
        "duration_s": row.seconds,
        "cost": cost_of(Money(row.spent_usd, row.cost_source, row.cost_at_least)),
        "tokens": row.tokens,
        "model": row.model,
        "cwd": None if row.cwd is None else encodable(row.cwd),
        "loop": None if is_batch else row.part_of,
        "batch": row.part_of if is_batch else None,
        "iteration": row.number,
        "sentence": row.sentence,
        "exit_code": row.exit_code,
        "activity": None,
        "since": None,
        "doing": None,
        "questions": 0,
        "revision": None,
    }


def shown_json(shown: ShownRun) -> Json:
    """A run as far as it is folded."""
    if shown.verdict is not None:
        return row_json(ended_row(shown.name, shown.info, shown.verdict))
    state, snapshot = shown.story.state, shown.story.snapshot()
    return {
        **row_json(with_state(started_row(shown.name, shown.info), state)),
        "status": shown.status,
        "alive": shown.is_alive,
        "tokens": snapshot.tokens if snapshot.has_usage else None,
        "activity": snapshot.activity,
        "since": snapshot.since,
        "doing": doing(snapshot),
        "questions": snapshot.questions_open,
        "revision": shown.timeline.revision,
    }


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
    """Return the cost of a run so far."""
    cost = snapshot.cost
    return cost_of(Money(snapshot.spent_usd, cost.source, cost.at_least))


def doing(snapshot: Snapshot) -> str | None:
    """Return the current action of a run, in a few words: the call that is open."""
    if not snapshot.open_tools:
        return None
    tool = snapshot.open_tools[-1]
    return event_lines.call(tool, tool.started_at, snapshot.cwd).words
