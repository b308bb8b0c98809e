"""Endings: one value for how a run, a loop or a session ended."""

from typing import Any

import pytest

from nightrook.model.ending import Ending
from nightrook.model.events import Event, TurnFinished, TurnStarted
from nightrook.model.facts import Facts
from nightrook.model.fold import fold
from nightrook.model.records import Record
from nightrook.model.state import RunState
from nightrook.model.status import BATCH_EXIT_CODES, EXIT_CODES, LOOP_EXIT_CODES
from nightrook.model.verdict import Verdict
from tests.flat_facts import flat_facts


def state_of(*events: Event) -> RunState:
    return fold(Record(number, 0.0, 0, 0, event) for number, event in enumerate(events))


def test_the_end_of_a_run_has_its_verdict_and_its_duration() -> None:
    facts = flat_facts(agent_exit_code=1)
    verdict = Verdict.of("failed", facts)
    assert Ending.of_run(verdict, started_at=10.0, ended_at=14.0) == Ending(
        status="failed",
        ok=False,
        exit_code=1,
        sentence=verdict.sentence,
        ended_at=14.0,
        duration_s=4.0,
        facts=facts,
    )


def test_a_run_whose_times_are_unknown_has_no_duration() -> None:
    verdict = Verdict.of("success", Facts())
    assert Ending.of_run(verdict, ended_at=14.0).duration_s is None
    assert Ending.of_run(verdict, started_at=10.0, ended_at=4.0).duration_s == 0.0


def test_the_end_of_a_loop_has_its_exit_code_and_its_reason() -> None:
    assert Ending.of_loop("done", "checks pass", ended_at=9.0, duration_s=5.0) == Ending(
        status="done",
        ok=True,
        exit_code=0,
        sentence="checks pass",
        ended_at=9.0,
        duration_s=5.0,
    )
    assert not Ending.of_loop("stuck", "no output", duration_s=5.0).ok


@pytest.mark.parametrize(
    ("events", "status", "ok"),
    [
        ((), "unfinished", True),
        ((TurnStarted(),), "unfinished", True),
        ((TurnStarted(), TurnFinished(ok=True)), "answered", True),
        ((TurnStarted(), TurnFinished(ok=False)), "failed", False),
    ],
)
def test_a_session_ended_as_its_last_turn_did(
    events: tuple[Event, ...], status: str, ok: bool
) -> None:
    ending = Ending.of_session(state_of(*events), started_at=1.0, ended_at=3.0)
    assert (ending.status, ending.ok, ending.exit_code, ending.duration_s) == (status, ok, None, 2)


def test_the_end_of_a_batch_counts_its_tasks() -> None:
    ending = Ending.of_batch("failed", done=2, failed=1, planned=3, duration_s=4.0)
    assert (ending.ok, ending.exit_code, ending.duration_s) == (False, 1, 4.0)
    assert ending.sentence == "2 of 3 tasks done, 1 failed"
    assert Ending.of_batch("incomplete", done=0, failed=0, planned=1).exit_code is None


def test_only_a_success_exits_with_zero() -> None:
    tables: tuple[dict[Any, int], ...] = (EXIT_CODES, LOOP_EXIT_CODES, BATCH_EXIT_CODES)
    codes = {status: code for table in tables for status, code in table.items()}
    assert {status for status, code in codes.items() if code == 0} == {"success", "done"}
