"""The cost of a stream: each message is counted once, and unknown is never zero.

Agents report the same tokens up to four times, and no two agents the same set: a message's usage
when it begins (with too little output) and again as it grows; a counter of the whole session that
only rises; the usage and the cost of a turn in its result; and a count of all tokens of each model.
Adding up what is reported would bill a run twice. So the ledger has one entry for each message, and
two marks that say up to where the agent's own figures include the entries:

```
 UsageReported ──▶ entry (by message id; the most final report counts)
                     │ book
                     ├─▶ seen, by_turn, by_model, by_parent
                     ├─▶ unsettled, if entry.epoch == epoch      (no cost of the agent includes it)
                     └─▶ uncounted, if entry.count == count      (no count of the agent includes it)

 TurnFinished ───▶ the agent's total of money grew:  epoch += 1, unsettled = nothing
                   its count of tokens grew:         count += 1, uncounted = nothing

 cost   = the agent's total + the estimate of what is unsettled
 tokens = the agent's count + what is uncounted; without a count, those of all messages
```

`nightrook.model.bookkeeping` writes, and this module reads: `RunState.ledger` is typed as `Ledger`,
so that nothing but the fold of a stream can book. What both rely on:

- **An account is the sum of its entries.** `_book` alone changes accounts, by +1 or -1. A message
  that is reported again is booked out with the marks that it had, changed, and booked in again; so
  a correction of a settled message does not make it unsettled.
- **An entry may change until it is let go of.** Only the latest 1024 can be reported again; older
  ones stay in the accounts as sums. Memory does not grow with the stream.
- **Money is whole nano-dollars**, so that sums don't depend on their order. Floats are made at the
  edge (`dollars`).
- **Prices are looked up late.** Most agents report their own cost, and the price book takes time to
  load. The first question that needs an estimate (`_estimate`) values what is there; from then on
  each entry is valued as it comes. An entry without a known price makes a sum unknown, never
  smaller.
- **Unknown is not zero.** A counter whose start is unknown (a resumed session) has no difference; a
  subagent whose usage is not reported makes the cost a lower bound (`Money.at_least`).

Not simply the agent's own total: it comes only with a result, is missing after an interrupt, starts
again in some agents and continues an earlier process's in others. A budget must hold before that.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from nightrook.model.events import ModelUsage, Usage
from nightrook.model.price import Price, Prices, dollars, no_prices

Source = Literal["native", "estimated", "unknown"]

_DAY = 86400  # seconds; prices change from one day to the next

NOT_REPORTED = Usage()
"""The usage of a message whose tokens the agent does not report."""


class Tokens(msgspec.Struct, kw_only=True):
    """Token counts that are added up."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    web_searches: int = 0

    def add(self, usage: "Usage | ModelUsage | Tokens", sign: int = 1) -> None:
        """Add a usage, or take it away again."""
        self.input += sign * (usage.input or 0)
        self.output += sign * (usage.output or 0)
        self.cache_read += sign * (usage.cache_read or 0)
        self.cache_write += sign * cache_write_of(usage)
        self.web_searches += sign * (usage.web_searches or 0)

    @property
    def total(self) -> int:
        """All tokens."""
        return self.input + self.output + self.cache_read + self.cache_write


class Account(msgspec.Struct):
    """The tokens of some messages and, as far as their models have a price, their cost."""

    tokens: Tokens = msgspec.field(default_factory=Tokens)
    nano: int = 0
    saved_nano: int = 0
    messages: int = 0
    unpriced: int = 0
    unpriced_tokens: int = 0
    native: int = 0
    """The messages whose cost the agent itself reported."""

    unsaved: int = 0
    """The messages of which it is not known what the cache saved."""

    @property
    def cost_usd(self) -> float | None:
        """The estimate, or the agent's own figures; None if a message has no known price."""
        return None if self.unpriced else dollars(self.nano)


class Money(msgspec.Struct, frozen=True, omit_defaults=True):
    """An amount, and its source and precision."""

    usd: float | None
    source: Source
    at_least: bool = False
    """True if the agent does not report the cost of everything."""


class Reconciliation(msgspec.Struct, frozen=True):
    """The cost of the messages at list prices, and the cost that the agent reports."""

    messages_usd: float
    agent_usd: float

    @property
    def unseen_usd(self) -> float:
        """The cost of calls that were not reported; less than 0 if the agent left some out."""
        return self.agent_usd - self.messages_usd


