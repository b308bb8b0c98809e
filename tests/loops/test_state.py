"""What a loop has done: which runs count, what they cost, and how long it has run."""

from nightrook.loops.state import LoopState
from nightrook.model.status import LoopEnd
from tests.loops.test_rules import LIMITED, NOW, ran


def test_waiting_is_no_iteration() -> None:
    state = LoopState(
        started_at=NOW,
        agent="claude",
        attempts=(LIMITED, ran("failed", error_kind="network"), ran()),
    )
    assert state.iterations == 1


def test_an_unknown_cost_is_not_zero() -> None:
    state = LoopState(
        started_at=NOW, agent="claude", attempts=(ran(), ran(spent_usd=None), ran("not_started"))
    )
    assert state.unknown_costs == 1


def test_the_time_that_a_loop_was_stopped_does_not_count() -> None:
    ended = LoopState(
        started_at=NOW - 9 * 3600, agent="claude", end="interrupted", ended_at=NOW - 8 * 3600
    )
    again = ended.reopened(NOW)
    assert (again.end, again.ended_at) == (None, None)
    assert (ended.elapsed_s(NOW), again.elapsed_s(NOW), again.elapsed_s(NOW + 5)) == (
        3600,
        3600,
        3605,
    )


def test_a_clock_that_was_set_back_meanwhile_returns_no_time() -> None:
    ended = LoopState(started_at=NOW - 3600, agent="claude", end="interrupted", ended_at=NOW)
    assert ended.reopened(NOW - 86400).elapsed_s(NOW - 86400 + 5) == 3605
    killed = LoopState(started_at=NOW - 3600, agent="claude", saved_at=NOW)
    assert killed.reopened(NOW - 86400).elapsed_s(NOW - 86400 + 5) == 3605
    assert killed.reopened(NOW + 60).elapsed_s(NOW + 60) == 3660


def test_only_an_end_that_can_pass_can_be_resumed_as_it_is() -> None:
    ends: tuple[LoopEnd, ...] = (
        "interrupted",
        "not_started",
        "limited",
        "done",
        "ceiling",
        "stuck",
    )
    states = [LoopState(started_at=NOW, agent="claude", end=end) for end in ends]
    assert [state.can_resume for state in states] == [True, True, True, False, False, False]
