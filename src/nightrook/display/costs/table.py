"""A report of cost as a table, with a bar for each row."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from nightrook.archive.report.figures import CostReport, Figures
from nightrook.display import cells
from nightrook.display.console import Paint
from nightrook.display.costs.amounts import cost, decimals, summary
from nightrook.display.costs.names import name_of
from nightrook.display.numbers import tokens
from nightrook.display.table import table
from nightrook.model.safe import safe_line

NATIVE, ESTIMATED = "█", "▒"
"""What bars are made of."""

_PREFIX = "[rook]"
_UNCUT = 10_000
_GAP = 2
_BAR_IN_A_PIPE = 20
_BARS = (8, 30)  # the shortest and the longest on a terminal
_NAMES = (40, 24, 12)  # how long names are at most, on narrower and narrower terminals

_NUMBERS: dict[str, Callable[[Figures], str]] = {
    "INPUT": lambda figures: tokens(figures.tokens.input),
    "OUTPUT": lambda figures: tokens(figures.tokens.output),
    "CACHE READ": lambda figures: tokens(figures.tokens.cache_read),
    "CACHE WRITE": lambda figures: tokens(figures.tokens.cache_write),
    "CALLS": lambda figures: str(figures.calls),
    "UNPRICED": lambda figures: tokens(figures.unpriced_tokens),
}
_LESS_NEEDED = ("CALLS", "CACHE WRITE", "CACHE READ", "INPUT", "OUTPUT", "UNPRICED")
"""The columns that a narrow terminal does without, the least needed first."""

Column = list[str]
"""The cells of a column, from its head to its total."""


def report_lines(
    report: CostReport, *, width: int | None, paint: Paint, home: str | None = None
) -> list[str]:
    """Lay out the table, the total and the notes, each line safe to print.

    Without a width, lines are as long as needed. Paths in `home` are shown from there.
    """
    lines = _table(report, width, paint, home) if report.rows else []
    prefix = paint("prefix", _PREFIX)
    for sentence in filter(None, (summary(report), *report.notes)):
        first, *others = cells.wrap(safe_line(sentence), (width or _UNCUT) - len(_PREFIX) - 1)
        lines.append(f"{prefix} {first}")
        lines += [f"{' ' * len(_PREFIX)} {line}" for line in others]
    return lines


def _table(report: CostReport, width: int | None, paint: Paint, home: str | None) -> list[str]:
    columns = _columns(report, width, home)
    head, *rows = zip(*columns, strict=True)
    money = len(columns) - 2  # the cost, and then the bar

    def painted(row: int, column: int, text: str) -> str:
        if row in (-1, len(report.rows)):
            return paint("strong", text)
        return paint("cost" if column >= money else "text", text)

    return table(head, rows, width=width or _UNCUT, paint=painted)


def _columns(report: CostReport, width: int | None, home: str | None) -> list[Column]:
    """The columns that fit into a width: names, numbers, the cost and a bar."""
    names = [[name_of(key, row, home) for row in report.rows] for key in report.by]
    numbers, costs = _numbers(report), _costs(report)
    if width is None:
        longest, bar = _UNCUT, _BAR_IN_A_PIPE
    else:
        pairs = zip(report.by, names, strict=True)
        widths = [max(len(key), *map(cells.width, column)) for key, column in pairs]
        longest, bar = _fit(widths, numbers, width - _wide([costs]))
    titles = [
        [key.upper(), *(_short(key, name, longest) for name in column), ""]
        for key, column in zip(report.by, names if width is None else _once(names), strict=True)
    ]
    titles[0][-1] = "TOTAL"
    return [*titles, *numbers.values(), costs, ["", *_bars(report, bar), ""]]


def _once(names: Sequence[Column]) -> list[Column]:
    """Columns of names, each but the last with a name only where its group begins."""
    *outer, last = names
    rows = list(zip(*names, strict=True))
    groups = [
        [
            "" if row and rows[row - 1][: place + 1] == rows[row][: place + 1] else name
            for row, name in enumerate(column)
        ]
        for place, column in enumerate(outer)
    ]
    return [*groups, last]


def _numbers(report: CostReport) -> dict[str, Column]:
    """The columns of numbers, without those in which everything is 0."""
    figures: list[Figures] = [*report.rows, report.total]
    return {
        name: _right([name, *map(shown, figures)])
        for name, shown in _NUMBERS.items()
        if name in ("INPUT", "OUTPUT") or any(shown(each) != "0" for each in figures)
    }


def _costs(report: CostReport) -> Column:
    digits = decimals(report.total)
    return _right(["COST", *(cost(each, digits) for each in (*report.rows, report.total))])


def _right(column: Column) -> Column:
    wide = max(map(len, column))
    return [cell.rjust(wide) for cell in column]


def _fit(names: Sequence[int], numbers: dict[str, Column], width: int) -> tuple[int, int]:
    """Leave out numbers until a table fits; return how long names and bars are then.

    `names` are the widths of the columns of names.
    """
    shortest, longest = _BARS
    droppable = [name for name in _LESS_NEEDED if name in numbers]
    limits = iter(_NAMES)
    limit = next(limits)
    while width - _named(names, limit) - _wide(numbers.values()) < shortest:
        if limit == _NAMES[0] or not droppable:
            if (shorter := next(limits, None)) is None:
                return limit, 0
            limit = shorter
        else:
            del numbers[droppable.pop(0)]
    room = width - _wide(numbers.values())
    while limit < max(names) and room - _named(names, limit + 1) >= shortest:
        limit += 1
    return limit, min(room - _named(names, limit), longest)


def _named(names: Iterable[int], limit: int) -> int:
    """How wide the columns of names are."""
    return sum(min(limit, name) + _GAP for name in names)


def _wide(columns: Iterable[Column]) -> int:
    """How wide columns of numbers are, all cells of which are equally long."""
    return sum(len(column[0]) + _GAP for column in columns)


def _short(key: str, name: str, most: int) -> str:
    """A name cut to a length; the end of a path says more than its beginning."""
    if key != "project" or cells.width(name) <= most:
        return cells.fit(name, most)
    while cells.width(name) >= most:
        name = name[1:]
    return f"…{name}"


def _bars(report: CostReport, length: int) -> Iterator[str]:
    """A bar for each row: what agents report, then what is estimated; without money, tokens."""
    has_cost = report.total.cost_usd.total > 0
    sizes = [row.cost_usd.total if has_cost else row.tokens.total for row in report.rows]
    most = max(*sizes, 0)
    for row, size in zip(report.rows, sizes, strict=True):
        whole = max(1, round(length * size / most)) if size > 0 and length else 0
        share = row.cost_usd.native / size if has_cost and whole else 0.0
        native = round(whole * min(max(share, 0.0), 1.0))
        yield NATIVE * native + ESTIMATED * (whole - native)
