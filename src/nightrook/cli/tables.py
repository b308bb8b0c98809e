"""Puts rows into columns."""

from collections.abc import Iterable, Sequence

import click

from nightrook.display.table import table

_UNCUT = 10_000


def columns(rows: Iterable[Sequence[str]]) -> list[str]:
    """Lay out rows in columns as wide as their longest cell; the first row is the heading."""
    head, *rest = rows
    return table(head, rest, width=_UNCUT)


def print_table(rows: Iterable[Sequence[str]]) -> None:
    """Print rows in columns; the first is the heading."""
    click.echo("\n".join(columns(rows)))
