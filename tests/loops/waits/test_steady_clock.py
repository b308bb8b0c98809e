"""The clock of a loop: nobody can set it."""

import time

import pytest

from nightrook.loops.waits.steady_clock import SteadyClock


def test_it_does_not_follow_a_clock_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SteadyClock()
    before = clock.now()
    for wrong in (0.0, 1e10):
        monkeypatch.setattr(time, "time", lambda wrong=wrong: wrong)
        assert before <= clock.now() < before + 3600
