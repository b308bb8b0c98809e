"""A report of cost as a table, with a bar for each row, and the limits of providers as another.

The sentences below a table and the names of its rows are shared with the page and the exports.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from nightrook.archive.ledger.limits import ReportedLimit
from nightrook.archive.report.figures import CostReport, CostRow, Figures
from nightrook.display import cells
from nightrook.display.console import Paint
from nightrook.display.numbers import moment, percent, price, tokens
from nightrook.display.table import HEAD_STYLE, table
from nightrook.model.durations import duration
from nightrook.model.ledger import Money, Source
from nightrook.model.provider_limits import window_length
from nightrook.model.safe import safe_line
from nightrook.model.text import from_home

_LEAST_USD = 0.00005  # less is not worth a part of a line: it reads $0.0000
_SMALL_USD = 1.0  # where the cents of the greatest amount say too little


def decimals(figures: Figures) -> int:
    """The number of decimals in the amounts of a report, by its total."""
    return 2 if figures.cost_usd.total >= _SMALL_USD else 4


def spent(figures: Figures) -> Money:
    """The cost of calls: an estimate if a part is one, a lower bound if prices are missing."""
    known = figures.cost_usd
    if figures.unpriced_tokens and not known.total:
        return Money(None, "unknown")
    source: Source = "estimated" if known.estimated else "native"
    return Money(known.total, source, bool(figures.unpriced_tokens))


def cost(figures: Figures, digits: int) -> str:
    """The cost of calls for a column next to the tokens without a price."""
    known = spent(figures)
    return price(Money(known.usd, known.source), digits)


def summary(report: CostReport) -> str:
    """A sentence: the native, estimated and unpriced parts of the total, and the cache's savings.

    Empty if there are no calls. Only calls that were all free cost $0.
    """
    total, digits = report.total, decimals(report.total)
    parts = []
    is_free = total.calls and not total.cost_usd.estimated and not total.unpriced_tokens
    if total.cost_usd.native or is_free:
        parts.append(f"{price(Money(total.cost_usd.native, 'native'), digits)} reported by agents")
    if total.cost_usd.estimated:
        amount = price(Money(total.cost_usd.estimated, "estimated"), digits)
        parts.append(f"{amount} estimated at list prices")
    if total.unpriced_tokens:
        parts.append(f"{tokens(total.unpriced_tokens)} tokens without a price")
    return " · ".join([*parts, *_saved(report.saved_usd, digits)])


def _saved(usd: float, digits: int) -> Iterator[str]:
    if abs(usd) >= _LEAST_USD:
        amount = price(Money(abs(usd), "estimated"), digits)
        yield f"the cache saved {amount}" if usd > 0 else f"the cache cost {amount} more"


_UNNAMED = "-"
_ID = 8  # characters of a session's id, beside its title


def name_of(key: str, row: CostRow, home: str | None) -> str:
    """The name of a row by one of its keys, safe to print. Paths are shown from `home`."""
    name = row.keys[key]
    if name is None:
        return _UNNAMED
    if key == "session" and row.title:
        name = f"{name[:_ID]} {row.title}"
    # guards: cost-table-names-safe
    return safe_line(from_home(name, home) if key == "project" else name)


NATIVE, ESTIMATED = "█", "▒"
"""The characters of bars."""

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
        if row == len(report.rows):  # the total
            return paint(HEAD_STYLE, text)
        return paint("cost" if column >= money else "text", text)

    return table(head, rows, width=width, paint=paint, cell=painted)


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
    """The widths of the columns of names."""
    return sum(min(limit, name) + _GAP for name in names)


def _wide(columns: Iterable[Column]) -> int:
    """The width of columns of numbers, all cells of which are equally long."""
    return sum(len(column[0]) + _GAP for column in columns)


def _short(key: str, name: str, most: int) -> str:
    """A name cut to a length; the end of a path says more than its beginning."""
    if key != "project" or cells.width(name) <= most:
        return cells.fit(name, most)
    while cells.width(name) >= most:
        name = name[1:]
    return f"…{name}"


def _bars(report: CostReport, length: int) -> Iterator[str]:
    """A bar for each row: reported cost, then estimated cost; without any cost, tokens."""
    has_cost = report.total.cost_usd.total > 0
    sizes = [row.cost_usd.total if has_cost else row.tokens.total for row in report.rows]
    most = max(*sizes, 0)
    for row, size in zip(report.rows, sizes, strict=True):
        whole = max(1, round(length * size / most)) if size > 0 and length else 0
        share = row.cost_usd.native / size if has_cost and whole else 0.0
        native = round(whole * min(max(share, 0.0), 1.0))
        yield NATIVE * native + ESTIMATED * (whole - native)


_HEAD = ("AGENT", "PLAN", "WINDOW", "USED", "LEFT", "RESETS", "REPORTED", "")
_BAR = 20
_NEARLY_USED = 0.8


def limit_lines(
    limits: Sequence[ReportedLimit], *, now: float, width: int | None, paint: Paint
) -> list[str]:
    """Lay out a row for each limit, with a bar for its usage; each line is safe to print."""

    def painted(row: int, column: int, text: str) -> str:
        scarce = (limits[row].used or 0.0) >= _NEARLY_USED
        return paint("bad" if scarce and column in (3, 4, 7) else "text", text)

    rows = [_row(limit, now) for limit in limits]
    return table(_HEAD, rows, width=width, paint=paint, cell=painted)


def _row(limit: ReportedLimit, now: float) -> tuple[str, ...]:
    return (
        limit.agent,
        limit.plan or "-",
        window_length(limit.window),
        "?" if limit.used is None else percent(limit.used),
        "?" if limit.left is None else percent(limit.left),
        "?" if limit.resets_at is None else f"in {duration(limit.resets_at - now)}",
        moment(limit.at, now),
        "" if limit.used is None else _bar(limit.used),
    )


def _bar(used: float) -> str:
    full = round(min(max(used, 0.0), 1.0) * _BAR)
    return "█" * full + "░" * (_BAR - full)
