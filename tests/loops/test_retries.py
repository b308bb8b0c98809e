"""How long a loop waits: until a limit ends, or longer after each failure."""

import pytest

from nightrook.loops.retries import backoff_s, end_of_limit, unknown_reset_s
from tests.loops.test_rules import NOW, decide, ran


def test_failures_that_pass_are_waited_out_longer_each_time() -> None:
    overloaded = ran("failed", error_kind="overload")
    waits = [decide(*[overloaded] * n).until - NOW for n in range(1, 11)]
    assert waits == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    assert decide(overloaded, random=0.0).until - NOW == 1  # spread, but never under half


@pytest.mark.parametrize(
    ("resets_in", "wait"),
    [(3600.0, 3660.0), (1.0, 61.0), (-100.0, 60.0), (1e12, 8 * 86400.0)],
)
def test_a_limit_is_waited_for_never_early_and_never_absurdly_long(
    resets_in: float, wait: float
) -> None:
    assert end_of_limit(NOW + resets_in, now=NOW) - NOW == wait


def test_a_limit_without_an_end_is_retried_within_an_hour() -> None:
    assert [unknown_reset_s(n, 1.0) for n in (1, 2, 7, 1000)] == [60, 120, 3600, 3600]


def test_the_spread_shortens_a_wait_to_no_less_than_half() -> None:
    waits = [backoff_s(3, share, least=2.0, most=300.0) for share in (0.0, 0.5, 1.0)]
    assert waits == [4, 6, 8]
