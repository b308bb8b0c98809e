"""A report as JUnit XML, which is well formed whatever an agent wrote."""

from xml.etree.ElementTree import Element, fromstring

from tests.ci.payloads import PAYLOADS
from tests.ci.samples import everywhere
from tests.rules import each

from nightrook.display.reports.junit import junit
from nightrook.display.reports.report import Report, ReportedCheck, ReportedPart


def shape(element: Element) -> tuple[str, list[str], list[object]]:
    return element.tag, sorted(element.attrib), [shape(child) for child in element]


@each("payload", PAYLOADS)
def test_xml_in_a_text_stays_text(payload: str) -> None:
    harmless = fromstring(junit(everywhere("Harmless 1")))
    assert shape(fromstring(junit(everywhere(payload)))) == shape(harmless)


def test_a_run_is_one_test() -> None:
    failed = Report(
        kind="run",
        name="k7f3",
        status="failed",
        ok=False,
        exit_code=1,
        sentence="it failed",
        prompt="Fix it",
        duration_s=1.5,
        errors=("overloaded",),
    )
    suite = fromstring(junit(failed))[0]
    assert suite.attrib == {
        "name": "rook run k7f3",
        "tests": "1",
        "failures": "1",
        "errors": "0",
        "skipped": "0",
        "time": "1.500",
    }
    (case,) = suite
    assert case.attrib == {"classname": "rook.run.k7f3", "name": "Fix it", "time": "1.500"}
    assert case[0].attrib == {"type": "failed", "message": "it failed"}
    assert case[0].text == "overloaded"


def test_a_running_run_is_skipped() -> None:
    suite = fromstring(junit(Report(kind="run", name="k7f3", status="running", ok=False)))[0]
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")


def test_only_the_loop_and_its_last_checks_fail() -> None:
    check = ReportedCheck(command="pytest", ok=False, output="1 failed")
    first = ReportedPart(name="iteration 1", status="failed", ok=False, checks=(check,))
    last = ReportedPart(name="iteration 2", status="success", ok=False, checks=(check,))
    report = Report(
        kind="loop", name="loop-a", status="ceiling", ok=False, exit_code=5, parts=(first, last)
    )
    suite = fromstring(junit(report))[0]
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert [case.get("name") for case in suite] == [
        "iteration 1",
        "iteration 2",
        "check: pytest",
        "loop-a",
    ]
    assert failed == ["check: pytest", "loop-a"]


def test_each_task_of_a_batch_is_a_test() -> None:
    parts = (
        ReportedPart(name="1", status="success", ok=True, answer="Done."),
        ReportedPart(name="2", status="denied", ok=False, sentence="a tool was denied"),
    )
    report = Report(
        kind="batch", name="batch-a", status="failed", ok=False, exit_code=1, parts=parts
    )
    one, two = fromstring(junit(report))[0]
    assert (one.get("name"), one.findtext("system-out")) == ("1", "Done.")
    assert [child.get("message") for child in two] == ["a tool was denied"]
