"""A chart of a report, as SVG: a bar for each value of the first key, in parts by the others."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from html import escape
from math import ceil, log10

from nightrook.archive.report.figures import CostReport
from nightrook.display.costs.names import name_of
from nightrook.display.numbers import tokens

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
    """Draw what a report's rows cost, or their tokens if no cost is known; empty if all is 0."""
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
            yield (
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
