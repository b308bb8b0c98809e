"""Every rule by itself, and their order."""

import shlex
from typing import Any

import msgspec
import pytest

from nightrook.loops.ceilings import Ceilings
from nightrook.loops.plan import Goal, LoopPlan, OnLimit, make_plan
from nightrook.loops.rules import after_run, before_run
from nightrook.loops.state import Attempt, Change, Check, LoopState, Moment, Report

NOW = 1_794_000_000.0
PLAN = make_plan(agent="claude", cwd="/", prompt="p", goal=Goal(until="DONE"))


def ran(status: Any = "success", *, checks: tuple[bool, ...] = (), **facts: Any) -> Attempt:
    changed = facts.pop("changed", None)
    report = Report(
        status=status,
        sentence=facts.pop("sentence", f"it is {status}"),
        started_at=NOW - 60,
        ended_at=NOW,
        spent_usd=facts.pop("spent_usd", 0.01),
        cost_source="native",
        **facts,
    )
    told = tuple(Check(command=f"check {n}", ok=ok) for n, ok in enumerate(checks))
    change = None if changed is None else Change(files=changed)
    return Attempt(id=0, iteration=0, agent="claude", report=report, checks=told, change=change)


def decide(*attempts: Attempt, plan: LoopPlan = PLAN, age_s: float = 60, random: float = 1) -> Any:
    state = LoopState(started_at=NOW - age_s, agent="claude", attempts=attempts)
    return after_run(Moment(plan, state, NOW, age_s, random))


def before(state: LoopState) -> Any:
    return before_run(Moment(PLAN, state, NOW, state.elapsed_s(NOW), 0))


def with_(**changes: Any) -> LoopPlan:
    return msgspec.structs.replace(PLAN, **changes)


