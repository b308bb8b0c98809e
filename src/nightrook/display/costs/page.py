"""A report of cost as a page that needs nothing else: no script, no network."""

from collections.abc import Iterator
from html import escape

from nightrook.archive.report.figures import CostReport, Figures
from nightrook.display.costs.amounts import cost, decimals, summary
from nightrook.display.costs.chart import chart
from nightrook.display.costs.names import name_of
from nightrook.model.safe import safe_line

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
