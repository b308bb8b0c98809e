"""Documents made of events, as the command makes them of a run's log."""

from collections.abc import Iterable
from typing import Any

from nightrook.display.document.html import html_page
from nightrook.display.document.markdown import markdown_lines
from nightrook.display.document.steps import Steps, StepSource
from nightrook.display.reports.report import Report, cleaned
from nightrook.model.events import Event, ToolFinished
from nightrook.model.records import Record
from nightrook.model.timeline import Item, Timeline
from nightrook.story.item_bodies import Body

REPORT = Report(kind="run", name="k7f3", status="success", ok=True, prompt="Fix the tests")


def source(events: Iterable[Event], **more: Any) -> StepSource:
    """What steps are made of, if a run had these events."""
    known = [*events]
    timeline = Timeline()
    timeline.take(Record(n, float(n), n, 1, event) for n, event in enumerate(known))
    results = {event.id: event for event in known if isinstance(event, ToolFinished)}

    def read(item: Item) -> Body:
        return Body(known[item.seq], results.get(item.key or ""))

    options = {"read": read, "redact": lambda text: text, "cwd": "/x", **more}
    return StepSource(items=timeline.items, **options)


def html(events: Iterable[Event], report: Report = REPORT, **more: Any) -> str:
    clean = cleaned(report, lambda text: text)
    return "".join(html_page(clean, Steps(source(events, **more)), about=["/x"]))


def markdown(events: Iterable[Event], report: Report = REPORT, *, full: bool = True) -> str:
    clean = cleaned(report, lambda text: text)
    return "\n".join(markdown_lines(clean, Steps(source(events)), full=full))
