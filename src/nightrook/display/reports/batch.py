"""The report of a batch: how many tasks succeeded, what they cost, and each of them."""

from collections.abc import Sequence

from nightrook.display.reports.report import RUNNING, Report, ReportedPart
from nightrook.model.ledger import least_certain
from nightrook.model.price import dollars, nano
from nightrook.model.text import count
from nightrook.store.batch_folder import BatchResult

_STATUSES: dict[int | None, str] = {0: "success", 1: "failed", 5: "over_budget", 130: "interrupted"}
"""How a batch ended, by the exit code of `rook batch`."""


def batch_report(
    name: str,
    results: Sequence[BatchResult],
    *,
    planned: int,
    exit_code: int | None = None,
    is_running: bool = False,
    duration_s: float | None = None,
) -> Report:
    """Report a batch of `planned` tasks; without its exit code, as far as its results say."""
    failed = sum(not result.ok for result in results)
    if exit_code is None and not is_running and len(results) >= planned:
        exit_code = 1 if failed else 0
    known = [result for result in results if result.spent_usd is not None]
    ran = [result for result in results if result.status != "not_started"]
    unknown = sum(result.cost_source == "unknown" for result in ran)
    spent = dollars(sum(nano(result.spent_usd or 0.0) for result in known))
    return Report(
        kind="batch",
        name=name,
        status=RUNNING if is_running else _STATUSES.get(exit_code, "incomplete"),
        ok=exit_code == 0,
        exit_code=exit_code,
        sentence=f"{len(results)} of {count(planned, 'task')} done, {failed} failed",
        duration_s=duration_s,
        spent_usd=spent if known else None,
        cost_source=least_certain(result.cost_source for result in known),
        unknown_costs=unknown,
        parts=tuple(map(_part, results)),
        planned=planned,
    )


def _part(result: BatchResult) -> ReportedPart:
    return ReportedPart(
        name=result.id,
        status=result.status,
        ok=result.ok,
        sentence=result.sentence,
        run=result.run,
        loop=result.loop,
        duration_s=result.duration_s,
        spent_usd=result.spent_usd,
        cost_source=result.cost_source,
        answer=result.answer,
    )
