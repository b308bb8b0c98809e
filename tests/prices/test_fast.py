"""Fast calls cost a multiple that a table has; without an entry it is unknown."""

import pytest

from nightrook.prices import fast_factor


@pytest.mark.parametrize(
    ("model", "factor"),
    [
        ("claude-opus-4-6", 6),
        ("claude-opus-4-7-20260401", 6),
        ("us.anthropic.claude-opus-4-8-v1:0", 2),
        ("claude-opus-5", 2),
        ("claude-opus-5[1m]", 2),
        ("claude-opus-4-60", None),
        ("claude-sonnet-4-5", None),
        ("", None),
    ],
)
def test_a_fast_call_costs_what_the_table_says(model: str, factor: int | None) -> None:
    assert fast_factor(model) == factor
