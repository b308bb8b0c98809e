"""Tables: how all of them look, whichever command prints one.

Columns are as wide as their widest cell and two spaces apart; the head is bold. The last column is
cut to the width of a terminal. In a pipe lines are whole, so that a program can read them.

Not rich.table, which takes over 100 times as long for 300 rows, and 24 ms of CPU time to import:
a sixth of what `rook runs` may take.
"""

from collections.abc import Callable, Iterable, Sequence

from nightrook.display import cells
from nightrook.display.console import Paint
from nightrook.model.safe import safe_line

HEAD_STYLE = "strong"
_GAP = "  "
_PLAIN = Paint()


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    width: int | None = None,
    paint: Paint = _PLAIN,
    cell: Callable[[int, int, str], str] | None = None,
) -> list[str]:
    """Lay out rows under a head, each a line safe to print; without a width, lines are whole.

    `cell` gets the row, the column and the text of each cell below the head, and returns the text
    in colour.
    """
    whole = [[safe_line(text) for text in row] for row in (head, *rows)]
    wide = [max(map(cells.width, column)) for column in zip(*whole, strict=True)]
    if width is not None:
        room = max(cells.width(head[-1]), width - sum(wide[:-1]) - len(_GAP) * (len(wide) - 1))
        whole = [[*row[:-1], cells.fit(row[-1], room)] for row in whole]
    lines = []
    for number, row in enumerate(whole, start=-1):
        if number < 0:
            painted = [paint(HEAD_STYLE, text) for text in row]
        else:
            painted = [cell(number, at, text) if cell else text for at, text in enumerate(row)]
        padding = [" " * (most - cells.width(text)) for most, text in zip(wide, row, strict=True)]
        line = _GAP.join(text + pad for text, pad in zip(painted, padding, strict=True))
        lines.append(line.rstrip())
    return lines


def in_columns(rows: Iterable[Sequence[str]]) -> list[str]:
    """Lay out rows without a head in columns as wide as their longest cell."""
    first, *rest = rows
    return table(first, rest)
