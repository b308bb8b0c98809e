"""Whole loops with a scripted agent, real processes, real checks and a real clock."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import rookery
from rookery.loops.changes import git
from rookery.loops.driver import ForeignChangesError, Loop
from rookery.loops.events import (
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
from rookery.loops.plan import Ceilings, Goal, LoopPlan, OnLimit, Patience
from rookery.loops.start import BadPlanError, new_loop, resumed_loop
from rookery.loops.storage import LOOP_FOLDERS
from rookery.model.errors import RookeryError
from rookery.model.fold import fold
from rookery.prices import PriceBook
from rookery.process import trees
from rookery.process.liveness import is_alive
from rookery.runs.heal import settle
from rookery.store import runs
from rookery.store.loop_folder import LoopBusyError
from rookery.store.run_folder import RunFolder
from tests.loops.playing import calls, install, plan, play, repository


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


def test_the_agent_inside_is_told_in_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert [(event.ok, event.exit_code) for event in told] == [(False, 3), (True, 0)]
    second = runs.find(tmp_path / "home", loop.state.attempts[1].report.run or "").info()
    assert second is not None
    assert second.prompt is not None
    assert second.prompt.startswith("Fix it.\n\nThe last attempt did not pass this check:\n$ cat")
    assert "the file is missing" in second.prompt


def test_a_limit_does_not_lose_what_the_check_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rookery.loops.waits.backoff.MARGIN_S", 0.0)
    monkeypatch.setattr("rookery.loops.waits.backoff.LEAST_WAIT_S", 0.0)
    work = install(tmp_path, ["say=a", "limit=1", "say=b write-file=fixed"], monkeypatch)
    check = "cat fixed || { echo the file is missing; exit 3; }"
    loop, _ = play(plan(work, goal=Goal(checks=(check,))))
    assert [attempt.report.status for attempt in loop.state.attempts] == [
        "success",
        "limited",
        "success",
    ]
    last = runs.find(tmp_path / "home", loop.state.attempts[2].report.run or "").info()
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


def test_a_cost_that_the_agent_does_not_tell_is_an_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["play=no-cost"], monkeypatch)
    _, events = play(plan(work, ceilings=Ceilings(iterations=1)))
    (ended,) = [event for event in events if isinstance(event, LoopFinished)]
    assert ended.cost_source == "estimated"


def test_a_limit_is_waited_out_and_is_no_iteration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rookery.loops.waits.backoff.MARGIN_S", 0.0)
    monkeypatch.setattr("rookery.loops.waits.backoff.LEAST_WAIT_S", 0.0)
    work = install(tmp_path, ["limit=2", "say=DONE"], monkeypatch)
    loop, events = play(plan(work, ceilings=Ceilings(iterations=1)))
    assert (loop.end, calls(tmp_path), loop.state.iterations) == ("done", 2, 1)
    (wait,) = [event for event in events if isinstance(event, Waiting)]
    begun = [event for event in events if isinstance(event, IterationStarted)]
    assert begun[1].at >= wait.until
    assert [event.iteration for event in begun] == [1, 1]


def test_a_limit_can_end_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["limit=3600"], monkeypatch)
    loop, _ = play(plan(work, on_limit=OnLimit(do="stop")))
    assert (loop.end, loop.exit_code, calls(tmp_path)) == ("limited", 6, 1)


def test_what_a_tool_prints_is_neither_limit_nor_end(
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


def test_a_prompt_file_that_is_gone_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert any("no byte for" in words for words in why.evidence)
    assert any(words.startswith("processes: 1") for words in why.evidence)


def test_a_stuck_agent_can_be_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["silent=30", "say=DONE"], monkeypatch)
    loop, _ = play(plan(work, idle_s=0.5, on_stuck="retry"))
    assert (loop.end, calls(tmp_path)) == ("done", 2)


def test_a_prompt_file_is_read_anew_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a", "say=DONE"], monkeypatch)
    file = tmp_path / "task.md"
    file.write_text("Step {{iteration}} of {{max_iterations}}: {{last_answer}}")
    asked = plan(work, prompt_file=str(file))
    loop, _ = play(asked)
    prompts = [
        runs.find(tmp_path / "home", attempt.report.run or "").info()
        for attempt in loop.state.attempts
    ]
    assert [info.prompt for info in prompts if info] == ["Step 1 of 20: ", "Step 2 of 20: a"]


def test_a_session_is_gone_on_with_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a", "say=DONE"], monkeypatch)
    loop, _ = play(plan(work, continue_session=True))
    first, second = (attempt.report for attempt in loop.state.attempts)
    info = runs.find(tmp_path / "home", second.run or "").info()
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


def test_a_loop_that_was_interrupted_goes_on_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["hang-in-tool", "say=DONE"], monkeypatch)

    async def whole(loop: Loop, *, stop: bool) -> Loop:
        async with loop:
            async for event in loop:
                if stop and isinstance(event, ToolStarted):
                    loop.stop()
        return loop

    first = asyncio.run(whole(new_loop(plan(work)), stop=True))
    assert first.end == "interrupted"
    second = asyncio.run(whole(resumed_loop(first.name), stop=False))
    assert (second.end, calls(tmp_path)) == ("done", 2)
    assert [attempt.id for attempt in second.state.attempts] == [1, 2]
    with pytest.raises(BadPlanError, match="has ended"):
        resumed_loop(first.name)


def test_a_wait_that_was_interrupted_goes_on_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["limit=3600", "say=DONE"], monkeypatch)

    async def until_it_waits(loop: Loop) -> float:
        async with loop:
            async for event in loop:
                if isinstance(event, Waiting):
                    loop.stop()
                    until = event.until
        return until

    loop = new_loop(plan(work))
    until = asyncio.run(until_it_waits(loop))
    assert asyncio.run(until_it_waits(resumed_loop(loop.name))) == until
    assert calls(tmp_path) == 1


def test_a_loop_is_stopped_by_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["limit=3600"], monkeypatch)
    loop = new_loop(plan(work))
    folder = LOOP_FOLDERS.find(tmp_path / "home", loop.name)
    with pytest.raises(RookeryError, match="is not running"):
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


def test_an_interrupted_check_did_not_fail_and_is_run_again(
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
    first = asyncio.run(until_it_checks(plan(work, goal=goal, ceilings=Ceilings(iterations=1))))
    assert (first.end, first.state.attempts[0].why) == ("interrupted", "interrupted")
    assert [check.stopped for check in first.state.attempts[0].checks] == ["interrupted"] * 2
    second = asyncio.run(whole(resumed_loop(first.name)))
    assert (second.end, calls(tmp_path)) == ("done", 1)  # no iteration was needed
    assert [check.ok for check in second.state.attempts[0].checks] == [True, True]


@pytest.mark.parametrize(("check", "code"), [("no-such-command", 127), ("./plain.txt", 126)])
def test_a_check_that_cannot_run_ends_it_after_the_first_iteration(
    check: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no"], monkeypatch)
    (work / "plain.txt").write_text("")
    loop, _ = play(plan(work, goal=Goal(checks=(check,))))
    assert (loop.end, loop.exit_code, calls(tmp_path)) == ("not_started", 9, 1)
    assert loop.state.reason == f"the check cannot run (exit code {code}): {check}"


def test_only_one_may_run_a_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["hang-in-tool"], monkeypatch)

    async def whole() -> None:
        async with new_loop(plan(work)) as loop:
            assert LOOP_FOLDERS.find(tmp_path / "home", loop.name).is_running
            with pytest.raises(LoopBusyError):
                async with resumed_loop(loop.name):
                    pass

    asyncio.run(whole())


def test_a_loop_that_is_over_is_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    loop, _ = play(plan(work))
    with pytest.raises(BadPlanError, match="has ended"):
        resumed_loop(loop.name)


def test_without_a_sign_of_completion_the_agent_is_asked_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=x"], monkeypatch)
    loop, _ = play(plan(work, goal=Goal(), ceilings=Ceilings(iterations=2)))
    assert loop.plan.goal.ask_done
    prompts = []
    for attempt in loop.state.attempts:
        info = runs.find(tmp_path / "home", attempt.report.run or "").info()
        assert info is not None
        prompts.append((info.prompt or "").split("\n")[-1])
    assert len(set(prompts)) == 2  # the word is new each time
    assert all(word.startswith("DONE-") for word in prompts)


def test_the_library_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=a", "say=DONE"], monkeypatch)

    async def whole() -> int | None:
        async with rookery.loop("claude", "Fix it", cwd=work, until="DONE") as loop:
            async for event in loop:
                assert event.at > 0
        return loop.exit_code

    assert asyncio.run(whole()) == 0


# Repositories.


def committed(work: Path) -> list[str]:
    """All files that are in the last commit."""
    told = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "HEAD"],
        cwd=work,
        check=True,
        capture_output=True,
        text=True,
    )
    return told.stdout.split()


async def whole(loop: Loop) -> Loop:
    async with loop:
        await loop.wait()
    return loop


async def stopped_in_a_tool(asked: LoopPlan) -> str:
    async with new_loop(asked) as loop:
        async for event in loop:
            if isinstance(event, ToolStarted):
                loop.stop()
    assert loop.end == "interrupted"
    return loop.name


def test_what_changed_is_told_by_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=a write-file=new.txt", "say=DONE"], monkeypatch)
    repository(work)
    loop, events = play(plan(work))
    ended = [event for event in events if isinstance(event, IterationFinished)]
    assert [event.files for event in ended] == [1, 0]
    assert loop.end == "done"


def test_each_iteration_can_be_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=a write-file=a.txt", "say=DONE write-file=b.txt"], monkeypatch)
    repository(work)
    loop, _ = play(plan(work, commit=True))
    log = subprocess.run(
        ["git", "log", "--format=%s"], cwd=work, check=True, capture_output=True, text=True
    ).stdout.split("\n")
    assert log[:3] == [f"rook {loop.name}: iteration 2", f"rook {loop.name}: iteration 1", "Begin"]
    assert git.is_clean(str(work))


def test_a_commit_never_mixes_in_what_was_there_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    repository(work)
    (work / "mine.txt").write_text("mine")
    with pytest.raises(BadPlanError, match="not committed"):
        new_loop(plan(work, commit=True))
    loop, _ = play(plan(work, commit=True, worktree=True))
    assert loop.end == "done"
    assert (work / "mine.txt").read_text() == "mine"
    assert not git.is_clean(str(work))


def test_going_on_never_commits_what_the_user_changed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["hang-in-tool", "say=DONE write-file=made.txt"], monkeypatch)
    repository(work)
    name = asyncio.run(stopped_in_a_tool(plan(work, commit=True)))
    (work / "mine.txt").write_text("mine")
    with pytest.raises(ForeignChangesError, match=rf"mine\.txt; .* --resume {name}"):
        asyncio.run(whole(resumed_loop(name)))
    (work / "mine.txt").unlink()
    loop = asyncio.run(whole(resumed_loop(name)))  # the refusal has changed nothing
    assert (loop.end, committed(work)) == ("done", ["made.txt"])


def test_what_a_cut_off_run_changed_is_committed_and_what_came_later_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["write-file=half.txt hang-in-tool", "say=DONE"], monkeypatch)
    repository(work)
    name = new_loop(plan(work, commit=True)).name
    child = subprocess.Popen([sys.executable, "-c", _CHILD, name])
    while not (work / "half.txt").exists():
        assert child.poll() is None
        time.sleep(0.01)
    child.kill()
    child.wait()
    (begun,) = runs.runs(tmp_path / "home")
    settle(begun)
    (work / "mine.txt").write_text("mine")
    with pytest.raises(ForeignChangesError, match=r"agent's: mine\.txt;"):
        asyncio.run(whole(resumed_loop(name)))
    (work / "mine.txt").unlink()
    loop = asyncio.run(whole(resumed_loop(name)))
    assert (loop.end, committed(work)) == ("done", ["half.txt"])


def test_a_file_that_was_removed_meanwhile_is_foreign_too(tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / "old.txt").write_text("x")
    assert git.commit(str(tmp_path), "Add it")
    (tmp_path / "old.txt").unlink()
    assert git.changed_after(str(tmp_path), 0.0) == ["old.txt"]
    assert git.changed_after(str(tmp_path), time.time() + 60) == []


def test_a_worktree_keeps_the_agent_away_from_the_user_s_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE write-file=made.txt"], monkeypatch)
    repository(work)
    loop, _ = play(plan(work, worktree=True))
    assert not (work / "made.txt").exists()
    assert (loop.folder.path / "worktree" / "made.txt").exists()


def test_git_is_asked_for_only_where_there_is_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    with pytest.raises(BadPlanError, match="isn't in a git repository"):
        new_loop(plan(work, commit=True))


# Crashes.

_CHILD = """
import asyncio, sys
from pathlib import Path
from rookery.loops.start import resumed_loop

