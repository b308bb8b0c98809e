"""Whole loops with a scripted agent, real processes and real checks."""

import asyncio
import time
from pathlib import Path

import pytest

from nightrook.loops.ceilings import Ceilings
from nightrook.loops.effects import RealEffects
from nightrook.loops.events import (
    AgentThinking,
    CheckFinished,
    Decision,
    IterationFinished,
    IterationStarted,
    LoopFinished,
    LoopStarted,
    SessionStats,
    StuckSuspected,
    ToolCompleted,
    ToolStarted,
    Waiting,
)
from nightrook.loops.loop import Loop
from nightrook.loops.plan import Goal, LoopPlan, OnLimit, Patience
from nightrook.loops.start import new_loop, resumed_loop
from nightrook.loops.storage import LOOP_FOLDERS
from nightrook.model.errors import NightrookError
from nightrook.process.liveness import is_alive
from nightrook.store.list import find_run
from tests.loops.playing import calls, install, plan, play, to_the_end


def skip_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the waits of a loop take no time: its clock jumps instead."""
    skipped = 0.0

    async def sleep(_: RealEffects, seconds: float) -> None:
        nonlocal skipped
        skipped += seconds

    monkeypatch.setattr(RealEffects, "sleep", sleep)
    monkeypatch.setattr(RealEffects, "now", lambda _: time.time() + skipped)


def test_it_runs_until_the_answer_is_what_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no", "say=not-DONE", "say=done"], monkeypatch)
    loop, events = play(plan(work))
    assert (loop.end, loop.exit_code, calls(tmp_path)) == ("done", 0, 3)
    assert [type(event) for event in events if not isinstance(event, _INSIDE)] == [
        LoopStarted,
        *([IterationStarted, IterationFinished, Decision] * 3),
        LoopFinished,
    ]
    assert [a.why for a in loop.state.attempts] == [
        "the agent did not say it is done",
        "the agent did not say it is done",
        "the goal is met",
    ]


_INSIDE = (ToolStarted, ToolCompleted, AgentThinking, SessionStats)


def test_what_the_agent_does_is_reported_in_brief(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 004, part 3: tool_started, tool_completed, agent_thinking, session_stats."""
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    loop, events = play(plan(work))
    inside = [event for event in events if isinstance(event, _INSIDE)]
    started = next(event for event in inside if isinstance(event, ToolStarted))
    assert (started.tool_name, started.message) == ("Read", "Tool: Read")
    completed = next(event for event in inside if isinstance(event, ToolCompleted))
    assert (completed.tool_name, completed.status) == ("Read", "ok")
    assert any(isinstance(event, AgentThinking) and event.message for event in inside)
    (stats,) = [event for event in inside if isinstance(event, SessionStats)]
    report = loop.state.attempts[0].report
    assert stats.cost_usd == report.spent_usd
    assert stats.message == f"Cost: ${stats.cost_usd:.4f}, Turns: {stats.turns}"
    assert stats.tokens_in
    assert stats.tokens_out
    assert {event.iteration for event in inside} == {1}


def test_a_check_that_fails_goes_into_the_next_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a", "say=b write-file=fixed"], monkeypatch)
    check = "cat fixed || { echo the file is missing; exit 3; }"
    loop, events = play(plan(work, goal=Goal(checks=(check,))))
    assert loop.end == "done"
    assert calls(tmp_path) == 2
    told = [event for event in events if isinstance(event, CheckFinished)]
    assert [(event.iteration, event.ok, event.exit_code) for event in told] == [
        (0, False, 3),
        (1, False, 3),
        (2, True, 0),
    ]
    second = find_run(tmp_path / "home", loop.state.attempts[1].report.run or "").info()
    assert second is not None
    assert second.prompt is not None
    assert second.prompt.startswith("Fix it.\n\nThe last attempt did not pass this check:\n$ cat")
    assert "the file is missing" in second.prompt


