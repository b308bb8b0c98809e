"""What the bell says of a run: how far it has grown, and what it does."""

import msgspec

from nightrook.model.snapshot import Activity, TokenCounts
from nightrook.web.shown_runs import ShownRun
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