SAME = ran(answer="x", changed=0)
LIMITED = ran("limited", resets_at=NOW + 3600, reset_from_field=True)
UNPAID = ran("limited", needs_payment=True, error_kind="quota")
ROWS = [
    # what happened, the rule that decides, the step, how it ends
    ([ran(said_done=True)], PLAN, "completion", "finish", "done"),
    ([ran()], PLAN, "go_on", "continue", None),
    ([ran("interrupted", said_done=True)], PLAN, "interrupted", "finish", "interrupted"),
    ([ran("not_started")], PLAN, "not_started", "finish", "not_started"),
    ([ran("denied", said_done=True)], PLAN, "completion", "finish", "done"),
    ([LIMITED], PLAN, "limits", "wait", None),
    ([LIMITED], with_(on_limit=OnLimit(do="stop")), "limits", "finish", "limited"),
    ([UNPAID], PLAN, "limits", "finish", "limited"),
    ([UNPAID], with_(on_limit=OnLimit(do="switch", agent="codex")), "limits", "switch", None),
    ([LIMITED], with_(on_limit=OnLimit(do="switch", agent="codex")), "limits", "switch", None),
    ([LIMITED], with_(on_limit=OnLimit(do="switch", agent="claude")), "limits", "wait", None),
    ([ran("failed", error_kind="overload")], PLAN, "transient", "wait", None),
    ([ran("failed", error_kind="network")] * 13, PLAN, "transient", "finish", "no_progress"),
    ([ran("failed", error_kind="auth")] * 2, PLAN, "go_on", "continue", None),
    ([ran("failed", error_kind="auth")] * 3, PLAN, "same_error", "finish", "no_progress"),
    ([ran("failed", error="a"), ran(), ran("failed", error="a")], PLAN, "go_on", "continue", None),
    ([ran("over_budget", cost_unknown=True)], PLAN, "unknown_cost", "finish", "ceiling"),
    ([ran("over_budget")], PLAN, "go_on", "continue", None),
    ([ran("stuck")], PLAN, "stuck", "finish", "stuck"),
    ([ran("stuck")], with_(on_stuck="retry"), "go_on", "continue", None),
    ([ran("denied", denials=("Bash(rm)",))] * 2, PLAN, "go_on", "continue", None),
    ([ran("denied", denials=("Bash(rm)",))] * 3, PLAN, "denials", "finish", "no_progress"),
    ([SAME] * 5, PLAN, "no_progress", "finish", "no_progress"),
    ([*[SAME] * 4, ran(answer="x", changed=1)], PLAN, "go_on", "continue", None),
    ([ran(answer=str(n), changed=0) for n in range(5)], PLAN, "go_on", "continue", None),
    ([ran(answer="x")] * 5, PLAN, "go_on", "continue", None),  # nobody knows of files
    ([ran(answer="x", files_changed=2)] * 5, PLAN, "go_on", "continue", None),
    ([ran()] * 20, PLAN, "ceilings", "finish", "ceiling"),
    ([*[ran()] * 19, ran(said_done=True)], PLAN, "completion", "finish", "done"),
    ([ran(spent_usd=10.0)], PLAN, "ceilings", "finish", "ceiling"),
    ([ran(tokens=50_000_000)], PLAN, "ceilings", "finish", "ceiling"),
    ([ran(turns=1000)], PLAN, "ceilings", "finish", "ceiling"),
    ([ran(quota=0.81, quota_resets_at=NOW + 600)], with_(max_quota=0.8), "quota", "wait", None),
    ([ran(quota=0.79)], with_(max_quota=0.8), "go_on", "continue", None),
    ([ran(quota=0.9, quota_resets_at=NOW - 1)], with_(max_quota=0.8), "go_on", "continue", None),
    (
        [ran(quota=1.0)],
        with_(max_quota=0.8, on_limit=OnLimit(do="stop")),
        "quota",
        "finish",
        "limited",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("attempts", "plan", "rule", "step", "end"), ROWS)
def test_a_rule_decides(
    attempts: list[Attempt], plan: LoopPlan, rule: str, step: str, end: str | None
) -> None:
    decision = decide(*attempts, plan=plan)
    assert (decision.rule, decision.step, decision.end) == (rule, step, end)
    assert decision.reason


def test_checks_must_pass_as_well_as_words() -> None:
    plan = with_(goal=Goal(until="DONE", checks=("a", "b")))
    assert decide(ran(said_done=True, checks=(True, True)), plan=plan).end == "done"
    assert decide(ran(said_done=True, checks=(True, False)), plan=plan).step == "continue"
    assert decide(ran(said_done=False, checks=(True, True)), plan=plan).step == "continue"


def test_checks_that_were_not_run_have_not_passed() -> None:
    plan = with_(goal=Goal(signals=("DONE",), checks=("a", "b")))
    cut = ran("limited", said_done=True, resets_at=NOW + 60)
    assert decide(cut, plan=plan).step == "wait"
    assert decide(ran(said_done=True, checks=(True,)), plan=plan).step == "continue"
    checked = ran("limited", said_done=True, checks=(True, True))
    assert decide(checked, plan=plan).end == "done"


def test_work_that_cannot_be_committed_ends_the_loop() -> None:
    uncommitted = msgspec.structs.replace(ran(said_done=True), problem="git commit failed: no")
    decision = decide(uncommitted)
    assert (decision.rule, decision.end) == ("not_committed", "not_started")
    assert decision.reason == "git commit failed: no"


def test_checks_alone_decide_when_no_words_were_asked_for() -> None:
    plan = with_(goal=Goal(checks=("a",)))
    assert decide(ran(checks=(True,)), plan=plan).end == "done"
    assert decide(ran("failed", checks=(True,)), plan=plan).end == "done"
    assert decide(ran("incomplete", checks=(True,)), plan=plan).step == "continue"
    assert decide(ran(checks=()), plan=plan).step == "continue"


def test_done_by_its_own_words_at_the_ceiling_but_a_check_fails() -> None:
    plan = with_(goal=Goal(until="DONE", checks=("a",)), ceilings=Ceilings(iterations=1))
    decision = decide(ran(said_done=True, checks=(False,)), plan=plan)
    assert decision.end == "unverified"
    assert decision.evidence == ("failed: check 0",)


def test_time_is_a_ceiling() -> None:
    assert decide(ran(), age_s=8 * 3600).end == "ceiling"
    assert decide(ran(), age_s=8 * 3600 - 1).step == "continue"


def test_the_time_that_a_loop_lay_still_does_not_count() -> None:
    ended = LoopState(
        started_at=NOW - 9 * 3600, agent="claude", end="interrupted", ended_at=NOW - 8 * 3600
    )
    state = ended.reopened(NOW)
    assert (ended.elapsed_s(NOW), state.elapsed_s(NOW)) == (3600, 3600)
    assert before(state).step == "continue"


def test_the_ceilings_hold_before_a_run_as_well() -> None:
    state = LoopState(started_at=NOW - 9 * 3600, agent="claude")
    assert before(state).end == "ceiling"
    assert before(LoopState(started_at=NOW, agent="claude")).step == "continue"


def test_a_limit_is_waited_for_until_a_minute_after_its_end() -> None:
    assert decide(LIMITED).until == NOW + 3660


def test_a_limit_that_ends_after_the_loop_s_time_ends_the_loop() -> None:
    decision = decide(ran("limited", resets_at=NOW + 9 * 3600))
    assert decision.end == "limited"
    assert "the limit outlasts the loop's time" in decision.reason


def test_a_limit_that_nobody_dates_is_tried_again_now_and_then() -> None:
    waits = [decide(*[ran("limited")] * n).until - NOW for n in (1, 2, 3, 7, 8)]
    assert waits == [60, 120, 240, 3600, 3600]


def test_a_limit_that_is_over_and_still_holds_is_retried_less_and_less_often() -> None:
    over = ran("limited", resets_at=NOW - 100)
    waits = [decide(*[over] * n).until - NOW for n in (1, 2, 3, 7)]
    assert waits == [60, 120, 240, 3600]
    again = ran("limited", resets_at=NOW + 300)
    assert decide(*[over] * 6, again).until == NOW + 360


def test_a_crash_of_ours_is_not_the_agent_s_error() -> None:
    cut = ran("incomplete", recovered=True, changed=0)
    assert decide(*[cut] * 6).step == "continue"
    assert decide(*[ran("incomplete")] * 3).end == "no_progress"


def test_the_reason_names_the_rules_that_would_let_denied_tools_pass() -> None:
    decision = decide(*[ran("denied", denials=("Bash(rm:*)", "Edit(//x)"))] * 3)
    assert "--allow 'Bash(rm:*)' --allow 'Edit(//x)'" in decision.reason


def test_the_rules_that_it_names_are_quoted_for_a_shell() -> None:
    rule = "Bash(echo '; rm -rf ~; echo ')"
    decision = decide(*[ran("denied", denials=(rule,))] * 3)
    assert shlex.split(decision.reason.partition("allow them with ")[2]) == ["--allow", rule]
