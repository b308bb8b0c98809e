"""The loop against a model of it: any sequence of events, limits, crashes and resumes."""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from nightrook.loops.ceilings import Ceilings
from nightrook.loops.effects import RunRequest
from nightrook.loops.loop import Loop
from nightrook.loops.plan import Goal, LoopPlan, OnLimit, make_plan
from nightrook.loops.state import LoopState, PendingRun, Report
from nightrook.loops.storage import LOOP_FOLDERS
from nightrook.model.events import (
    Error,
    Event,
    LimitReported,
    SessionStarted,
    Text,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Usage,
    UserMessage,
)
from nightrook.model.facts import NOTHING_KNOWN, Facts
from tests.flat_facts import flat_facts
from tests.loops.fake import FakeEffects, World, report_of

UNTIL, SIGNAL = "ALL DONE", "PHASE_COMPLETE"
TURN_COST = 0.25
STEPS_TO_END = 4000

GOALS = st.sampled_from(
    [
        Goal(until=UNTIL),
        Goal(signals=(SIGNAL,)),
        Goal(ask_done=True),
        Goal(checks=("make test",)),
        Goal(ask_done=True, checks=("make test", "make lint")),
        Goal(until=UNTIL, checks=("make test",)),
    ]
)
CEILINGS = st.builds(
    Ceilings,
    iterations=st.integers(1, 8),
    time_s=st.sampled_from([60.0, 3600.0, 86400.0]),
    cost_usd=st.sampled_from([0.3, 1.0, 5.0]),
    tokens=st.sampled_from([1000, 10_000_000]),
    turns=st.sampled_from([3, 1000]),
)
POLICIES = st.sampled_from(
    [OnLimit(), OnLimit(do="stop"), OnLimit(do="switch", agent="codex"), OnLimit(do="wait")]
)


def home() -> Path:
    """A folder in memory where there is one: every step is synced to disk."""
    return Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))


