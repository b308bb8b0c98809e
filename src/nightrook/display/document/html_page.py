"""A run or session as one HTML file: no script, no request, no element of an agent's.

Whatever an agent, a prompt or a path contains is escaped and stands between tags, never in one.
The policy in the page allows the style below, by its hash, and nothing else. The style has one type
scale, much space, and colour for state only.
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from html import escape

from nightrook.display.document.markdown_to_html import markdown_to_html
from nightrook.display.document.steps import Block, State, Step
from nightrook.display.numbers import changed_lines
from nightrook.display.reports.markdown_report import facts
from nightrook.display.reports.report import Report
from nightrook.model.text import count, first_line

STYLE = """
:root { color-scheme: light dark;
  --back: #fbfbfc; --panel: #fff; --soft: #f3f4f6; --line: #e7e8ec; --text: #17181c;
  --quiet: #565b66; --faint: #6b707b; --good: #17703c; --good-back: #e8f6ee; --bad: #c22a2f;
  --bad-back: #fdeeee; --asks: #9a5b00; --asks-back: #fdf3e0; --runs: #2563d9;
  --runs-back: #eaf1fe; --quiet-back: #f3f4f6;
  --sans: Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  --mono: "JetBrains Mono", ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, monospace;
  --tiny: .75rem; --small: .8125rem; --normal: .875rem; --title: 1.25rem; }
