"""Writes the ledger: books each report once, takes differences of totals, settles at results.

`nightrook.model.ledger` has the theory and the accounts. This is the writer, with what it must know
about the past of a stream to make entries of what agents report:

- `report` takes the usage of a message. A report without an id is a message of its own. A
  cumulative one is the growth of a counter, less what messages have reported since its last value,
  because some agents report both (`_rest`).
- `settle` takes the result of a turn: first the total of money (`_take_total`), then what the turn
  used beyond its messages (`_correct`), then the count of tokens (`_take_count`). Only growth moves
  the marks: an interrupted turn is reported with no cost and no tokens, yet they were spent, so its
  messages stay unsettled, and estimated.

Three figures continue from earlier processes: counters (`earlier`), their cost (`earlier_usd`) and
the total of a resumed session (`_base`). A total that falls was started again by the agent; what
came before is carried (`_carried`). A cost that no run can have (`credible`) is not a report.
"""

from collections.abc import Sequence
from itertools import islice

from nightrook.model.events import ModelUsage, TurnFinished, Usage, UsageReported
from nightrook.model.ledger import (
    NOT_REPORTED,
    Account,
    Entry,
    Ledger,
    Tokens,
    cache_write_of,
    total_of,
)
from nightrook.model.price import Prices, credible, dollars, nano, no_prices

_MOST_ENTRIES = 1024  # messages that may still be reported again

NOTHING = Usage()
"""The usage of a session that has just begun."""


