"""A report of cost as a page that needs nothing else: no script, no network.

Its chart is SVG: a bar for each value of the first key, in parts by the other keys.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from html import escape
from math import ceil, log10

from nightrook.archive.report.figures import CostReport, Figures
from nightrook.display.costs.table import cost, decimals, name_of, summary
from nightrook.display.numbers import tokens
from nightrook.model.safe import safe_line

COLOURS = 8
"""Parts have the classes `c0` to `c7`, the greatest first."""

_WIDTH, _HEIGHT = 960, 320
_LEFT, _TOP, _BOTTOM = 72, 12, 28  # room for labels
_MOST_BARS = 400
_OTHERS = "others"
_LABEL_WIDTH = 100
_LONGEST_LABEL = 14
_STEPS = (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10)  # a quarter of each is round, too

Bars = dict[str, dict[str, float]]
"""The size of each part of each bar."""


def chart(report: CostReport, home: str | None) -> str:
    """Draw the cost of a report's rows, or their tokens if no cost is known; empty if all is 0."""
    bars = _bars(report, home)
    most = max((sum(parts.values()) for parts in bars.values()), default=0.0)
    if not most > 0:
        return ""
    classes = _classes(bars)
    body = "".join((*_axis(most, report), *_drawn(bars, classes, most, report), *_labels(bars)))
    legend = "".join(
        f'<li><span class="c{number}"></span>{escape(name)}</li>'
        for name, number in _legend(classes).items()
    )
    keys = f"<ul>{legend}</ul>" if len(report.by) > 1 else ""
    view = f'viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f'<svg {view} role="img" aria-label="Chart by {report.by[0]}">{body}</svg>{keys}'


def _bars(report: CostReport, home: str | None) -> Bars:
    bars: Bars = {}
    for row in report.rows:
        bar, *parts = (name_of(key, row, home) for key in report.by)
        size = row.cost_usd.total if _has_cost(report) else float(row.tokens.total)
        sizes = bars.setdefault(bar, {})
        part = " · ".join(parts)
        sizes[part] = sizes.get(part, 0.0) + max(0.0, size)
    return dict(list(bars.items())[-_MOST_BARS:])


def _has_cost(report: CostReport) -> bool:
    return report.total.cost_usd.total > 0


def _classes(bars: Bars) -> dict[str, int]:
    """The colour of each part, by its size in all bars; the smallest share the last one."""
    sizes: dict[str, float] = defaultdict(float)
    for parts in bars.values():
        for name, size in parts.items():
            sizes[name] += size
    ordered = sorted(sizes, key=lambda name: -sizes[name])
    return {name: min(place, COLOURS - 1) for place, name in enumerate(ordered)}


def _legend(classes: Mapping[str, int]) -> dict[str, int]:
    """The parts that the legend names."""
    shared = len(classes) > COLOURS
    named = {name: number for name, number in classes.items() if number < COLOURS - shared}
    return {**named, _OTHERS: COLOURS - 1} if shared else named


def _drawn(
    bars: Bars, classes: Mapping[str, int], most: float, report: CostReport
) -> Iterator[str]:
    step = (_WIDTH - _LEFT) / len(bars)
    for place, (bar, parts) in enumerate(bars.items()):
        top = float(_HEIGHT - _BOTTOM)
        for name in sorted(parts, key=lambda name: classes[name]):
            height = parts[name] / _scale(most) * (_HEIGHT - _BOTTOM - _TOP)
            top -= height
            title = " · ".join(filter(None, (bar, name, _amount(parts[name], report))))
            yield (  # guards: cost-chart-names-escaped
                f'<rect class="c{classes[name]}" x="{_LEFT + place * step + step * 0.1:.1f}" '
                f'y="{top:.1f}" width="{step * 0.8:.1f}" height="{height:.1f}">'
                f"<title>{escape(title)}</title></rect>"
            )


def _scale(most: float) -> float:
    """The end of the axis: a round number."""
    magnitude = 10.0 ** (ceil(log10(most)) - 1)
    return next(step * magnitude for step in _STEPS if step * magnitude >= most * (1 - 1e-9))


def _axis(most: float, report: CostReport) -> Iterator[str]:
    for quarter in range(5):
        y = _TOP + (_HEIGHT - _BOTTOM - _TOP) * (4 - quarter) / 4
        amount = _amount(_scale(most) * quarter / 4, report)
        yield f'<line x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{amount}</text>'


