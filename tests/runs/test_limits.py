"""When a run must be stopped: a pure decision over what is known of it."""

from typing import Any

import pytest
from msgspec.structs import replace

from nightrook.agents import agent
from nightrook.config.options import RunOptions
from nightrook.model.events import (
    Event,
    TaskFinished,
    TaskStarted,
    Text,
    TurnFinished,
    TurnStarted,
    UsageReported,
)
from nightrook.model.facts import PassedLimit
from nightrook.model.fold import fold
from nightrook.model.price import Price, Rates
from nightrook.model.records import Record
from nightrook.model.state import RunState
from nightrook.runs.limits import (
    RunLimits,
    UnheldBudgetError,
    late_limits,
    needs_known_cost,
    refuse_unheld_budget,
    unheld_limits,
    wants_no_more,
)

TURN = TurnStarted(origin="prompt")
DONE = TurnFinished(ok=True, cost_usd=0.5, cost_semantics="cumulative")
TASK = TaskStarted(id="k")


def state(*events: Event) -> RunState:
    def prices(model: str, at: float | None) -> Price:
        return Price(Rates(input=1_000_000_000, output=1_000_000_000))

    records = [Record(n, None, 0, 0, event) for n, event in enumerate(events)]
    return fold(records, prices)


def usage(id: str, tokens: int) -> UsageReported:
    return UsageReported(
        message_id=id, model="m", scope="message", semantics="snapshot", input=tokens, output=0
    )


def reason(*events: Event, silent: float = 0.0, **limits: Any) -> str | None:
    return RunLimits(RunOptions(**limits)).reason_to_stop(state(*events), silent_s=silent)


def test_nothing_stops_a_run_without_limits() -> None:
    assert reason(TURN, silent=1e6) is None


def test_a_budget_stops_only_what_could_cost_more() -> None:
    spent = usage("a", 5)
    assert reason(TURN, spent, max_tokens=4) == "over_budget"
    assert reason(TURN, spent, DONE, max_tokens=4) is None
    assert reason(TURN, spent, DONE, max_tokens=4, silent=10.1) == "finished"
    assert reason(TURN, spent, TASK, DONE, max_tokens=4) == "over_budget"
    assert reason(TURN, spent, DONE, TURN, max_tokens=4) == "over_budget"


def test_after_a_result_and_the_grace_it_is_finished() -> None:
    assert reason(TURN, DONE, silent=9.9) is None
    assert reason(TURN, DONE, silent=10.1) == "finished"


@pytest.mark.parametrize("more", [TASK, TURN], ids=["a task is open", "a new turn has begun"])
def test_the_grace_does_not_run_while_there_is_work(more: Event) -> None:
    assert reason(TURN, DONE, more, silent=1e6) is None


def wants_none(*events: Event, silent: float = 0.0) -> bool:
    return wants_no_more(state(*events), RunOptions(), silent_s=silent)


def test_an_agent_may_ask_until_every_turn_has_its_result() -> None:
    assert not wants_none(silent=1e6)
    assert not wants_none(TURN, silent=1e6)
    assert wants_none(TURN, DONE)
    assert not wants_none(TURN, DONE, TURN, silent=1e6)


def test_a_background_task_that_has_ended_may_wake_it_to_ask_more() -> None:
    ended = TaskFinished(id="k", status="ok")
    assert not wants_none(TURN, TASK, DONE, ended, silent=1.0)
    assert wants_none(TURN, TASK, DONE, ended, silent=2.1)
    foreground = TaskStarted(id="k", background=False)
    assert wants_none(TURN, foreground, ended, DONE)


def test_subagents_are_waited_for_and_a_command_that_never_ends_is_not() -> None:
    subagent = TaskStarted(id="k", kind="subagent", background=True)
    server = TaskStarted(id="k", kind="command", background=True)
    assert not wants_none(TURN, subagent, DONE, silent=1e6)
    assert not wants_none(TURN, server, DONE, silent=9.9)
    assert wants_none(TURN, server, DONE, silent=10.1)


def test_money_tokens_and_turns_are_counted_live() -> None:
    seen = (TURN, usage("a", 600), usage("b", 600))
    assert reason(*seen, max_cost=1.0) == "over_budget"
    assert reason(*seen, max_cost=1.3) is None
    assert reason(*seen, max_tokens=1199) == "over_budget"
    assert reason(*seen, max_tokens=1200) is None
    assert reason(*seen, max_turns=1) == "over_budget"
    assert reason(*seen, max_turns=2) is None