class OpenLedger(Ledger):
    """A ledger that is being written; readers of a state see only a `Ledger`.

    `earlier` is where the cumulative counters of a resumed session started, `earlier_usd` its
    cost; None if unknown: then what this process used is not known before the second figure.
    """

    def __init__(
        self,
        prices: Prices = no_prices,
        *,
        earlier: Usage | None = NOTHING,
        earlier_usd: float | None = 0.0,
    ) -> None:
        super().__init__(prices)
        self._earlier = earlier
        self._earlier_usd = credible(earlier_usd)
        self._total_costs: dict[str | None, int] = {}  # in nano-dollars, by parent
        self._unnamed = 0
        self._totals_seen = 0
        self._last_count = Tokens()  # the agent's own, which a resumed session continues
        self._dropped: Usage | None = None  # of messages let go since the session's last total
        self._dropped_turns: dict[int, tuple[set[str | None], Tokens]] = {}

    def report(
        self,
        event: UsageReported,
        *,
        turn: int = 0,
        at: float | None = None,
        model: str | None = None,
    ) -> None:
        """Book a message's usage; of several reports the most final one counts.

        `model` is the session's, for a report that names none.
        """
        usage, cost = _usage(event), credible(event.cost_usd)
        id, native = event.message_id, None if cost is None else nano(cost)
        if event.scope == "session" and id is not None and usage == NOT_REPORTED and cost is None:
            self._unreported.add(id)  # another session worked for this one, unseen
            return
        if event.semantics == "cumulative":
            native = self._grown_cost(event.parent, native)
            rest = self._rest(event.parent, usage)
            if rest is None:
                return
            usage, id = rest, None
        if id is None:
            self._unnamed += 1
            id = f"#{self._unnamed}"
        old = self._entries.get(id)
        if old is not None:
            if (usage.output or 0) < (old.usage.output or 0):
                return
            self._book(old, -1)
        model = event.model or (old.model if old else None) or model
        entry = self._entry(
            usage,
            model=model,
            parent=event.parent,
            turn=old.turn if old else turn,
            at=at,
            summed=event.scope != "message",
            native=native,
        )
        if old is not None:
            entry.epoch, entry.count, entry.corrected = old.epoch, old.count, old.corrected
        entry.final = event.semantics != "snapshot"
        if event.semantics == "cumulative":
            entry.totals = None  # it is part of a total itself
        self.has_usage = self.has_usage or usage != NOT_REPORTED
        self._book(entry, 1)
        self._keep(id, entry)

    def settle(
        self,
        event: TurnFinished,
        *,
        turn: int = 0,
        at: float | None = None,
        model: str | None = None,
    ) -> None:
        """Adopt the agent's own figures for everything up to this result.

        `model` is the session's, for a result whose messages reported no usage.
        """
        grown, cost = 0, credible(event.cost_usd)
        if cost is not None:
            grown = self._take_total(event, cost)
            self._native_turns[turn] = self._native_turns.get(turn, 0) + grown
        self._correct(event, turn, at, model)
        if event.models is not None:
            self.native_models, self.has_usage = event.models, True
            grown_tokens = self._take_count(event.models, event.spent)
            if grown_tokens or _counts(event.usage):
                self._count += 1
                self._uncounted = Tokens()
        if grown or (cost is not None and _counts(event.usage)):
            # An interrupted turn is reported with no cost and no usage, yet its tokens were spent:
            # then its messages stay unsettled, and estimated.
            self._epoch += 1
            self._unsettled = Account()

    def _rest(self, parent: str | None, now: Usage) -> Usage | None:
        """Return a counter's growth that no message reported; None if that is nothing or unknown.

        Some agents report what each message used and, at the end, a total that includes it.
        """
        grown = self._difference(parent, now)
        latest = self._entries.values()
        reported = [entry.usage for entry in latest if entry.totals == self._totals_seen]
        reported += [self._dropped] if self._dropped else []
        if parent is not None or not reported:
            return grown
        self._totals_seen += 1
        self._dropped = None
        if grown is None or not _counts(rest := _less(grown, reported)):
            return None
        return rest

    def _difference(self, parent: str | None, now: Usage) -> Usage | None:
        """Return a counter's growth; None if its start is unknown."""
        before = self._totals.get(parent, self._earlier if parent is None else NOTHING)
        self._totals[parent] = now
        if before is None:
            return None
        return _less(now, [before])

    def _grown_cost(self, parent: str | None, now: int | None) -> int | None:
        """Return the growth of a total cost; None if it is unknown, as after a smaller total."""
        if now is None:
            return None
        earlier = self._earlier_usd if parent is None else 0.0
        before = self._total_costs.get(parent, None if earlier is None else nano(earlier))
        self._total_costs[parent] = now
        if parent is None:
            self.total_usd = dollars(now)
        return None if before is None or now < before else now - before  # guards: resumed-cost

    def _take_count(self, models: Sequence[ModelUsage], spent: Sequence[ModelUsage] | None) -> int:
        """Adopt the agent's count of all tokens and return its growth.

        A resumed session continues its old count, which is not this process's. An interrupted turn
        is reported with no tokens, yet they were spent: it changes nothing.
        """
        now, before = _sum(models), self._last_count
        if not now.total:
            return 0
        grown = _sum(models)
        if not before.total and spent is not None:
            grown = _sum(spent)
        elif now.total >= before.total:  # else the agent started its count again
            grown.add(before, -1)
        self._counted.add(grown)
        self._last_count = now
        return grown.total

    def _take_total(self, event: TurnFinished, usd: float) -> int:
        """Adopt the agent's total and return its growth."""
        cost = reported = nano(usd)
        first = self.native_nano is None
        before = self._running
        if event.cost_semantics == "turn":
            cost += before
        self.native_nano = cost
        self.native_usd = usd if cost == reported else dollars(cost)
        if first and event.spent is not None:
            # A resumed session continues its old total.
            self._base = max(0, cost - sum(nano(credible(m.cost_usd) or 0) for m in event.spent))
            before = self._base
        if cost < before and cost:
            self._carried += before - self._base  # the agent started its total again
            self._base = before = 0
        if cost or first:
            self._running = cost
        return max(0, cost - before)

    def _correct(self, event: TurnFinished, turn: int, at: float | None, model: str | None) -> None:
        """Add the usage of a turn's messages beyond their own reports.

        Most agents report a message's usage when it begins and only the turn's when it ends.
        """
        models, reported = self._main_messages(turn)
        alone = event.cost_usd is None and not self.has_usage  # no message reported its usage
        if alone:
            models = {model}
        if event.usage is None or len(models) != 1:
            return
        missing = _missing(event.usage, reported)
        if missing is None:
            return
        (model,) = models
        self.has_usage = True
        entry = self._entry(missing, model=model, parent=None, turn=turn, at=at)
        entry.messages, entry.totals, entry.corrected = int(alone), None, True
        self._book(entry, 1)
        self._keep(f"turn {turn}", entry)

    def _main_messages(self, turn: int) -> tuple[set[str | None], Tokens]:
        """The models and tokens of the main thread's messages in a turn, each counted once."""
        models, reported = self._dropped_turns.pop(turn, (set(), Tokens()))
        for entry in self._entries.values():
            if entry.turn == turn and entry.parent is None and not entry.corrected:
                entry.corrected = True
                models.add(entry.model)
                reported.add(entry.usage)
        return models, reported

    def _keep(self, id: str, entry: Entry) -> None:
        """Keep a message, because it may be reported again; the oldest are priced and dropped."""
        self._entries[id] = entry
        if len(self._entries) <= _MOST_ENTRIES:  # guards: messages-bounded
            return
        self._estimate()
        for old in list(islice(self._entries, _MOST_ENTRIES // 2)):
            self._drop(self._entries.pop(old))

    def _drop(self, entry: Entry) -> None:
        """Drop a message; its tokens still count for its turn and the session's total."""
        if entry.parent is None and not entry.corrected:
            models, reported = self._dropped_turns.setdefault(entry.turn, (set(), Tokens()))
            models.add(entry.model)
            reported.add(entry.usage)
        if entry.totals == self._totals_seen:
            self._dropped = _plus(self._dropped, entry.usage)

    def _entry(
        self,
        usage: Usage,
        *,
        model: str | None,
        parent: str | None,
        turn: int,
        at: float | None,
        summed: bool = False,
        native: int | None = None,
    ) -> Entry:
        entry = Entry(
            usage=usage,
            model=model,
            parent=parent,
            turn=turn,
            epoch=self._epoch,
            count=self._count,
            at=at,
            summed=summed,
            native=native,
            totals=self._totals_seen,
        )
        if self._estimating:
            self._value(entry)
        return entry


def _usage(event: UsageReported) -> Usage:
    return Usage(
        input=event.input,
        output=event.output,
        cache_read=event.cache_read,
        cache_write_5m=event.cache_write_5m,
        cache_write_1h=event.cache_write_1h,
        reasoning=event.reasoning,
        web_searches=event.web_searches,
    )


def _less(whole: Usage, parts: Sequence[Usage]) -> Usage:
    """Return a total minus its parts, at least zero."""
    return Usage(
        **{
            name: None
            if (value := getattr(whole, name)) is None
            else max(0, value - sum(getattr(part, name) or 0 for part in parts))
            for name in Usage.__struct_fields__
        }
    )


def _plus(first: Usage | None, second: Usage) -> Usage:
    """Add two usages."""
    parts = (first or NOTHING, second)
    sums = {
        name: sum(getattr(part, name) or 0 for part in parts) for name in Usage.__struct_fields__
    }
    return Usage(**sums)


def _sum(models: Sequence[ModelUsage]) -> Tokens:
    total = Tokens()
    for used in models:
        total.add(used)
    return total


def _counts(usage: Usage | None) -> bool:
    return usage is not None and total_of(usage) > 0


def _missing(whole: Usage, reported: Tokens) -> Usage | None:
    """Return a turn's use beyond what its messages reported; None if there is none."""
    missing = Usage(
        input=(whole.input or 0) - reported.input,
        output=(whole.output or 0) - reported.output,
        cache_read=(whole.cache_read or 0) - reported.cache_read,
        cache_write_5m=cache_write_of(whole) - reported.cache_write,
        web_searches=max(0, (whole.web_searches or 0) - reported.web_searches),
    )
    parts = (missing.input, missing.output, missing.cache_read, missing.cache_write_5m)
    if any(part is None or part < 0 for part in parts) or not any(parts):
        return None
    return missing