def _labels(bars: Bars) -> Iterator[str]:
    step = (_WIDTH - _LEFT) / len(bars)
    every = ceil(_LABEL_WIDTH / step)
    for place, bar in enumerate(bars):
        if place % every == 0:
            shown = bar if len(bar) <= _LONGEST_LABEL else f"{bar[: _LONGEST_LABEL - 1]}…"
            x = min(_LEFT + (place + 0.5) * step, _WIDTH - _LABEL_WIDTH / 2)
            yield (
                f'<text x="{x:.1f}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(shown)}</text>'
            )


def _amount(size: float, report: CostReport) -> str:
    if _has_cost(report):
        return f"${size:.2f}" if size >= 0.1 or not size else f"${size:.4f}"
    return f"{tokens(round(size))} tokens"


# guards: cost-page-fetches-nothing
_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>What agents used</title>
<style>
:root { color-scheme: light dark; --text: #1d2433; --faint: #667085; --line: #d0d5dd;
  --page: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e7ec; --faint: #98a2b3; --line: #344054; --page: #101828; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
svg { width: 100%; height: auto; }
svg text { fill: var(--faint); font-size: 12px; }
svg line { stroke: var(--line); }
ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; }
ul span { display: inline-block; width: .8rem; height: .8rem; margin-right: .4rem; }
.c0 { fill: #0072b2; background: #0072b2; } .c1 { fill: #e69f00; background: #e69f00; }
.c2 { fill: #009e73; background: #009e73; } .c3 { fill: #cc79a7; background: #cc79a7; }
.c4 { fill: #56b4e9; background: #56b4e9; } .c5 { fill: #d55e00; background: #d55e00; }
.c6 { fill: #b8a800; background: #b8a800; } .c7 { fill: #7f7f7f; background: #7f7f7f; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem .3rem 0; text-align: left; border-bottom: 1px solid var(--line); }
td { overflow-wrap: anywhere; }
.n { text-align: right; white-space: nowrap; }
tfoot td { font-weight: 600; }
p { color: var(--faint); }
</style>
</head>
<body>
"""
_NUMBERS = ("input", "output", "cache read", "cache write", "calls", "without a price", "cost")


def report_page(report: CostReport, home: str | None = None) -> str:
    """Make the page. Paths in `home` are shown from there."""
    return "".join((_HEAD, *_body(report, home), "</body>\n</html>\n"))


def _body(report: CostReport, home: str | None) -> Iterator[str]:
    yield f"<h1>What agents used, by {escape(', '.join(report.by))}</h1>\n"
    if sentence := summary(report):
        yield f"<p>{escape(safe_line(sentence))}</p>\n"
    yield chart(report, home)
    if report.rows:
        yield from _table(report, home)
    for note in report.notes:
        yield f"<p>{escape(safe_line(note))}</p>\n"
    yield f"<p>Time zone: {escape(safe_line(report.timezone))}</p>\n"


def _table(report: CostReport, home: str | None) -> Iterator[str]:
    digits = decimals(report.total)
    heads = [f"<th>{escape(key)}</th>" for key in report.by]
    heads += [f'<th class="n">{name}</th>' for name in _NUMBERS]
    yield f'<div class="table"><table>\n<thead><tr>{"".join(heads)}</tr></thead>\n<tbody>\n'
    for row in report.rows:
        # guards: cost-page-names-escaped
        names = [f"<td>{escape(name_of(key, row, home))}</td>" for key in report.by]
        yield f"<tr>{''.join((*names, *_numbers(row, digits)))}</tr>\n"
    total = f'<td colspan="{len(report.by)}">total</td>'
    yield f"</tbody>\n<tfoot><tr>{total}{''.join(_numbers(report.total, digits))}</tr></tfoot>\n"
    yield "</table></div>\n"


def _numbers(figures: Figures, digits: int) -> Iterator[str]:
    tokens = figures.tokens
    for number in (
        *(tokens.input, tokens.output, tokens.cache_read, tokens.cache_write),
        *(figures.calls, figures.unpriced_tokens),
    ):
        yield f'<td class="n">{number:,}</td>'
    yield f'<td class="n">{cost(figures, digits)}</td>'
