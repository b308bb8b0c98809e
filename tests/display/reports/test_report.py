"""The report of a run, a loop or a batch as one value."""

import msgspec
from tests.ci.payloads import PAYLOADS
from tests.ci.samples import everywhere
from tests.rules import each

from nightrook.display.reports.report import Report, cleaned
from nightrook.model.redaction.redactor import Redactor
from nightrook.model.safe import safe

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_no_text_of_a_report_keeps_a_secret() -> None:
    report = cleaned(everywhere(f"it is {SECRET}."), Redactor({}).text)
    assert SECRET not in msgspec.json.encode(report).decode()
    assert cleaned(report, Redactor({}).text) == report
    assert report.answer == "it is [redacted: GitHub token]."


@each("payload", PAYLOADS)
def test_no_text_of_a_report_keeps_a_control_character(payload: str) -> None:
    assert cleaned(everywhere(payload), str) == everywhere(safe(payload))


def test_what_has_not_ended_is_running() -> None:
    assert Report(kind="run", name="a", status="running", ok=False).is_running
    assert not Report(kind="run", name="a", status="success", ok=True).is_running
