"""What the bell says of a run: how far it has grown, and what it does."""

import msgspec

from nightrook.model.snapshot import Activity, TokenCounts
from nightrook.web.folds.fold import RunFold
from nightrook.web.views.values import Cost, doing, spent


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


def beat(fold: RunFold) -> Beat:
    """A run as it is now."""
    snapshot = fold.snapshot()
    running = "running" if fold.is_alive or fold.is_healing else "not kept"
    return Beat(
        name=fold.name,
        epoch=fold.epoch,
        revision=fold.timeline.revision,
        total=len(fold.timeline.items),
        seq=snapshot.seq,
        status=running if fold.verdict is None else fold.verdict.status,
        alive=fold.is_alive,
        activity=snapshot.activity,
        since=snapshot.since,
        doing=doing(snapshot),
        cost=spent(snapshot),
        tokens=snapshot.tokens if snapshot.has_usage else None,
        questions=snapshot.questions_open,
    )
