"""The pace of a replay, and the signals that end it."""

import signal
from contextlib import suppress

import pytest

from nightrook.cli.commands.replay import Pace

ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_whose_exception_is_lost_ends_the_replay_at_its_next_record(
    number: signal.Signals,
) -> None:
    """Python drops an exception that is raised while an object is deleted."""
    pace, before = Pace(1.0), signal.getsignal(number)
    signal.signal(number, signal.default_int_handler)  # nohup, for one, ignores SIGHUP
    try:
        with pace.ended_by_signals():
            with suppress(KeyboardInterrupt):
                signal.raise_signal(number)
            with pytest.raises(KeyboardInterrupt):
                pace.wait(None)
        assert signal.getsignal(number) == signal.default_int_handler
    finally:
        signal.signal(number, before)


def test_a_signal_whose_exception_is_lost_ends_the_pause_between_two_records() -> None:
    pace = Pace(1e-9)
    pace.wait(0.0)
    ticks: list[float] = []

    def lose(now: float) -> None:
        ticks.append(now)
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt), pace.ended_by_signals():
        pace.wait(1.0, lose)
    assert ticks == [0.0]


def test_a_replay_still_ignores_the_signals_that_its_caller_ignores() -> None:
    """`nohup` ignores SIGHUP."""
    pace, before = Pace(1.0), signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with pace.ended_by_signals():
            signal.raise_signal(signal.SIGHUP)
            pace.wait(None)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
