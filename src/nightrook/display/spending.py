"""The spending of a run: by model, subagent and turn, and the cache's savings."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from nightrook.display.numbers import price, tokens
from nightrook.model.ledger import Account, Ledger, Money, Reconciliation
from nightrook.model.safe import safe_line
from nightrook.model.text import count, cut
from nightrook.model.timeline import Item

_MOST_PARTS = 6  # of a line; the others are counted
_LONGEST_TITLE = 40
_LEAST_USD = 0.00005  # less is not worth a line: it reads $0.0000


class TurnUse(NamedTuple):
    """The use of a turn."""

    tokens: int
    cost: Money

    @property
    def words(self) -> tuple[str, ...]:
        """The same for people."""
        used = f"{tokens(self.tokens)} tokens" if self.tokens else ""
        cost = price(self.cost) if self.cost.usd is not None else ""
        return tuple(part for part in (used, cost) if part)


def turn_uses(ledger: Ledger) -> list[TurnUse]:
    """The use of each turn in order; one that reported nothing used no tokens."""
    native = ledger.native_turn_usd
    last = max((*ledger.by_turn, *native), default=-1)
    return [
        _turn_use(ledger.by_turn.get(turn, Account()), native.get(turn)) for turn in range(last + 1)
    ]


def _turn_use(account: Account, native_usd: float | None) -> TurnUse:
    if native_usd is not None:
        return TurnUse(account.tokens.total, Money(native_usd, "native"))
    cost = _money(account) if account.messages else Money(None, "unknown")
    return TurnUse(account.tokens.total, cost)


def spending_lines(
    ledger: Ledger, titles: Mapping[str, str], *, verbose: bool, turns: bool = True
) -> Iterator[str]:
    """Yield a line for each way to split the cost; none where there is only one part.

    `titles` are those of the subagents, by the ids of their calls. With `verbose`, also what the
    cache saved and how the messages add up.
    """
    models = [(name or "unknown model", account) for name, account in ledger.by_model.items()]
    subagents = [
        (titles.get(call, "subagent"), account)
        for call, account in ledger.by_parent.items()
        if call is not None
    ]
    if len(models) > 1:
        yield f"models: {_parts(models)}"
    if subagents:
        yield f"{count(len(subagents), 'subagent')}: {_parts(subagents)}"
    if turns and len(ledger.by_turn) > 1:
        yield f"turns: {_turns(ledger)}"
    if verbose:
        yield from _saved(ledger.saved_usd)
        yield from _unseen(ledger.reconciliation)


def subagent_titles(items: Iterable[Item]) -> dict[str, str]:
    """The titles of the subagents in a timeline, by the ids of their calls."""
    calls = (item for item in items if item.kind == "subagent")
    return {call.key or "": call.title or call.name or "subagent" for call in calls}


def _parts(accounts: list[tuple[str, Account]]) -> str:
    """List the parts with their cost, the most expensive first."""
    ordered = sorted(accounts, key=lambda part: (-part[1].nano, -part[1].tokens.total))
    return _joined([f"{safe_line(cut(name, _LONGEST_TITLE))} {_cost(a)}" for name, a in ordered])


def _joined(parts: list[str]) -> str:
    more = len(parts) - _MOST_PARTS
    return " · ".join([*parts[:_MOST_PARTS], *([f"{more} more"] if more > 0 else ())])


def _cost(account: Account) -> str:
    """The cost of some messages; without a price, their tokens."""
    if account.cost_usd is None:
        return f"{tokens(account.tokens.total)} tokens"
    return price(_money(account))


def _money(account: Account) -> Money:
    if account.cost_usd is None:
        return Money(None, "unknown")
    is_native = 0 < account.messages == account.native
    return Money(account.cost_usd, "native" if is_native else "estimated")


def _turns(ledger: Ledger) -> str:
    """The cost of each turn: the agent's own figure if it reported one."""
    native = ledger.native_turn_usd
    return _joined(
        [
            price(Money(native[turn], "native")) if turn in native else _cost(account)
            for turn, account in sorted(ledger.by_turn.items())
        ]
    )


def _saved(usd: float | None) -> Iterator[str]:
    if usd is not None and abs(usd) >= _LEAST_USD:
        what = "saved" if usd > 0 else "cost"
        yield f"cache: {what} {price(Money(abs(usd), 'estimated'))}"


def _unseen(known: Reconciliation | None) -> Iterator[str]:
    if known is None or abs(known.unseen_usd) < _LEAST_USD:
        return
    difference = price(Money(abs(known.unseen_usd), "estimated"))
    where = "went to calls that no message shows" if known.unseen_usd > 0 else "is not in its total"
    total = price(Money(known.agent_usd, "native"))
    messages = price(Money(known.messages_usd, "estimated"))
    yield f"messages: {messages} of the agent's {total}; {difference} {where}"
