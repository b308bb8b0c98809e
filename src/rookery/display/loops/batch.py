"""The tasks of a batch as lines of text."""

from rookery.batches.batch import Batch, CurrentTask
from rookery.display.numbers import price, total_cost
from rookery.model.ledger import Money
from rookery.model.safe import safe_line
from rookery.model.text import duration, one_line, suggested
from rookery.store.batch_folder import BatchResult

_LONGEST = 60


def result_line(result: BatchResult) -> str:
    """How a task ended."""
    parts = [
        f"{safe_line(result.id)}: {result.status.replace('_', ' ')}",
        duration(result.duration_s),
    ]
    if result.status != "not_started":
        parts.append(price(Money(result.spent_usd, result.cost_source)))
    if not result.ok:
        parts.append(safe_line(one_line(result.sentence, _LONGEST)))
    if details := result.loop or result.run:
        parts.append(suggested("show", details))
    return " · ".join(parts)


def current_line(current: CurrentTask, *, now: float) -> str:
    """A task that is running, for a display that is refreshed."""
    prompt = safe_line(one_line(current.task.run.prompt or "", _LONGEST))
    cost = price(Money(current.spent_usd, "estimated"))
    took = duration(now - current.since)
    return f"  {safe_line(current.task.id)}  {current.name or '…'}  {took}  {cost}  {prompt}"


def spent_line(batch: Batch) -> str:
    """What all tasks of a batch have spent."""
    if batch.unknown_costs and not batch.spent_usd:
        return f"spent {price(Money(None, 'unknown'))}"
    cost = Money(batch.spent_usd, batch.cost_source)
    return f"spent {total_cost(cost, batch.unknown_costs, 'task')}"
