"""A run as Markdown in which every text of others stays text: in code spans and fenced blocks."""

from collections.abc import Iterable, Iterator

from nightrook.display.document.steps import Step
from nightrook.display.reports.markdown_report import code, fenced, markdown_report
from nightrook.display.reports.report import Report
from nightrook.model.text import count

_LONGEST_SHOWN = 2_000  # characters of an input or output; all of it in full
_LONGEST = 200_000
_NAMES = {"prose": "", "input": "Input", "output": "Output", "error": "Error", "change": "Change"}


def markdown_lines(report: Report, steps: Iterable[Step], *, full: bool) -> Iterator[str]:
    """Yield the lines of the page; whole inputs and outputs only in full."""
    yield from markdown_report(report).rstrip("\n").split("\n")
    yield from ("", "#### Timeline", "")
    for step in steps:
        yield from _step(step, full=full)


def _step(step: Step, *, full: bool) -> Iterator[str]:
    is_call = step.kind in ("tool", "subagent")
    # guards: markdown-labels-code
    label = code(step.label) if is_call else step.label and f"**{step.label}**"
    inside = (count(step.inside, "step"),) if step.inside else ()
    aside = "".join(f" · {code(part)}" for part in (*inside, *step.aside))
    title = f" {code(step.title)}" if step.title and step.kind != "text" else ""
    deeper = "→ " * step.depth
    if label:
        yield from (f"{deeper}{label}{title}{aside}", "")
    if not full and not is_call and step.kind not in ("text", "message"):
        return
    for block in step.blocks:
        if _NAMES[block.kind] and full:
            yield from (f"{_NAMES[block.kind]}:", "")
        # guards: markdown-texts-fenced
        yield from fenced(block.text, _LONGEST if full else _LONGEST_SHOWN)
        yield ""