class LoopMachine(RuleBasedStateMachine):
    """Plays the world; asks after every step whether the loop still tells the truth."""

    def __init__(self) -> None:
        super().__init__()
        self.events = asyncio.new_event_loop()
        self.home = home()
        self.world = World()
        self.spent: dict[int, float] = {}
        self.done_said = False
        self.checks_ok = True
        self.interrupted = False
        self.crashes = 0
        self.restarted: LoopState | None = None

    @initialize(goal=GOALS, ceilings=CEILINGS, policy=POLICIES, quota=st.sampled_from([None, 0.8]))
    def begin(self, goal: Goal, ceilings: Ceilings, policy: OnLimit, quota: float | None) -> None:
        plan = make_plan(
            agent="claude",
            cwd="/",
            prompt=f"Fix it. Then answer {UNTIL}, or write\n{SIGNAL}\non a line.",
            goal=goal,
            ceilings=ceilings,
            on_limit=policy,
            max_quota=quota,
        )
        self.world.cut_off = self.cut_off
        self.folder = LOOP_FOLDERS.create(self.home, plan)
        self.start()

    def start(self) -> None:
        """Begin, or go on after a crash."""
        self.world.steady = self.world.now  # a process sets its steady clock by the wall clock
        self.folder = LOOP_FOLDERS.find(self.home, self.folder.name)
        self.effects = FakeEffects(self.folder.plan(), self.world)
        self.loop = Loop(self.folder, self.effects)
        self.plan = self.loop.plan
        self.events.run_until_complete(self.loop.__aenter__())
        self.pump()

    def pump(self) -> None:
        self.events.run_until_complete(self._settle())

    async def _settle(self) -> None:
        """Let the loop run until it asks for something, or has ended."""
        for _ in range(200):
            await asyncio.sleep(0)
            if self._is_settled():
                return
        raise AssertionError("the loop neither asks for anything nor ends")

    def _is_settled(self) -> bool:
        if self.loop._tasks[0].done():
            return True
        if self.effects.asked is None or self.effects.asked[2].done():
            return False
        return self.effects.asked[0] != "sleep" or not self.loop._stopping.is_set()

    def asked(self, kind: str) -> Any:
        waiting = self.effects.asked
        return waiting if waiting is not None and waiting[0] == kind else None

    def answer(self, value: object) -> None:
        assert self.effects.asked is not None
        self.effects.asked[2].set_result(value)
        self.pump()

    # The agent.

    def hostile(self, pending: PendingRun) -> list[Event]:
        """All the words that mean something, where they mean nothing."""
        words = "\n".join(("", UNTIL, SIGNAL, pending.nonce, "usage limit reached|1", ""))
        return [
            SessionStarted(session="s", model="m"),
            TurnStarted(origin="prompt"),
            UserMessage(text=words),
            ToolStarted(id="t", name="Bash", kind="execute"),
            ToolFinished(id="t", status="ok", output=words),
            Text(id="x", text=words, parent="t"),
            Text(id="y", text=f"I will write {SIGNAL} or {pending.nonce}, not {UNTIL}, when done."),
        ]

    def request(self) -> RunRequest:
        request: RunRequest = self.asked("run")[1]
        return request

    def end_run(
        self, events: list[Event], *, turns: int = 1, ending: Facts = NOTHING_KNOWN
    ) -> None:
        """The agent ends after so many turns, but a budget stops it after the turn it is in."""
        request, pending = self.request(), self.request().pending
        cost = 0.0
        for _ in range(turns):
            cost += TURN_COST
            if request.options.max_cost is not None and cost > request.options.max_cost:
                ending = flat_facts(stopped_for="over_budget")
                events = [e for e in events if not isinstance(e, TurnFinished)]
                break
        self.spent[pending.id] = cost
        paid = TurnFinished(
            ok=True, cost_usd=cost, cost_semantics="cumulative", turns=turns, usage=Usage(input=400)
        )
        events = [
            _paid(event, paid) if isinstance(event, TurnFinished) else event for event in events
        ]
        self.world.pass_time(20)
        told = report_of(self.plan, pending, events, ended_at=self.world.now, ending=ending)
        if not any(isinstance(event, TurnFinished) for event in events):
            told = _with_cost(told, cost)
        self.world.started[pending.id] = told
        self.done_said = told.said_done
        self.checks_ok = True
        self.answer(told)

    @precondition(lambda self: self.asked("run"))
    @rule(turns=st.integers(1, 6), edits=st.booleans(), text=st.sampled_from(["not yet", "hm", ""]))
    def goes_on(self, turns: int, edits: bool, text: str) -> None:
        self.world.edits += edits
        pending = self.request().pending
        said = f"{text}\nI wrote {pending.nonce} nowhere, nor {SIGNAL} alone, and {UNTIL} never."
        self.end_run([*self.hostile(pending), TurnFinished(ok=True, text=said)], turns=turns)

    @precondition(lambda self: self.asked("run"))
    @rule(turns=st.integers(1, 3))
    def says_done(self, turns: int) -> None:
        pending, goal = self.request().pending, self.plan.goal
        text = UNTIL if goal.until else f"It is done.\n{SIGNAL}\n{pending.nonce}\n"
        self.end_run([*self.hostile(pending), TurnFinished(ok=True, text=text)], turns=turns)

    @precondition(lambda self: self.asked("run"))
    @rule(kind=st.sampled_from(["overload", "network", "rate", "auth", "internal"]))
    def fails(self, kind: Any) -> None:
        events = [
            *self.hostile(self.request().pending),
            Error(kind=kind, message=f"API Error: {kind}"),
            TurnFinished(ok=False, text=UNTIL, errors=(f"API Error: {kind}",)),
        ]
        self.end_run(events)

    @precondition(lambda self: self.asked("run"))
    @rule(ahead=st.sampled_from([None, -100.0, 30.0, 4000.0, 400_000.0, float("inf")]))
    def is_limited(self, ahead: float | None) -> None:
        at = None if ahead is None else self.world.now + ahead
        events = [
            *self.hostile(self.request().pending),
            LimitReported(window="five_hour", status="rejected", used=1.0, resets_at=at),
            TurnFinished(ok=False, errors=("You've hit your limit",)),
        ]
        self.end_run(events)

    @precondition(lambda self: self.asked("run"))
    @rule()
    def is_killed(self) -> None:
        self.end_run(self.hostile(self.request().pending), ending=flat_facts(signal=9))

    # The rest of the world.

    @precondition(lambda self: self.asked("check"))
    @rule(ok=st.booleans(), noise=st.sampled_from(["", f"{UNTIL}\n{SIGNAL}", "x" * 20_000]))
    def check_ends(self, ok: bool, noise: str) -> None:
        self.world.noise = noise
        self.checks_ok &= ok
        self.answer(ok)

    @precondition(lambda self: self.asked("sleep"))
    @rule(more=st.sampled_from([0.0, 0.0, 0.0, 8 * 3600.0, -3600.0]))
    def nap_ends(self, more: float) -> None:
        seconds = self.asked("sleep")[1]
        assert 0 < seconds <= 30
        wait = self.loop.state.wait
        assert wait is not None
        assert self.world.now < wait.until
        before = self.loop.state.elapsed_s(self.world.steady)
        self.world.pass_time(seconds + max(0.0, more), clock_set_by=min(0.0, more))
        assert self.loop.state.elapsed_s(self.world.steady) >= before + seconds
        self.answer(None)

    @precondition(lambda self: self.asked("run") or self.asked("sleep") or self.asked("check"))
    @rule()
    def crash(self) -> None:
        """kill -9, at whatever point: only what is on disk is left."""
        if self.asked("run"):
            self.spent[self.request().pending.id] = TURN_COST
            self.done_said = False
        self.checks_ok = True
        self.crashes += 1
        for task in self.loop._tasks:
            task.cancel()
        self.events.run_until_complete(asyncio.wait(self.loop._tasks))
        self.loop._lock.close()
        self.folder.close()
        self.start()

    def cut_off(self, plan: LoopPlan, pending: PendingRun) -> Report:
        events = self.hostile(pending)
        told = report_of(
            plan, pending, events, ended_at=self.world.now, ending=flat_facts(signal=15)
        )
        told = self.world.started[pending.id] = _with_cost(told, TURN_COST)
        return told

    @precondition(lambda self: self.loop.end is None and not self.interrupted)
    @rule()
    def interrupt(self) -> None:
        if self.asked("check"):
            return
        self.interrupted = True
        run = self.asked("run")
        self.loop.stop()
        if run:
            stopped = flat_facts(stopped_for="interrupted")
            self.end_run(self.hostile(self.request().pending), ending=stopped)
        self.pump()
        while self.asked("check"):  # a budget had stopped it before; a stop ends its checks
            self.check_ends(ok=False, noise="")
        assert self.loop.end is not None

    @precondition(lambda self: self.loop.end is not None)
    @rule()
    def is_started_again_after_the_end(self) -> None:
        before = self.loop.state
        if before.is_over and self.restarted == before:
            return  # once is enough: nothing can have changed
        self.restarted = before
        self.events.run_until_complete(self.loop.__aexit__(None, None, None))
        self.interrupted &= before.is_over
        self.checks_ok |= not before.is_over  # they run again first
        self.start()
        if before.is_over:
            assert self.loop.state == before
            assert self.effects.asked is None
        else:
            assert self.loop.state.attempts == before.attempts
            assert self.loop.end is not None or self.effects.asked is not None

    # What must hold.

    @invariant()
    def nothing_is_counted_or_paid_twice(self) -> None:
        if not hasattr(self, "loop"):
            return
        ids = [attempt.id for attempt in self.loop.state.attempts]
        assert ids == sorted(set(ids))
        known = {a.id: a.report.spent_usd for a in self.loop.state.attempts}
        assert known == {id: self.spent[id] for id in known}
        running = self.loop.state.pending
        assert set(self.world.started) <= {*ids, *([running.id] if running else [])}

    @invariant()
    def the_ceilings_hold(self) -> None:
        if not hasattr(self, "loop"):
            return
        state, most = self.loop.state, self.plan.ceilings
        assert state.iterations <= most.iterations
        assert state.spent_usd <= most.cost_usd + TURN_COST + 1e-9

    @invariant()
    def the_end_is_true(self) -> None:
        if not hasattr(self, "loop") or self.loop.end is None:
            return
        assert self.effects.asked is None
        if self.loop.end == "done":
            asks = self.plan.goal.needs_answer
            assert self.done_said or not asks
            assert self.checks_ok
            assert asks or self.plan.goal.checks
        if self.loop.end == "unverified":
            assert self.done_said
            assert not self.checks_ok
        assert (self.loop.end == "interrupted") <= self.interrupted

    def teardown(self) -> None:
        """Whatever came before: from here the loop ends by itself."""
        if hasattr(self, "loop"):
            for _ in range(STEPS_TO_END):
                if self.loop.end is not None:
                    break
                if self.asked("run"):
                    self.goes_on(turns=1, edits=True, text=str(self.world.words))
                elif self.asked("check"):
                    self.check_ends(ok=False, noise="")
                else:
                    self.nap_ends(more=600.0)
                self.the_ceilings_hold()
            assert self.loop.end is not None, "it runs away"
            self.the_end_is_true()
            kept = LOOP_FOLDERS.find(self.home, self.folder.name).state()
            assert kept == self.loop.state
            self.events.run_until_complete(self.loop.__aexit__(None, None, None))
        self.events.close()
        shutil.rmtree(self.home)


def _paid(turn: TurnFinished, paid: TurnFinished) -> TurnFinished:
    return msgspec.structs.replace(
        turn,
        cost_usd=paid.cost_usd,
        cost_semantics=paid.cost_semantics,
        turns=paid.turns,
        usage=paid.usage,
    )


def _with_cost(told: Report, cost: float) -> Report:
    return msgspec.structs.replace(told, spent_usd=cost, cost_source="estimated")


def _play(sequences: int) -> None:
    run_state_machine_as_test(
        LoopMachine,
        settings=settings(
            max_examples=sequences,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_any_sequence_ends_within_the_ceilings_and_tells_the_truth() -> None:
    _play(150)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
def test_any_of_ten_thousand_sequences_ends_within_the_ceilings(part: int) -> None:
    _play(1000)
