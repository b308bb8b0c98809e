"""Puts rows into columns."""

from collections.abc import Iterable, Sequence

import click

from rookery.core.safe import safe_line


def columns(rows: Iterable[Sequence[str]]) -> list[str]:
    """Give rows as lines, with columns as wide as their longest cell."""
    cells = [[safe_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def print_table(rows: Iterable[Sequence[str]]) -> None:
    """Print rows in columns; the first is the heading."""
    click.echo("\n".join(columns(rows)))