def test_a_limit_does_not_lose_the_output_of_a_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_waits(monkeypatch)
    work = install(tmp_path, ["say=a", "limit=3600", "say=b write-file=fixed"], monkeypatch)
    check = "cat fixed || { echo the file is missing; exit 3; }"
    loop, _ = play(plan(work, goal=Goal(checks=(check,))))
    assert [attempt.report.status for attempt in loop.state.attempts] == [
        "success",
        "limited",
        "success",
    ]
    last = find_run(tmp_path / "home", loop.state.attempts[2].report.run or "").info()
    assert last is not None
    assert "the file is missing" in (last.prompt or "")


def test_words_and_checks_must_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    asked = plan(work, goal=Goal(until="DONE", checks=("false",)), ceilings=Ceilings(iterations=2))
    loop, _ = play(asked)
    assert (loop.end, loop.exit_code) == ("unverified", 8)
    assert loop.state.iterations == 2


def test_a_ceiling_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=1", "say=2", "say=3"], monkeypatch)
    loop, _ = play(plan(work, ceilings=Ceilings(iterations=3)))
    assert (loop.end, loop.exit_code, calls(tmp_path)) == ("ceiling", 5, 3)


def test_completion_in_the_last_iteration_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=1", "say=DONE"], monkeypatch)
    loop, _ = play(plan(work, ceilings=Ceilings(iterations=2)))
    assert loop.end == "done"


def test_money_ends_it_within_a_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["play=budget delay=0.01"], monkeypatch)
    loop, _ = play(plan(work, ceilings=Ceilings(cost_usd=0.2)))
    assert (loop.end, loop.exit_code) == ("ceiling", 5)
    assert 0.2 <= loop.state.spent_usd < 0.65
    assert calls(tmp_path) == 1


def test_a_cost_that_the_agent_does_not_report_is_an_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["play=no-cost"], monkeypatch)
    _, events = play(plan(work, ceilings=Ceilings(iterations=1)))
    (ended,) = [event for event in events if isinstance(event, LoopFinished)]
    assert ended.cost_source == "estimated"


def test_a_limit_is_waited_out_and_does_not_count_as_an_iteration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_waits(monkeypatch)
    work = install(tmp_path, ["limit=3600", "say=DONE"], monkeypatch)
    loop, events = play(plan(work, ceilings=Ceilings(iterations=1)))
    assert (loop.end, calls(tmp_path), loop.state.iterations) == ("done", 2, 1)
    wait = next(event for event in events if isinstance(event, Waiting))
    begun = [event for event in events if isinstance(event, IterationStarted)]
    assert begun[1].at >= wait.until
    assert [event.iteration for event in begun] == [1, 1]


def test_a_limit_can_end_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["limit=3600"], monkeypatch)
    loop, _ = play(plan(work, on_limit=OnLimit(do="stop")))
    assert (loop.end, loop.exit_code, calls(tmp_path)) == ("limited", 6, 1)


def test_the_output_of_a_tool_is_neither_limit_nor_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["play=false-signs"], monkeypatch)
    goal = Goal(signals=("PHASE_COMPLETE", "<promise>COMPLETE</promise>", "DONE"))
    loop, events = play(plan(work, goal=goal, ceilings=Ceilings(iterations=1)))
    assert loop.end == "ceiling"
    assert not any(isinstance(event, Waiting) for event in events)


def test_a_missing_agent_ends_it_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path))
    loop, _ = play(plan(work))
    assert (loop.end, loop.exit_code) == ("not_started", 9)


def test_a_missing_prompt_file_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=a", "say=b"], monkeypatch)
    loop, _ = play(plan(work, prompt_file=str(tmp_path / "gone.md")))
    assert (loop.end, loop.exit_code) == ("not_started", 9)
    assert "gone.md" in loop.state.reason