def test_the_limit_that_was_passed_is_named() -> None:
    seen = state(TURN, usage("a", 1200))
    cost = PassedLimit(kind="cost", used=1.2, allowed=1)
    assert RunLimits(RunOptions(max_cost=1)).passed(seen) == cost
    tokens = PassedLimit(kind="tokens", used=1200, allowed=5)
    assert RunLimits(RunOptions(max_tokens=5)).passed(seen) == tokens
    assert RunLimits(RunOptions(max_turns=0)).passed(seen) == PassedLimit(
        kind="turns", used=1, allowed=0
    )
    timed_out = RunLimits(RunOptions(timeout=3.0, max_cost=1)).passed(seen, timed_out=True)
    assert timed_out == PassedLimit(kind="time", allowed=3.0)
    assert RunLimits(RunOptions()).passed(seen) is None


def test_an_unknown_price_never_stops_a_run_for_money() -> None:
    records = [Record(0, None, 0, 0, TURN), Record(1, None, 0, 0, usage("a", 10**9))]
    assert RunLimits(RunOptions(max_cost=0.01)).passed(fold(records)) is None


def test_an_unknown_price_stops_a_run_whose_budget_only_prices_can_hold() -> None:
    records = [Record(0, None, 0, 0, TURN), Record(1, None, 0, 0, usage("a", 5))]
    unpriced, limit = fold(records), RunOptions(max_cost=1)
    assert RunLimits(limit).reason_to_stop(unpriced, silent_s=0, needs_cost=True) == "over_budget"
    assert (
        RunLimits(limit).reason_to_stop(state(TURN, usage("a", 5)), silent_s=0, needs_cost=True)
        is None
    )
    unknown = RunLimits(limit).passed(unpriced, needs_cost=True)
    assert unknown == PassedLimit(kind="cost", allowed=1)
    assert needs_known_cost(agent("codex"), limit)
    assert not needs_known_cost(agent("claude"), limit)  # it stops at the limit itself
    assert not needs_known_cost(agent("codex"), RunOptions(max_cost=1, max_cost_unchecked=True))


@pytest.mark.parametrize(
    ("name", "via", "stream"),
    [("amp", None, True), ("gemini", None, True), ("codex", "exec", True), ("codex", None, False)],
)
def test_a_budget_that_cannot_hold_is_refused(name: str, via: str | None, stream: bool) -> None:
    limit = RunOptions(max_cost=1, stream=stream)
    with pytest.raises(UnheldBudgetError, match="--max-cost cannot hold: "):
        refuse_unheld_budget(agent(name), limit, via=via)
    refuse_unheld_budget(agent(name), replace(limit, max_cost_unchecked=True), via=via)
    refuse_unheld_budget(agent(name), replace(limit, max_cost=None), via=via)


@pytest.mark.parametrize(
    ("name", "via", "stream"),
    [
        ("claude", None, True),
        ("claude", None, False),
        ("codex", "app-server", True),
        ("opencode", None, True),
        ("qwen", None, True),
    ],
)
def test_a_budget_that_can_hold_is_not_refused(name: str, via: str | None, stream: bool) -> None:
    refuse_unheld_budget(agent(name), RunOptions(max_cost=1, stream=stream), via=via)


@pytest.mark.parametrize("limit", [RunOptions(max_cost=1.0), RunOptions(max_tokens=5)])
def test_a_limit_that_will_be_noticed_late_is_told_beforehand(limit: RunOptions) -> None:
    assert "gemini" in (late_limits(agent("gemini"), limit) or "")
    assert "codex" in (late_limits(agent("codex"), limit, via="exec") or "")
    assert late_limits(agent("claude"), limit) is None
    assert late_limits(agent("codex"), limit, via="app-server") is None


def test_plain_text_cannot_be_stopped_for_what_it_uses() -> None:
    told = "plain text does not report usage: rook cannot stop the run at "
    assert late_limits(None, RunOptions(max_cost=1)) == told + "--max-cost"
    both = RunOptions(max_cost=1, max_tokens=2, timeout=3)
    assert late_limits(None, both) == told + "--max-cost and --max-tokens"
    assert late_limits(None, RunOptions(timeout=3)) is None


def test_a_limit_that_could_not_stop_it_is_told_afterwards() -> None:
    both = RunOptions(max_cost=1, max_tokens=2)
    unpriced = fold([Record(0, None, 0, 0, TURN), Record(1, None, 0, 0, usage("a", 5))])
    cost = "the cost is unknown: --max-cost could not stop the run"
    tokens = "the token count is unknown: --max-tokens could not stop the run"
    assert unheld_limits(unpriced, both) == cost
    assert unheld_limits(state(TURN, Text(id="x", text="hi")), both) == f"{cost}; {tokens}"
    assert unheld_limits(state(TURN, Text(id="x", text="hi")), RunOptions(max_tokens=2)) == tokens
    assert unheld_limits(unpriced, RunOptions(max_tokens=2)) is None
    assert unheld_limits(unpriced, RunOptions()) is None
    assert unheld_limits(state(TURN, usage("a", 5)), both) is None
    assert unheld_limits(state(TURN), both) is None


def test_without_such_a_limit_there_is_nothing_to_tell() -> None:
    assert late_limits(agent("codex"), RunOptions(timeout=1.0)) is None
