"""Which ceilings a loop has reached, and the option that raises each."""

from typing import Any

import pytest

from nightrook.loops.ceilings import Ceilings, reached_ceilings
from nightrook.loops.state import LoopState
from tests.loops.test_rules import NOW, ran

MOST = Ceilings(iterations=2, time_s=100, cost_usd=1.0, tokens=1000, turns=10)


def reached(*facts: dict[str, Any], elapsed_s: float = 1.0) -> list[tuple[str, str, str]]:
    attempts = tuple(ran(**{"spent_usd": 0.1, **fact}) for fact in facts)
    state = LoopState(started_at=NOW, agent="claude", attempts=attempts)
    found = reached_ceilings(MOST, iterations=state.iterations, used=state.used(elapsed_s))
    return [(ceiling.name, ceiling.limit, ceiling.higher) for ceiling in found]


@pytest.mark.parametrize(
    ("facts", "elapsed_s", "ceiling"),
    [
        ([{}, {}], 1, ("iterations", "2 iterations", "--max-iterations 4")),
        ([{}], 100, ("time", "100 s", "--max-time 200s")),
        ([{"spent_usd": 1.5}], 1, ("cost", "$1", "--max-cost 3.00")),
        ([{"tokens": 1000}], 1, ("tokens", "1000 tokens", "--max-tokens 2000")),
        ([{"turns": 12}], 1, ("turns", "10 turns", "--max-turns 24")),
    ],
)
def test_each_is_reached_by_itself(
    facts: list[dict[str, Any]], elapsed_s: float, ceiling: tuple[str, str, str]
) -> None:
    assert reached(*facts, elapsed_s=elapsed_s) == [ceiling]


def test_none_is_reached_just_below_all_of_them() -> None:
    assert reached({"spent_usd": 0.99, "tokens": 999, "turns": 9}, elapsed_s=99.9) == []


def test_several_are_reached_at_once() -> None:
    names = [name for name, _, _ in reached({"spent_usd": 1}, {"turns": 10}, elapsed_s=100)]
    assert names == ["iterations", "time", "cost", "turns"]
