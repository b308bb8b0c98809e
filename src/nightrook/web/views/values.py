"""Values that rows and beats share."""

import msgspec

from nightrook.display import event_lines
from nightrook.model.ledger import Money
from nightrook.model.snapshot import Snapshot


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What a run has spent; None if that is not known."""

    usd: float | None = None
    kind: str = "unknown"
    at_least: bool = False


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
