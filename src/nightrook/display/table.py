"""Rows in columns as wide as their cells; the last column is cut to the available width.

Not rich.table, which takes over 100 times as long for 300 rows, and 24 ms of CPU time to import:
a sixth of what `rook runs` may take.
"""

from collections.abc import Callable, Iterable, Sequence

import click

from nightrook.display import cells
from nightrook.model.safe import safe_line

_GAP = "  "


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    width: int,
    paint: Callable[[int, int, str], str] = lambda _row, _column, text: text,
) -> list[str]:
    """Lay out rows under a head, each a line safe to print.

    `paint` gets each cell, by row (-1 is the head) and column, and gives it in colour.
    """
    whole = [[safe_line(cell) for cell in row] for row in (head, *rows)]
    wide = [max(map(cells.width, column)) for column in zip(*whole, strict=True)]
    room = max(cells.width(head[-1]), width - sum(wide[:-1]) - len(_GAP) * (len(wide) - 1))
    lines = []
    for number, row in enumerate(whole, start=-1):
        shown = [*row[:-1], cells.fit(row[-1], room)]
        padding = [" " * (most - cells.width(cell)) for most, cell in zip(wide, shown, strict=True)]
        painted = [paint(number, column, cell) for column, cell in enumerate(shown)]
        line = _GAP.join(cell + pad for cell, pad in zip(painted, padding, strict=True))
        lines.append(line.rstrip())
    return lines


_UNCUT = 10_000


def in_columns(rows: Iterable[Sequence[str]]) -> list[str]:
    """Lay out rows in columns as wide as their longest cell; the first row is the heading."""
    head, *rest = rows
    return table(head, rest, width=_UNCUT)


def print_table(rows: Iterable[Sequence[str]]) -> None:
    """Print rows in columns; the first is the heading."""
    click.echo("\n".join(in_columns(rows)))