async def main():
    async with resumed_loop(sys.argv[1]) as loop:
        async for event in loop:
            pass
    sys.exit(loop.exit_code)

asyncio.run(main())
"""


def killed_and_resumed(folder: Path, kills: list[float], monkeypatch: pytest.MonkeyPatch) -> int:
    """Kill a loop after each of so many seconds, go on each time, and see that all is right.

    Gives how often it was killed: it may be done before the last.
    """
    killed = 0
    plays = ["say=1 delay=0.02", "say=2 delay=0.02", "say=3 delay=0.02", "say=DONE delay=0.02"]
    work = install(folder, plays, monkeypatch)
    name = new_loop(plan(work, ceilings=Ceilings(iterations=len(kills) + 6))).name
    for seconds in [*kills, None]:
        child = subprocess.Popen([sys.executable, "-c", _CHILD, name])
        try:
            child.wait(timeout=seconds if seconds is not None else 120)
        except subprocess.TimeoutExpired:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
            killed += 1
        else:
            assert child.returncode == 0
        state = LOOP_FOLDERS.find(folder / "home", name).state()
        if state is not None and state.end is not None:  # it may be killed right after its end
            break
    state = LOOP_FOLDERS.find(folder / "home", name).state()
    assert state is not None
    assert state.end == "done"
    ids = [attempt.id for attempt in state.attempts]
    assert ids == list(range(1, len(ids) + 1))
    named = [attempt.report.run for attempt in state.attempts]
    assert len(set(named)) == len(named)
    found = runs.runs(folder / "home")
    assert {run.name for run in found} == set(named)  # each run is counted, and counted once
    assert all(run.verdict() for run in found)
    paid = sum(_spent(run) or 0.0 for run in found)
    assert state.spent_usd == pytest.approx(paid)
    assert not any(trees.marked(str(run.path)) for run in found)  # no orphan
    return killed


def _spent(run: RunFolder) -> float | None:
    """What the raw log of a run says that it cost."""
    return fold(rookery.decode(run.chunks("stdout"), "claude"), PriceBook()).ledger.spent_usd


def test_a_killed_loop_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_and_resumed(tmp_path, [0.5, 0.7, 0.9, 1.1, 0.6, 0.8], monkeypatch)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(25))
def test_two_hundred_kills_lose_and_repeat_nothing(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import random

    chance, killed = random.Random(seed), 0
    while killed < 8:
        folder = tmp_path / str(killed)
        folder.mkdir()
        moments = [chance.uniform(0.2, 0.9) for _ in range(8 - killed)]
        killed += killed_and_resumed(folder, moments, monkeypatch)


def test_a_way_to_run_it_that_the_agent_does_not_have_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    loop, _ = play(plan(work, via="telepathy"))
    assert (loop.end, calls(tmp_path)) == ("not_started", 0)
    assert "leave out --via" in loop.state.reason
