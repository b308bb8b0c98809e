"""The few values of a report that other programs read by name."""

from nightrook.display.reports.report import Report
from nightrook.model.text import cut

_LONGEST_ANSWER = 60_000  # characters; the outputs of a job on GitHub may have 1 MB

ENDED = "ROOK_ENDED"
"""Set for what is called at the end: a rook that it calls calls nothing at its own end."""


def values(report: Report) -> dict[str, str]:
    """The values by name; what is unknown is empty."""
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
    return {**values(report), "answer": cut(report.answer or "", _LONGEST_ANSWER)}


def variables(report: Report) -> dict[str, str]:
    """The values as environment variables: `ROOK_STATUS` and so on."""
    return {f"ROOK_{name.upper()}": value for name, value in values(report).items()}
