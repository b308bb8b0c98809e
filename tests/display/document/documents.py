"""Documents made of events, as the command makes them of a run's log."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tests.story.told import ToldStory

from nightrook.display.document.html_page import html_page
from nightrook.display.document.markdown_page import markdown_lines
from nightrook.display.document.steps import Steps
from nightrook.display.reports.report import Report, cleaned
from nightrook.display.spending import TurnUse
from nightrook.model.events import Event
from nightrook.model.records import Record

REPORT = Report(kind="run", name="k7f3", status="success", ok=True, prompt="Fix the tests")


def steps(
    events: Iterable[Event],
    redact: Callable[[str], str] = str,
    turns: Sequence[TurnUse] | None = None,
    **told: Any,
) -> Steps:
    """The steps of a run that had these events."""
    records = [Record(n, float(n), n, 1, event) for n, event in enumerate(events)]
    return Steps(ToldStory(records, **{"cwd": "/x", **told}), redact, turns)


def html(events: Iterable[Event], report: Report = REPORT, **more: Any) -> str:
    clean = cleaned(report, lambda text: text)
    return "".join(html_page(clean, steps(events, **more), about=["/x"]))


def markdown(events: Iterable[Event], report: Report = REPORT, *, full: bool = True) -> str:
    clean = cleaned(report, lambda text: text)
    return "\n".join(markdown_lines(clean, steps(events), full=full))
