"""Annotations: failures and denials, at most ten, and nothing that a service would run."""

from msgspec.structs import replace

from nightrook.ci.annotations import Annotation, annotations
from nightrook.display.reports.report import Report, ReportedDenial, ReportedPart
from nightrook.model.safe import defused, safe_line
from tests.ci.payloads import PAYLOADS
from tests.ci.samples import everywhere
from tests.rules import each

FAILED = Report(
    kind="run", name="k7f3", status="denied", ok=False, exit_code=4, sentence="1 call was denied"
)


def test_a_failure_and_a_denial_with_its_rule() -> None:
    rule = ReportedDenial(tool="Bash", allow="--allow 'Bash(git push)'")
    report = replace(FAILED, denials=(rule, ReportedDenial(tool="Write")))
    assert annotations(report) == [
        Annotation("error", "rook run k7f3: denied", "1 call was denied"),
        Annotation("warning", "denied: Bash", "allow it: --allow 'Bash(git push)'"),
        Annotation("warning", "denied: Write", "it was not permitted"),
    ]


def test_a_success_has_none() -> None:
    assert (
        annotations(Report(kind="run", name="k7f3", status="success", ok=True, exit_code=0)) == []
    )


def test_at_most_ten_and_the_last_counts_the_others() -> None:
    parts = tuple(
        ReportedPart(name=str(n), status="failed", ok=False, sentence="no") for n in range(12)
    )
    report = Report(
        kind="batch", name="batch-a", status="failed", ok=False, exit_code=1, parts=parts
    )
    found = annotations(report)
    assert len(found) == 10
    assert found[0].title == "rook batch batch-a: failed"
    assert found[-1] == ("warning", "rook: 4 more problems", "details: rook show batch-a")


@each("payload", PAYLOADS)
def test_every_line_is_defused(payload: str) -> None:
    for _, title, message in annotations(everywhere(payload)):
        for text in (title, message):
            assert safe_line(text) == text
            assert defused(text) == text
