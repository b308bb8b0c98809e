"""What options take: times, amounts, counts and words, each with errors that name the way out."""

import math
from collections.abc import Sequence
from typing import Any

import click

from rookery.config.durations import seconds

_MOST_USD = 1e9


class Duration(click.ParamType[float]):
    """Seconds, or a number with s, m or h."""

    name = "duration"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read `90`, `90s`, `1.5m` or `2h`."""
        if isinstance(value, (int, float)):
            return float(value)
        length = seconds(value)
        if length is None:
            self.fail(f"{value!r} is no time: write 90s, 5m or 2h", param, ctx)
        return length


class Dollars(click.ParamType[float]):
    """An amount of money."""

    name = "usd"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read `2` or `0.50`."""
        try:
            amount = float(value)
        except ValueError:
            amount = math.nan
        if not 0 <= amount <= _MOST_USD:
            self.fail(f"{value!r} is no amount of dollars: write 2 or 0.50", param, ctx)
        return amount


class Count(click.ParamType[int]):
    """A whole number from 1."""

    name = "n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read `1` or more."""
        try:
            number = int(value)
        except ValueError:
            number = 0
        if number < 1:
            self.fail(f"{value!r} is no count: write a whole number from 1", param, ctx)
        return number


class OneOf(click.Choice[str]):
    """One of a few words; a typo is answered with the nearest."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(words)

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Name the words, and the one that was probably meant."""
        from difflib import get_close_matches  # only a typo needs it

        near = get_close_matches(str(value), self.choices, n=1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        return super().get_invalid_choice_message(value, ctx) + hint
