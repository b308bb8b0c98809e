"""What later steps of a CI job can read: names and values of a report."""

from rookery.display.reports.report import Report
from rookery.model.text import cut

_LONGEST_ANSWER = 60_000  # characters; the outputs of a job on GitHub may have 1 MB


def outputs(report: Report) -> dict[str, str]:
    """The values by name, each on one line; what is unknown is empty."""
    cost = report.spent_usd
    return {
        "status": report.status,
        "exit_code": "" if report.exit_code is None else str(report.exit_code),
        "kind": report.kind,
        "name": report.name,
        "cost_usd": "" if cost is None else f"{cost:.6f}",
        "answer_file": report.answer_file or "",
    }


def with_answer(report: Report) -> dict[str, str]:
    """The same and the answer, which may have many lines."""
    return {**outputs(report), "answer": cut(report.answer or "", _LONGEST_ANSWER)}
