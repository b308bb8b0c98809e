"""Annotations next to the log of a CI job: failures, and denials with their rule."""

from typing import Literal, NamedTuple

from nightrook.display.reports.report import Report
from nightrook.model.safe import defused, safe_line
from nightrook.model.text import count, one_line, suggested

MOST = 10
"""The most annotations of a report: GitHub shows ten of each level for a step."""

_LONGEST_TITLE = 100
_LONGEST_MESSAGE = 500


class Annotation(NamedTuple):
    """A title and a message, each on one line and without commands for a CI service."""

    level: Literal["error", "warning"]
    title: str
    message: str


def annotations(report: Report) -> list[Annotation]:
    """The failure first, then failed tasks and checks, then denials and warnings."""
    listed = [_annotation(*each) for each in _listed(report)]
    if len(listed) <= MOST:  # guards: annotations-bounded
        return listed
    more = count(len(listed) - MOST + 1, "more problem")
    last = _annotation("warning", f"rook: {more}", f"details: {suggested('show', report.name)}")
    return [*listed[: MOST - 1], last]


_Note = tuple[Literal["error", "warning"], str, str]


def _listed(report: Report) -> list[_Note]:
    notes: list[_Note] = []
    if report.exit_code:
        title = f"rook {report.kind} {report.name}: {report.status.replace('_', ' ')}"
        notes.append(("error", title, report.sentence or title))
    if report.kind == "batch":
        notes += [
            ("error", f"task {part.name}: {part.status.replace('_', ' ')}", part.sentence)
            for part in report.parts
            if not part.ok
        ]
    for check in report.parts[-1].checks if report.parts else ():
        if not check.ok:
            notes.append(("error", "check failed", check.command))
    for denial in report.denials:
        allow = f"allow it: {denial.allow}" if denial.allow else "it was not permitted"
        notes.append(("warning", f"denied: {denial.tool}", allow))
    notes += [("warning", f"rook {report.kind} {report.name}", each) for each in report.warnings]
    return notes


def _annotation(level: Literal["error", "warning"], title: str, message: str) -> Annotation:
    return Annotation(level, _line(title, _LONGEST_TITLE), _line(message, _LONGEST_MESSAGE))


def _line(text: str, most: int) -> str:
    return defused(one_line(safe_line(text), most)) or "-"  # guards: annotation-one-line
