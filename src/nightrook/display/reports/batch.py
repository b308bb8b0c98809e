"""The report of a batch: its successes, its cost, and each of its tasks."""

from collections.abc import Sequence

from nightrook.display.reports.report import RUNNING, Report, ReportedPart
from nightrook.model.ending import Ending
from nightrook.model.ledger import least_certain
from nightrook.model.price import dollars, nano
from nightrook.model.status import BatchEnd
from nightrook.store.batch_folder import BatchResult


def batch_report(
    name: str,
    results: Sequence[BatchResult],
    *,
    planned: int,
    end: BatchEnd | None = None,
    is_running: bool = False,
    duration_s: float | None = None,
) -> Report:
    """Report a batch of `planned` tasks; without its end, as far as its results say."""
    failed = sum(not result.ok for result in results)
    if end is None and len(results) >= planned:
        end = "failed" if failed else "success"
    ending = Ending.of_batch(
        end or "incomplete",
        done=len(results),
        failed=failed,
        planned=planned,
        duration_s=duration_s,
    )
    known = [result for result in results if result.spent_usd is not None]
    ran = [result for result in results if result.status != "not_started"]
    unknown = sum(result.cost_source == "unknown" for result in ran)
    spent = dollars(sum(nano(result.spent_usd or 0.0) for result in known))
    return Report(
        kind="batch",
        name=name,
        status=RUNNING if is_running else ending.status,
        ok=ending.ok and not is_running,
        exit_code=None if is_running else ending.exit_code,
        sentence=ending.sentence,
        duration_s=ending.duration_s,
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
