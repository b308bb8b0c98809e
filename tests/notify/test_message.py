"""The message at the end, in words of our own."""

from nightrook.display.reports.report import Report
from nightrook.notify.message import body, title
from tests.ci.test_github import DONE


def test_a_message_has_a_title_and_facts() -> None:
    assert title(DONE) == "rook run k7f3: success"
    assert body(DONE) == "~$0.0150"
    assert body(Report(kind="run", name="a", status="running", ok=False)) == "no details"
