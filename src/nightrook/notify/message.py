"""The end of a run, a loop or a batch in two short lines, without any text of an agent."""

from nightrook.display.reports.markdown_report import facts, status
from nightrook.display.reports.report import Report


def title(report: Report) -> str:
    """Return the kind, the name and the status of the run, loop or batch."""
    return f"rook {report.kind} {report.name}: {status(report.status)}"


def body(report: Report) -> str:
    """Return the duration, the cost and other figures of a report."""
    return " · ".join(facts(report)) or "no details"
