"""The end of a run, a loop or a batch in two short lines, without any text of an agent."""

from nightrook.display.reports.markdown import facts, status
from nightrook.display.reports.report import Report


def title(report: Report) -> str:
    """What ended, and how."""
    return f"rook {report.kind} {report.name}: {status(report.status)}"


def body(report: Report) -> str:
    """What it took and what it cost."""
    return " · ".join(facts(report)) or "no details"
