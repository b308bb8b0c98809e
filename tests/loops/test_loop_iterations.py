"""One iteration: what the agent is asked for, when it is checked, and what is counted."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from nightrook.loops.ceilings import Ceilings
from nightrook.loops.effects import Emit, RunRequest
from nightrook.loops.events import IterationFinished, LoopEvent
from nightrook.loops.loop import Loop
from nightrook.loops.plan import Goal, LoopPlan, make_plan
from nightrook.loops.state import Check, Report
from nightrook.loops.storage import LOOP_FOLDERS, LoopFolder
from nightrook.model.errors import NightrookError
from nightrook.model.events import (
    Event,
    LimitReported,
    SessionStarted,
    Text,
    TurnFinished,
    TurnStarted,
    Usage,
)
from nightrook.runs.git.git_command import GitError
from nightrook.runs.git.repository import Committed
from tests.loops.fake import FakeEffects, World, report_of

BEGIN: list[Event] = [SessionStarted(session="s"), TurnStarted()]
SAYS_DONE = Text(id="t", text="All of it.\nDONE")


def turn(ok: bool = True, text: str | None = "not yet") -> TurnFinished:
    used = Usage(input=40, output=60)
    return TurnFinished(
        ok=ok, text=text, cost_usd=0.25, cost_semantics="cumulative", turns=2, usage=used
    )


def limit(world: World) -> LimitReported:
    return LimitReported(status="rejected", resets_at=world.now + 60)


class Scripted(FakeEffects):
    """Effects that answer at once: each run has the next events, each check the next result."""

    def __init__(self, plan: LoopPlan, world: World) -> None:
        super().__init__(plan, world)
        self.runs: list[list[Event] | NightrookError] = []
        self.checks: list[bool] = []
        self.commits: list[Committed | GitError] = []

    async def sleep(self, seconds: float) -> None:
        self.world.pass_time(seconds)

    async def run(self, request: RunRequest, emit: Emit) -> Report:
        self.world.requests.append(request)
        events = self.runs.pop(0)
        if isinstance(events, NightrookError):
            raise events
        self.world.pass_time(20)
        return report_of(self.plan, request.pending, events, ended_at=self.world.now)

    async def check(self, command: str) -> Check:
        ok = self.checks.pop(0)
        return Check(command=command, ok=ok, exit_code=0 if ok else 1)

    def commit(self, message: Callable[[Sequence[str]], str]) -> Committed:
        message([])
        done = self.commits.pop(0)
        if isinstance(done, GitError):
            raise done
        return done


def effects(
    goal: Goal,
    *,
    commit: bool = False,
    ceilings: Ceilings = Ceilings(),  # noqa: B008 - frozen
    check_first: bool = False,
) -> Scripted:
    plan = make_plan(
        agent="claude",
        cwd="/",
        prompt="p",
        goal=goal,
        commit=commit,
        ceilings=ceilings,
        check_first=check_first,
    )
    return Scripted(plan, World())


def play(scripted: Scripted, home: Path) -> tuple[Loop, Sequence[LoopEvent]]:
    return continued(LOOP_FOLDERS.create(home, scripted.plan), scripted)


def continued(folder: LoopFolder, scripted: Scripted) -> tuple[Loop, Sequence[LoopEvent]]:
    async def whole() -> tuple[Loop, Sequence[LoopEvent]]:
        async with Loop(folder, scripted) as loop:
            events = [event async for event in loop]
        return loop, events

    return asyncio.run(whole())


def test_a_limit_after_the_signal_does_not_replace_the_check(tmp_path: Path) -> None:
    scripted = effects(Goal(signals=("DONE",), checks=("make test",)))
    cut = [*BEGIN, SAYS_DONE, limit(scripted.world), turn(ok=False)]
    scripted.runs = [cut, [*BEGIN, SAYS_DONE, turn()]]
    scripted.checks = [False, True]
    loop, _ = play(scripted, tmp_path)
    assert loop.end == "done"
    assert [(a.report.status, a.checks_pass) for a in loop.state.attempts] == [
        ("limited", False),
        ("success", True),
    ]


def test_a_check_that_passes_after_a_limit_ends_the_loop_without_another_run(
    tmp_path: Path,
) -> None:
    scripted = effects(Goal(signals=("DONE",), checks=("make test",)))
    scripted.runs = [[*BEGIN, SAYS_DONE, limit(scripted.world), turn(ok=False)]]
    scripted.checks = [True]
    loop, _ = play(scripted, tmp_path)
    assert (loop.end, len(loop.state.attempts)) == ("done", 1)


def test_a_limit_before_the_signal_leaves_the_check_out(tmp_path: Path) -> None:
    scripted = effects(Goal(signals=("DONE",), checks=("make test",)))
    scripted.runs = [[*BEGIN, limit(scripted.world), turn(ok=False)], [*BEGIN, SAYS_DONE, turn()]]
    scripted.checks = [True]
    loop, _ = play(scripted, tmp_path)
    assert (loop.end, [len(a.checks) for a in loop.state.attempts]) == ("done", [0, 1])
    assert loop.state.iterations == 1


def test_limits_use_up_no_iteration_however_many_there_are(tmp_path: Path) -> None:
    scripted = effects(Goal(signals=("DONE",)), ceilings=Ceilings(iterations=1))
    scripted.runs = [[*BEGIN, limit(scripted.world), turn(ok=False)]] * 5
    scripted.runs.append([*BEGIN, SAYS_DONE, turn()])
    loop, _ = play(scripted, tmp_path)
    assert (loop.end, loop.state.iterations, len(loop.state.attempts)) == ("done", 1, 6)


def test_a_run_gets_what_is_left(tmp_path: Path) -> None:
    most = Ceilings(iterations=2, time_s=100, cost_usd=1.0, tokens=1000, turns=10)
    scripted = effects(Goal(until="DONE"), ceilings=most)
    scripted.runs = [[*BEGIN, turn()], [*BEGIN, turn()]]
    loop, _ = play(scripted, tmp_path)
    first, second = (request.options for request in scripted.world.requests)
    assert (first.max_cost, first.timeout, first.loop) == (1.0, 100.0, (loop.name, 1))
    assert (second.max_cost, second.timeout, second.loop) == (0.75, 80.0, (loop.name, 2))


def test_a_run_that_cannot_be_started_is_reported_in_its_own_words(tmp_path: Path) -> None:
    scripted = effects(Goal(until="DONE"))
    scripted.runs = [NightrookError("no such flag")]
    loop, _ = play(scripted, tmp_path)
    assert (loop.end, loop.state.reason) == ("not_started", "no such flag")


def test_what_a_commit_leaves_out_is_reported(tmp_path: Path) -> None:
    scripted = effects(Goal(until="DONE"), commit=True)
    scripted.runs = [[*BEGIN, turn(text="DONE")]]
    scripted.commits = [Committed(commit="abc1234", left_out=(".env",))]
    loop, events = play(scripted, tmp_path)
    (ended,) = [event for event in events if isinstance(event, IterationFinished)]
    assert (ended.commit, ended.left_out, loop.end) == ("abc1234", (".env",), "done")


def test_work_that_cannot_be_committed_is_not_checked_and_counts(tmp_path: Path) -> None:
    scripted = effects(Goal(until="DONE", checks=("make test",)), commit=True)
    scripted.runs = [[*BEGIN, turn(text="DONE")]]
    scripted.commits = [GitError("git commit failed: no space")]
    loop, _ = play(scripted, tmp_path)
    assert (loop.end, loop.state.reason) == ("not_started", "git commit failed: no space")
    assert (loop.state.spent_usd, loop.state.pending) == (0.25, None)


@pytest.mark.parametrize(
    ("check_first", "goal", "checks", "runs"),
    [
        (True, Goal(checks=("make test",)), [True], 0),
        (False, Goal(checks=("make test",)), [True], 1),
        (True, Goal(until="DONE", checks=("make test",)), [True, True], 1),  # it must say so too
        (True, Goal(checks=("make test",)), [False, True], 1),
        (True, Goal(until="DONE"), [], 1),
    ],
)
def test_checks_that_pass_before_the_first_iteration_end_the_loop(
    check_first: bool, goal: Goal, checks: list[bool], runs: int, tmp_path: Path
) -> None:
    scripted = effects(goal, check_first=check_first)
    scripted.runs, scripted.checks = [[*BEGIN, turn(text="DONE")]], checks
    loop, _ = play(scripted, tmp_path)
    assert (loop.end, len(loop.state.attempts), scripted.checks) == ("done", runs, [])


def test_work_that_is_not_committed_is_not_done_whatever_the_checks_say(tmp_path: Path) -> None:
    scripted = effects(Goal(checks=("make test",)), commit=True, check_first=True)
    scripted.runs = [[*BEGIN, turn()], [*BEGIN, turn()]]
    scripted.checks = [False, True, True]
    scripted.commits = [GitError("git commit failed: no space"), Committed(commit="abc1234")]
    first, _ = play(scripted, tmp_path)
    assert first.end == "not_started"
    folder = LOOP_FOLDERS.find(tmp_path, first.name)
    folder.save_state(first.state.reopened(scripted.world.now))
    again, _ = continued(folder, scripted)
    assert (again.end, [a.commit for a in again.state.attempts]) == ("done", [None, "abc1234"])