@media (prefers-color-scheme: dark) { :root {
  --back: #0e0f12; --panel: #131418; --soft: #1b1d23; --line: #24262d; --text: #e8e9ec;
  --quiet: #a7abb5; --faint: #8b909b; --good: #5cc98b; --good-back: #11271b; --bad: #ff7b7b;
  --bad-back: #321719; --asks: #f3b14e; --asks-back: #2c2110; --runs: #7aa7ff;
  --runs-back: #162238; --quiet-back: #1b1d23; } }
* { box-sizing: border-box; margin: 0; padding: 0; }
html { font: 100%/1.6 var(--sans); -webkit-text-size-adjust: 100%; }
body { color: var(--text); background: var(--back); font-size: var(--normal);
  -webkit-font-smoothing: antialiased; }
main { max-width: 60rem; margin: 0 auto; padding: 4rem 1.5rem 6rem; }
h1 { font-size: var(--title); font-weight: 600; letter-spacing: -.015em; line-height: 1.35;
  margin: .5rem 0 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
h2 { font-size: var(--small); font-weight: 600; color: var(--quiet); margin: 3rem 0 .75rem; }
h4 { font-size: var(--normal); font-weight: 600; margin: 1rem 0 .25rem; }
.eyebrow, .facts, footer { color: var(--faint); font-size: var(--small); }
.verdict { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: baseline;
  margin-bottom: .75rem; }
.pill { font-size: var(--small); font-weight: 600; padding: .1rem .6rem; border-radius: 1rem; }
.pill.good { color: var(--good); background: var(--good-back); }
.pill.bad { color: var(--bad); background: var(--bad-back); }
.pill.asks { color: var(--asks); background: var(--asks-back); }
.pill.runs { color: var(--runs); background: var(--runs-back); }
.facts { display: flex; flex-wrap: wrap; gap: .15rem 1.25rem;
  font-variant-numeric: tabular-nums; }
.panel { background: var(--panel); border: 1px solid var(--line); border-radius: 10px;
  padding: 1.25rem 1.5rem; }
.files { font-family: var(--mono); font-size: var(--small); }
.files div { display: flex; gap: 1rem; justify-content: space-between; }
.files span:first-child { overflow-wrap: anywhere; }
.row { position: relative; padding-left: 3.5rem; content-visibility: auto;
  contain-intrinsic-size: auto 2.1rem; border-radius: 7px; }
.said { contain-intrinsic-size: auto 4rem; padding-top: .4rem; padding-bottom: .4rem; }
.at { position: absolute; left: 0; top: .35rem; width: 3rem; text-align: right; color: var(--faint);
  font-size: var(--tiny); line-height: 1.4rem; font-variant-numeric: tabular-nums; }
.said .at { top: .75rem; }
.head { display: flex; gap: .6rem; align-items: baseline; padding: .3rem .5rem; border-radius: 7px;
  list-style: none; color: var(--quiet); }
summary.head { cursor: pointer; }
summary.head::-webkit-details-marker { display: none; }
summary.head:hover { background: var(--soft); }
summary.head:focus-visible { outline: 2px solid var(--runs); outline-offset: -2px; }
.dot { flex: none; align-self: flex-start; margin-top: .45rem; width: .5rem; height: .5rem;
  border-radius: 50%; background: var(--line); }
.good > .dot { background: var(--good); } .bad > .dot { background: var(--bad); }
.asks > .dot { background: var(--asks); } .runs > .dot { background: var(--runs); }
.head b { color: var(--text); font-weight: 600; white-space: nowrap; }
.bad > b { color: var(--bad); }
.title { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  unicode-bidi: isolate; }
[open] > .head .title { white-space: normal; overflow-wrap: anywhere; }
.aside { flex: none; max-width: 45%; color: var(--faint); font-size: var(--small);
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.body { margin: .25rem 0 .75rem 1.6rem; }
.inner { margin-left: .7rem; border-left: 1px solid var(--line); }
.inner .row { padding-left: 1rem; } .inner .at { display: none; }
.prose { padding: 0 .5rem; overflow-wrap: anywhere; unicode-bidi: isolate; }
.panel.prose { padding: 1.25rem 1.5rem; }
.prose p { white-space: pre-wrap; margin: .35rem 0; }
.panel.prose > :first-child { margin-top: 0; } .panel.prose > :last-child { margin-bottom: 0; }
.prose p.item { display: flex; gap: .6rem; margin: .15rem 0; }
.prose p.item span { flex: none; color: var(--faint); }
.l1 { padding-left: 1.2rem; } .l2 { padding-left: 2.4rem; } .l3 { padding-left: 3.6rem; }
.l4 { padding-left: 4.8rem; }
.thinking .prose { color: var(--quiet); } .thinking[open] > .head .title { visibility: hidden; }
code, pre { font-family: var(--mono); font-size: .8125rem; font-variant-ligatures: none; }
code { background: var(--soft); border-radius: 4px; padding: .05rem .3rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; line-height: 1.5;
  background: var(--soft); border-radius: 7px; padding: .6rem .9rem; margin: .4rem 0;
  max-height: 32rem; overflow-y: auto; }
pre.output { background: none; border: 1px solid var(--line); }
pre.error { background: none; border: 1px solid var(--line); color: var(--bad); }
pre span { display: block; } .plus { color: var(--good); background: var(--good-back); }
.minus { color: var(--bad); background: var(--bad-back); }
.cut { color: var(--faint); font-size: var(--small); padding: 0 .5rem; }
footer { margin-top: 4rem; }
@media (max-width: 40rem) { main { padding: 2rem 1rem 4rem; } .row { padding-left: 0; }
  .at { display: none; } .panel { padding: 1rem; } }
@media print { .row { content-visibility: visible; } pre { max-height: none; } }
"""

_LONGEST_TITLE = 120
_LONGEST_PROMPT = 2_000
_MOST_FILES = 500
# guards: page-own-style
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
    # guards: page-title-escaped
    yield _HEAD.format(policy=policy, title=escape(title), style=STYLE)
    yield from _head(report, about)
    yield from _files(report)
    if report.answer and report.answer.strip():
        yield '<h2>Answer</h2>\n<div class="panel prose">'
        yield from markdown_to_html(report.answer)
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
    yield f'<i class="dot"></i><b>{escape(step.label)}</b>'  # guards: page-labels-escaped
    yield f'<span class="title">{escape(step.title)}</span>'  # guards: page-titles-escaped
    inside = (count(step.inside, "step"),) if step.inside else ()
    if aside := " · ".join((*inside, *step.aside)):
        yield f'<span class="aside">{escape(aside)}</span>'


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if block.kind == "prose":
            yield '<div class="prose">'
            yield from markdown_to_html(block.text)
            yield "</div>"
        elif block.kind == "change":
            yield f'<pre class="change">{"".join(map(_changed, block.text.split(chr(10))))}</pre>'
        else:
            # guards: page-blocks-escaped
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