def test_the_same_error_three_times_is_no_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["play=not-logged-in"], monkeypatch)
    loop, _ = play(plan(work))
    assert (loop.end, loop.exit_code, calls(tmp_path)) == ("no_progress", 7, 3)


def test_the_same_answer_and_no_change_is_no_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=again"], monkeypatch)
    loop, _ = play(plan(work, patience=Patience(same_answer=2)))
    assert (loop.end, calls(tmp_path)) == ("no_progress", 2)


def test_files_that_change_outside_a_repository_are_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=again"], monkeypatch)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    program = tmp_path / "bin" / "claude"
    program.write_text(program.read_text().replace("exec ", "echo x >> log.txt; exec "))
    asked = plan(work, patience=Patience(same_answer=2), ceilings=Ceilings(iterations=3))
    loop, events = play(asked)
    assert (loop.end, calls(tmp_path)) == ("ceiling", 3)
    assert [e.files for e in events if isinstance(e, IterationFinished)] == [1, 1, 1]


def test_a_stuck_agent_is_suspected_with_evidence_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["silent=30"], monkeypatch)
    loop, events = play(plan(work, idle_s=0.5))
    assert (loop.end, loop.exit_code) == ("stuck", 7)
    (why,) = [event for event in events if isinstance(event, StuckSuspected)]
    assert any("no output for" in words for words in why.evidence)
    assert any(words.startswith("processes: 1") for words in why.evidence)
    verdict = find_run(tmp_path / "home", loop.state.attempts[0].report.run or "").verdict()
    assert verdict is not None
    suspicion = verdict.verdict.facts.person.suspicion
    assert suspicion is not None
    assert (suspicion.reason, suspicion.evidence) == (why.reason, why.evidence)


def test_a_stuck_agent_can_be_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["silent=30", "say=DONE"], monkeypatch)
    loop, _ = play(plan(work, idle_s=0.5, on_stuck="retry"))
    assert (loop.end, calls(tmp_path)) == ("done", 2)


def test_a_prompt_file_is_read_before_every_iteration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a", "say=DONE"], monkeypatch)
    file = tmp_path / "task.md"
    file.write_text("Step {{iteration}} of {{max_iterations}}: {{last_answer}}")
    asked = plan(work, prompt_file=str(file))
    loop, _ = play(asked)
    prompts = [
        find_run(tmp_path / "home", attempt.report.run or "").info()
        for attempt in loop.state.attempts
    ]
    assert [info.prompt for info in prompts if info] == ["Step 1 of 20: ", "Step 2 of 20: a"]


def test_a_session_can_be_resumed_by_the_next_iteration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a", "say=DONE"], monkeypatch)
    loop, _ = play(plan(work, continue_session=True))
    first, second = (attempt.report for attempt in loop.state.attempts)
    info = find_run(tmp_path / "home", second.run or "").info()
    assert info is not None
    assert info.resumed_from == first.run
    assert "--resume" in info.command


def test_an_interrupt_ends_the_agent_and_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["hang-in-tool"], monkeypatch)

    async def whole() -> tuple[str | None, int | None]:
        async with new_loop(plan(work)) as loop:
            async for event in loop:
                if isinstance(event, ToolStarted):
                    loop.stop()
        return loop.end, loop.exit_code

    assert asyncio.run(whole()) == ("interrupted", 130)


def test_a_loop_is_stopped_by_a_request_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["limit=3600"], monkeypatch)
    loop = new_loop(plan(work))
    folder = LOOP_FOLDERS.find(tmp_path / "home", loop.name)
    with pytest.raises(NightrookError, match="is not running"):
        folder.request_stop()

    async def until_it_waits() -> str | None:
        async with loop:
            async for event in loop:
                if isinstance(event, Waiting):
                    folder.request_stop()
        return loop.end

    assert asyncio.run(until_it_waits()) == "interrupted"


