"""A run or session as one HTML file: no script, no request, no element of an agent's.

Whatever an agent, a prompt or a path contains is escaped and stands between tags, never in one.
The policy in the page allows the style below, by its hash, and nothing else.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from html import escape

from nightrook.display.export.prose import prose
from nightrook.display.export.steps import Block, State, Step
from nightrook.display.export.style import STYLE
from nightrook.display.numbers import changed_lines
from nightrook.display.reports.markdown import facts
from nightrook.display.reports.report import Report
from nightrook.model.text import count, first_line

_LONGEST_TITLE = 120
_LONGEST_PROMPT = 2_000
_MOST_FILES = 500
_POLICY = "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'"
_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
"""
_STATES: dict[str, State] = {
    "success": "good",
    "answered": "good",
    "unfinished": "asks",
    "running": "runs",
}
_STOPPED = frozenset({"limited", "over_budget", "timed_out", "interrupted", "unverified", "denied"})


def html_page(report: Report, steps: Iterable[Step], *, about: Iterable[str] = ()) -> Iterator[str]:
    """Yield the pieces of the file; `about` are further facts, such as when the run started."""
    title = f"{report.name} · {first_line(report.prompt or '', _LONGEST_TITLE)}".rstrip(" ·")
    digest = b64encode(sha256(STYLE.encode()).digest()).decode()
    policy = _POLICY.format(digest)
    yield _HEAD.format(policy=policy, title=escape(title), style=STYLE)
    yield from _head(report, about)
    yield from _files(report)
    if report.answer and report.answer.strip():
        yield '<h2>Answer</h2>\n<div class="panel prose">'
        yield from prose(report.answer)
        yield "</div>\n"
    yield "<h2>Timeline</h2>\n"
    yield from _timeline(steps)
    yield "<footer>Written by rook show --html: one file, no scripts, no requests.</footer>\n"
    yield "</main>\n</body>\n</html>\n"


def _head(report: Report, about: Iterable[str]) -> Iterator[str]:
    prompt = report.prompt or ""
    yield f'<p class="eyebrow">rook {report.kind} {escape(report.name)}</p>\n'
    shown = prompt[:_LONGEST_PROMPT]
    yield f"<h1>{escape(shown)}{'…' if len(prompt) > len(shown) else ''}</h1>\n"
    state: State = "asks" if report.status in _STOPPED else _STATES.get(report.status, "bad")
    words = escape(report.status.replace("_", " "))
    yield f'<div class="verdict"><span class="pill {state}">{words}</span>'
    yield f"<span>{escape(report.sentence)}</span></div>\n" if not report.ok else "</div>\n"
    named = (report.agent, report.model, *about, *facts(report))
    yield f'<div class="facts">{"".join(f"<span>{escape(fact)}</span>" for fact in named if fact)}'
    yield "</div>\n"
    for warning in (*report.warnings, *report.errors):
        yield f'<p class="cut">{escape(warning)}</p>\n'


def _files(report: Report) -> Iterator[str]:
    if not report.files:
        return
    yield '<h2>Files changed</h2>\n<div class="panel files">'
    for file in report.files[:_MOST_FILES]:
        changed = escape(changed_lines(file.added, file.removed) or "")
        yield f"<div><span>{escape(file.path)}</span><span>{changed}</span></div>"
    if (more := len(report.files) - _MOST_FILES) > 0:
        yield f"<div>and {more} more</div>"
    yield "</div>\n"


def _timeline(steps: Iterable[Step]) -> Iterator[str]:
    """The rows; what happened in a step stands in its fold."""
    depth = 0
    for step in steps:
        yield "</div></details>\n" * max(0, depth - step.depth)
        yield from _row(step)
        depth = step.depth + 1 if step.inside else step.depth
    yield "</div></details>\n" * depth


def _row(step: Step) -> Iterator[str]:
    at = "" if step.at is None else f'<span class="at">{_offset(step.at)}</span>'
    if step.kind == "text":
        yield f'<div class="row said">{at}'
        yield from _blocks(step.blocks)
        yield "</div>\n"
    elif step.blocks or step.inside:
        yield f'<details class="row {step.kind}"><summary class="head {step.state}">{at}'
        yield from _line(step)
        yield "</summary>"
        if step.blocks:
            yield '<div class="body">'
            yield from _blocks(step.blocks)
            yield "</div>"
        yield '<div class="inner">\n' if step.inside else "</details>\n"
    else:
        yield f'<div class="row"><div class="head {step.state}">{at}'
        yield from _line(step)
        yield "</div></div>\n"


def _line(step: Step) -> Iterator[str]:
    yield f'<i class="dot"></i><b>{escape(step.label)}</b>'
    yield f'<span class="title">{escape(step.title)}</span>'
    inside = (count(step.inside, "step"),) if step.inside else ()
    if aside := " · ".join((*inside, *step.aside)):
        yield f'<span class="aside">{escape(aside)}</span>'


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if block.kind == "prose":
            yield '<div class="prose">'
            yield from prose(block.text)
            yield "</div>"
        elif block.kind == "change":
            yield f'<pre class="change">{"".join(map(_changed, block.text.split(chr(10))))}</pre>'
        else:
            yield f'<pre class="{block.kind}">{escape(block.text)}</pre>'
        if block.left_out:
            yield f'<p class="cut">… {block.left_out:,} more characters: rook show --full</p>'


def _changed(line: str) -> str:
    name = {"+": "plus", "-": "minus"}.get(line[:1], "same")
    return f'<span class="{name}">{escape(line) or " "}</span>'


def _offset(seconds: float) -> str:
    """A time after the start: `1:42`, `2:03:04`."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
