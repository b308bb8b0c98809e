"""Plans of loops, and how they are written to disk."""

import json
from typing import Any

import msgspec
import pytest

from nightrook.loops.ceilings import Ceilings
from nightrook.loops.plan import Goal, LoopPlan, dump_plan, load_plan, make_plan

# As written before a plan had its options in one value.
EARLIER: dict[str, Any] = {
    "agent": "claude",
    "cwd": "/project",
    "prompt": "Fix it",
    "prompt_file": None,
    "goal": {"until": None, "signals": ["DONE"], "ask_done": False, "checks": []},
    "ceilings": {
        "iterations": 2,
        "time_s": 28800.0,
        "cost_usd": 10.0,
        "tokens": 50000000,
        "turns": 1000,
    },
    "patience": {"same_error": 3, "same_answer": 5, "same_denial": 3, "backoffs": 12},
    "on_limit": {"do": "wait", "agent": None},
    "max_quota": None,
    "on_stuck": "stop",
    "idle_s": 600.0,
    "iteration_s": None,
    "check_s": 600.0,
    "feed": "append",
    "feed_bytes": 8000,
    "continue_session": False,
    "commit": False,
    "worktree": False,
    "via": None,
    "model": "small",
    "permission": "edit",
    "allow": ["Bash(ls)"],
    "args": ["--x"],
    "program": ["/bin/claude"],
    "called": "work",
    "batch": ["batch-k7f3", 2],
}
NEWER = {"check_first": True}
"""What a plan of today has in addition."""


def test_a_plan_of_an_earlier_version_is_read_and_written_alike() -> None:
    plan = load_plan(json.dumps(EARLIER).encode())
    assert (plan.run.model, plan.run.allow) == ("small", ("Bash(ls)",))
    assert (plan.ceilings.iterations, plan.batch) == (2, ("batch-k7f3", 2))
    assert json.loads(dump_plan(plan)) == {**EARLIER, **NEWER}


def plan(**fields: Any) -> LoopPlan:
    return make_plan(agent="claude", cwd="/", prompt="x", goal=Goal(until="D"), **fields)


def test_every_option_of_a_run_survives() -> None:
    made = plan(env={"A": "1"}, partial=True, ceilings=Ceilings(iterations=3), grace=1.0)
    assert load_plan(dump_plan(made)) == made


def test_options_with_their_default_are_written_only_if_they_always_were() -> None:
    assert json.loads(dump_plan(plan())).keys() == {**EARLIER, **NEWER}.keys()


@pytest.mark.parametrize("data", [b"{", b"[]", b"{}", b'{"agent": 3, "cwd": "/", "goal": {}}'])
def test_a_damaged_plan_is_a_decode_error(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        load_plan(data)