class Entry(msgspec.Struct):
    """One message of a model, as last reported."""

    usage: Usage
    model: str | None
    parent: str | None
    turn: int
    epoch: int  # how many totals of money there were before it
    count: int  # how many counts of all tokens there were before it
    at: float | None
    summed: bool = False  # several messages, reported as one
    native: int | None = None  # what the agent itself says it cost
    nano: int | None = None
    saved: int | None = None
    messages: int = 1
    totals: int | None = 0  # how many totals of the session there were before it
    corrected: bool = False  # whether its turn's result was compared with it
    final: bool = True  # whether its usage is not only that of its start


class Ledger:
    """The tokens and the cost of a stream so far; `prices` returns the price of a model."""

    def __init__(self, prices: Prices = no_prices) -> None:
        self._prices = prices
        self._known: dict[tuple[str, int | None], Price | None] = {}
        self._entries: dict[str, Entry] = {}  # the latest messages, which may be reported again
        self._totals: dict[str | None, Usage] = {}  # last cumulative counters, by parent
        self._epoch = 0
        self._count = 0
        self._base = 0  # what the agent's total began with
        self._carried = 0  # what was spent before the agent started its total again
        self._running = 0  # the agent's total, but for results that forgot it
        self._seen = Account()
        self._unsettled = Account()
        self._counted = Tokens()  # by the agent itself, for this process
        self._uncounted = Tokens()  # of messages since
        self._unreported: set[str] = set()  # sessions of subagents whose usage is not reported
        self._by_model: dict[str | None, Account] = {}
        self._by_parent: dict[str | None, Account] = {}
        self._by_turn: dict[int, Account] = {}
        self.has_usage = False
        """True if any tokens were reported."""
        self._estimating = False  # prices are looked up only once an estimate is asked for
        self.total_usd: float | None = None
        """The cost of the whole session, as last reported with its counters."""
        self.native_usd: float | None = None
        """The agent's own total at the last result that had one, as it wrote it."""
        self.native_nano: int | None = None
        """The same in nano-dollars."""
        self.native_models: tuple[ModelUsage, ...] | None = None
        """The usage and cost of each model, as the agent reports them at that result."""
        self._native_turns: dict[int, int] = {}  # what each added to the agent's total

    @property
    def seen(self) -> Account:
        """All reported messages, each once, and the usage that results added."""
        self._estimate()
        return self._seen

    @property
    def unsettled(self) -> Account:
        """The messages that no result has counted."""
        self._estimate()
        return self._unsettled

    @property
    def by_model(self) -> Mapping[str | None, Account]:
        """The messages of each model."""
        self._estimate()
        return self._by_model

    @property
    def by_parent(self) -> Mapping[str | None, Account]:
        """The messages of each subagent, by the call it works in; None is the main thread."""
        self._estimate()
        return self._by_parent

    @property
    def by_turn(self) -> Mapping[int, Account]:
        """The messages of each turn."""
        self._estimate()
        return self._by_turn

    @property
    def cost(self) -> Money:
        """The run's cost now: the agent's figure, plus an estimate of what it has not counted."""
        more = bool(self._unreported)
        if self.native_nano is not None and not self._unsettled.messages:
            return Money(dollars(self.native_nano), "native", more)
        if not self._unsettled.messages:
            return Money(None, "unknown")  # and no price is asked for
        counted, rest = self.native_nano or 0, self.unsettled
        if rest.unpriced and self.native_nano is None:
            return Money(None, "unknown")
        source: Source = "native" if rest.native == rest.messages else "estimated"
        return Money(dollars(counted + rest.nano), source, more or rest.unpriced > 0)

    @property
    def spent_nano(self) -> int | None:
        """The share of the agent's total that this process spent."""
        if self.native_nano is None:
            return None
        return self._carried + self._running - self._base

    @property
    def spent_usd(self) -> float | None:
        """The cost of this process, including what is not settled yet; budgets count it."""
        spent = self.spent_nano
        if spent is None:
            return self.cost.usd
        return dollars(spent + (self.unsettled.nano if self._unsettled.messages else 0))

    @property
    def tokens(self) -> Tokens:
        """All tokens of this process: the agent's own count, plus what it has not counted.

        Without a count of the agent's own, those of its messages.
        """
        if not self._count:
            return self._seen.tokens
        total = Tokens()
        total.add(self._counted)
        total.add(self._uncounted)
        return total

    @property
    def estimates_tokens(self) -> bool:
        """True if the output of some messages is not known exactly, as in a run that was killed."""
        return any(not e.final and e.count == self._count for e in self._entries.values())

    @property
    def total(self) -> Usage | None:
        """The session's cumulative counters, as last reported; None if they never were."""
        return self._totals.get(None)

    @property
    def steps(self) -> int:
        """The number of messages that the main thread's model has written."""
        return self._by_parent[None].messages if None in self._by_parent else 0

    @property
    def native_turn_usd(self) -> Mapping[int, float]:
        """The amount that each finished turn added to the agent's own total."""
        return {turn: dollars(nano) for turn, nano in self._native_turns.items()}

    @property
    def saved_usd(self) -> float | None:
        """The estimated savings of the cache; None if a model has no known price."""
        if self.seen.unpriced or self.seen.unsaved:
            return None
        return dollars(self.seen.saved_nano)

    @property
    def reconciliation(self) -> "Reconciliation | None":
        """The cost of the messages, and the agent's own total; None if one is unknown."""
        if self.native_nano is None or self.seen.unpriced or not self.seen.messages:
            return None
        messages = self.seen.nano - self.unsettled.nano
        return Reconciliation(dollars(messages), dollars(self.spent_nano or 0))

    def _estimate(self) -> None:
        """Start to look up prices; from now on every message is priced as it arrives."""
        if self._estimating:
            return
        self._estimating = True
        for entry in self._entries.values():
            self._book(entry, -1)
            self._value(entry)
            self._book(entry, 1)

    def _value(self, entry: Entry) -> None:
        price = self._price(entry.model, entry.at)
        if price is not None and entry.summed:
            price = price.of_sums
        if price is not None and entry.usage != NOT_REPORTED:
            entry.nano = price.cost(entry.usage)
            entry.saved = price.saved(entry.usage)
        if entry.native is not None:
            entry.nano = entry.native

    def _price(self, model: str | None, at: float | None) -> Price | None:
        if model is None:
            return None
        key = model, None if at is None else int(at // _DAY)
        if key not in self._known:
            self._known[key] = self._prices(model, at)
        return self._known[key]

    def _book(self, entry: Entry, sign: int) -> None:
        accounts = [
            self._seen,
            self._by_turn.setdefault(entry.turn, Account()),
            self._by_model.setdefault(entry.model, Account()),
            self._by_parent.setdefault(entry.parent, Account()),
        ]
        if entry.epoch == self._epoch:
            accounts.append(self._unsettled)
        if entry.count == self._count:
            self._uncounted.add(entry.usage, sign)
        for account in accounts:
            _add(account, entry, sign)


def least_certain(sources: Iterable[Source]) -> Source:
    """Return the least certain of the sources of a sum, which is as certain as the sum is."""
    found = set(sources)
    order: tuple[Source, ...] = ("unknown", "estimated", "native")
    return next((source for source in order if source in found), "unknown")


def _add(account: Account, entry: Entry, sign: int) -> None:
    account.tokens.add(entry.usage, sign)
    account.messages += sign * entry.messages
    account.native += sign * entry.messages * (entry.native is not None)
    if entry.nano is None:
        account.unpriced += sign * entry.messages
        account.unpriced_tokens += sign * total_of(entry.usage)
    else:
        account.nano += sign * entry.nano
        account.saved_nano += sign * (entry.saved or 0)
    account.unsaved += sign * (entry.saved is None)


def cache_write_of(usage: Usage | ModelUsage | Tokens) -> int:
    """Return all tokens written to the cache, for any duration."""
    if isinstance(usage, Tokens):
        return usage.cache_write
    if isinstance(usage, ModelUsage) and usage.cache_write is not None:
        return usage.cache_write
    return (usage.cache_write_5m or 0) + (usage.cache_write_1h or 0)


def total_of(usage: Usage) -> int:
    """All tokens of a usage."""
    return (
        (usage.input or 0) + (usage.output or 0) + (usage.cache_read or 0) + cache_write_of(usage)
    )
