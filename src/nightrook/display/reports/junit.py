"""A report as JUnit XML, which most CI services show as tests."""

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from nightrook.display.reports.report import Report, ReportedCheck, ReportedPart
from nightrook.model.safe import safe, safe_line
from nightrook.model.text import cut, one_line

_LONGEST_MESSAGE = 300
_LONGEST_OUTPUT = 30_000  # characters
_NOT_IN_XML = re.compile("[\ufffe\uffff]")


def junit(report: Report) -> str:
    """The report as a document: a test for each iteration, check or task; for a run, one test."""
    suite = Element("testsuite", name=_line(f"rook {report.kind} {report.name}"))
    for part in report.parts:
        _add_part(suite, report, part)
    if not report.parts or report.kind == "loop":
        _add_whole(suite, report)
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("errors", "0")
    suite.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
    suite.set("time", f"{report.duration_s or 0:.3f}")
    suites = Element("testsuites")
    suites.append(suite)
    indent(suites)
    document: str = tostring(suites, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}\n'


def _add_whole(suite: Element, report: Report) -> None:
    """Add the run, or the loop as a whole."""
    case = _case(suite, report, report.prompt or report.name, report.duration_s)
    if report.is_running:
        SubElement(case, "skipped", message="it is running")
    elif not report.ok:
        problems = [*report.errors, *(f"denied: {denial.tool}" for denial in report.denials)]
        _fail(case, report.status, report.sentence, "\n".join(problems))
    if report.answer:
        SubElement(case, "system-out").text = _text(report.answer)


def _add_part(suite: Element, report: Report, part: ReportedPart) -> None:
    case = _case(suite, report, part.name, part.duration_s)
    # Iterations before the last one may fail: the loop as a whole says whether it succeeded.
    if not part.ok and report.kind == "batch":
        _fail(case, part.status, part.sentence, "")
    if part.answer:
        SubElement(case, "system-out").text = _text(part.answer)
    if report.kind == "loop" and part is report.parts[-1]:
        for check in part.checks:
            _add_check(suite, report, check)


def _add_check(suite: Element, report: Report, check: ReportedCheck) -> None:
    case = _case(suite, report, f"check: {check.command}", check.duration_s)
    if not check.ok:
        _fail(case, "failed", "the check failed", check.output)


def _case(suite: Element, report: Report, name: str, duration_s: float | None) -> Element:
    return SubElement(
        suite,
        "testcase",
        classname=_line(f"rook.{report.kind}.{report.name}"),
        name=_line(name),
        time=f"{duration_s or 0:.3f}",
    )


def _fail(case: Element, kind: str, message: str, text: str) -> None:
    SubElement(case, "failure", type=_line(kind), message=_line(message)).text = _text(text)


def _line(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", one_line(safe_line(text), _LONGEST_MESSAGE))


def _text(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", cut(safe(text), _LONGEST_OUTPUT))  # guards: xml-characters