def test_an_interrupt_ends_a_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["limit=3600"], monkeypatch)

    async def whole() -> str | None:
        async with new_loop(plan(work)) as loop:
            async for event in loop:
                if isinstance(event, Waiting):
                    loop.stop()
        return loop.end

    assert asyncio.run(whole()) == "interrupted"


def test_an_interrupt_ends_a_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    asked = plan(work, goal=Goal(until="DONE", checks=("echo $$ > pid; sleep 600",)))

    async def whole() -> str | None:
        async with new_loop(asked) as loop:
            while not (work / "pid").exists():
                await asyncio.sleep(0.01)
            loop.stop()
        return loop.end

    assert asyncio.run(whole()) == "interrupted"
    assert not is_alive(int((work / "pid").read_text()), None)


def test_an_interrupted_check_has_not_failed_and_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    check = "test -f pid || { echo $$ > pid; sleep 600; }"
    goal = Goal(until="DONE", checks=(check, "true"))

    async def until_it_checks(asked: LoopPlan) -> Loop:
        async with new_loop(asked) as loop:
            while not (work / "pid").exists():
                await asyncio.sleep(0.01)
            loop.stop()
        return loop

    # At the ceiling, where a check that fails would end it as unverified.
    asked = plan(work, goal=goal, ceilings=Ceilings(iterations=1), check_first=False)
    first = asyncio.run(until_it_checks(asked))
    assert first.end == "interrupted"
    assert first.state.attempts[0].why.startswith(
        "interrupted by the program that started it, in the middle of the check test -f pid"
    )
    assert [check.stopped for check in first.state.attempts[0].checks] == ["interrupted"] * 2
    second = asyncio.run(to_the_end(resumed_loop(first.name)))
    assert (second.end, calls(tmp_path)) == ("done", 1)  # no iteration was needed
    assert [check.ok for check in second.state.attempts[0].checks] == [True, True]


@pytest.mark.parametrize(("check", "code"), [("no-such-command", 127), ("./plain.txt", 126)])
def test_a_check_that_cannot_run_ends_it_after_the_first_iteration(
    check: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no"], monkeypatch)
    (work / "plain.txt").write_text("")
    loop, _ = play(plan(work, goal=Goal(checks=(check,)), check_first=False))
    assert (loop.end, loop.exit_code, calls(tmp_path)) == ("not_started", 9, 1)
    assert loop.state.reason == f"the check cannot run (exit code {code}): {check}"


@pytest.mark.parametrize(("check", "code"), [("no-such-command", 127), ("./plain.txt", 126)])
def test_a_check_that_cannot_run_is_reported_before_the_first_iteration(
    check: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no"], monkeypatch)
    (work / "plain.txt").write_text("")
    loop, _ = play(plan(work, goal=Goal(until="DONE", checks=("false", check))))
    assert (loop.end, loop.exit_code, calls(tmp_path)) == ("not_started", 9, 0)
    assert loop.state.reason.startswith(f"the check cannot run (exit code {code}): {check}; ")
    assert "--no-check-first" in loop.state.reason


def test_a_loop_whose_checks_pass_already_ends_without_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no"], monkeypatch)
    loop, events = play(plan(work, goal=Goal(checks=("true", "true"))))
    assert (loop.end, loop.exit_code, calls(tmp_path)) == ("done", 0, 0)
    assert (loop.state.attempts, loop.spent_usd) == ((), 0.0)
    assert not any(isinstance(event, IterationStarted) for event in events)


def test_a_resumed_loop_checks_first_what_was_done_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no"], monkeypatch)
    goal = Goal(checks=("test -f fixed",))
    first, _ = play(plan(work, goal=goal, ceilings=Ceilings(iterations=1)))
    assert (first.end, calls(tmp_path)) == ("ceiling", 1)
    (work / "fixed").touch()
    again = asyncio.run(to_the_end(resumed_loop(first.name, ceilings={"iterations": 2})))
    assert (again.end, again.state.reason) == ("done", "every check passes already")
    assert calls(tmp_path) == 1
