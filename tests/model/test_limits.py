"""Limits: one value with a field for each, gone through as a whole."""

from typing import get_args

import msgspec

from nightrook.model.limits import (
    UNLIMITED,
    Amounts,
    LimitKind,
    Limits,
    left,
    lowest,
)

SOME: Amounts = Limits(time=60.0, cost=None, tokens=100, turns=5)
LEAST: Limits[float] = Limits(time=1.0, cost=0.0, tokens=1, turns=1)


def test_the_kinds_are_the_fields() -> None:
    assert Limits.__struct_fields__ == get_args(LimitKind)


# So mypy refuses every place that makes one without a value for a new limit.
def test_no_limit_has_a_default() -> None:
    assert all(field.required for field in msgspec.structs.fields(Limits))


def test_the_lower_of_two_counts_and_none_is_without_limit() -> None:
    other: Amounts = Limits(time=30.0, cost=2.0, tokens=None, turns=7)
    assert lowest(SOME, other) == Limits(time=30.0, cost=2.0, tokens=100, turns=5)
    assert lowest(SOME, UNLIMITED) == lowest(UNLIMITED, SOME) == SOME


def test_what_is_left_is_never_less_than_the_least() -> None:
    used: Amounts = Limits(time=20.0, cost=3.0, tokens=None, turns=9)
    assert left(SOME, used, least=LEAST) == Limits(time=40.0, cost=None, tokens=100, turns=1)


def test_values_are_mapped_and_paired_by_kind() -> None:
    assert dict(SOME.map(lambda value: value is None).items()) == {
        "time": False,
        "cost": True,
        "tokens": False,
        "turns": False,
    }
    assert SOME.pairs(LEAST).values()[0] == (60.0, 1.0)
