"""How a loop waits: until a time of day, by a clock that cannot be set."""

import asyncio
import time
from itertools import pairwise
from pathlib import Path

import pytest

from nightrook.loops.ceilings import Ceilings
from nightrook.loops.events import LoopEvent, Resumed, Waiting
from nightrook.loops.loop import Loop
from nightrook.loops.plan import Goal, make_plan
from nightrook.loops.storage import LOOP_FOLDERS
from nightrook.loops.waiting import SteadyClock
from nightrook.model.events import Event, LimitReported, SessionStarted, TurnFinished, TurnStarted
from tests.loops.fake import FakeEffects, World, report_of

HOUR = 3600.0


class Slept:
    """A loop that meets one limit and then is done; naps go as a list of extra sleep says."""

    def __init__(
        self,
        home: Path,
        *,
        resets_in: float,
        extra: dict[int, float],
        time_s: float = 48 * HOUR,
    ) -> None:
        self.world = World()
        plan = make_plan(
            agent="claude",
            cwd="/",
            prompt="p",
            goal=Goal(until="DONE"),
            ceilings=Ceilings(time_s=time_s),
        )
        self.folder = LOOP_FOLDERS.create(home, plan)
        self.effects = FakeEffects(plan, self.world)
        self.resets_at = self.world.now + resets_in
        self.extra = extra
        self.naps = 0
        self.begun: list[float] = []
        self.events: list[LoopEvent] = []

    async def play(self) -> Loop:
        async with Loop(self.folder, self.effects) as loop:
            reading = asyncio.create_task(self._read(loop))
            while loop.end is None:
                await asyncio.sleep(0)
                self._answer()
            await reading
        return loop

    async def _read(self, loop: Loop) -> None:
        self.events = [event async for event in loop]

    def _answer(self) -> None:
        if self.effects.asked is None or self.effects.asked[2].done():
            return
        kind, what, answer = self.effects.asked
        if kind == "sleep":
            extra = self.extra.get(self.naps, 0.0)
            self.world.pass_time(what + max(0.0, extra), clock_set_by=min(0.0, extra))
            self.naps += 1
            answer.set_result(None)
        elif kind == "run":
            self.begun.append(self.world.now)
            first = len(self.begun) == 1
            limit = LimitReported(status="rejected", resets_at=self.resets_at)
            ended = TurnFinished(ok=not first, text=None if first else "DONE")
            events: list[Event] = [SessionStarted(), TurnStarted(), ended]
            if first:
                events.insert(2, limit)
            told = report_of(self.effects.plan, what.pending, events, ended_at=self.world.now)
            answer.set_result(told)


@pytest.mark.parametrize(
    ("resets_in", "extra"),
    [
        (1.0, {}),
        (300.0, {}),
        (5 * HOUR, {}),
        (10 * HOUR, {3: 8 * HOUR}),  # the machine sleeps for eight hours
        (10 * HOUR, {0: 4 * HOUR, 9: 4 * HOUR}),
        (2 * HOUR, {5: -HOUR}),  # the clock is set back
        (2 * HOUR, {5: HOUR}),
    ],
)
def test_never_early_and_at_most_ninety_seconds_late(
    tmp_path: Path, resets_in: float, extra: dict[int, float]
) -> None:
    slept = Slept(tmp_path, resets_in=resets_in, extra=extra)
    loop = asyncio.run(slept.play())
    assert loop.end == "done"
    late = slept.begun[1] - slept.resets_at
    assert 0 <= late <= 90
    assert loop.state.iterations == 1


def test_a_machine_that_slept_through_the_end_continues_as_it_wakes(tmp_path: Path) -> None:
    slept = Slept(tmp_path, resets_in=HOUR, extra={2: 8 * HOUR})
    asyncio.run(slept.play())
    assert slept.naps == 3  # it woke, looked at the clock, and did not wait another minute


def test_a_wait_is_reported_at_once_and_every_ten_minutes(tmp_path: Path) -> None:
    slept = Slept(tmp_path, resets_in=HOUR, extra={})
    asyncio.run(slept.play())
    told = [event.left_s for event in slept.events if isinstance(event, Waiting)]
    assert told[0] == HOUR + 60
    assert [round(a - b) for a, b in pairwise(told)] == [600] * 6
    (over,) = [event for event in slept.events if isinstance(event, Resumed)]
    assert over.waited_s == pytest.approx(HOUR + 60)


def test_a_clock_that_is_set_back_does_not_stretch_the_loop_s_time(tmp_path: Path) -> None:
    slept = Slept(tmp_path, resets_in=HOUR, extra={5: -24 * HOUR}, time_s=2 * HOUR)
    started = slept.world.steady
    loop = asyncio.run(slept.play())
    assert (loop.end, len(slept.begun)) == ("ceiling", 1)
    assert slept.world.steady - started == 2 * HOUR
    assert loop.state.elapsed_s(0.0) == 2 * HOUR


def test_a_clock_that_is_set_ahead_does_not_use_up_the_loop_s_time(tmp_path: Path) -> None:
    slept = Slept(tmp_path, resets_in=HOUR, extra={}, time_s=2 * HOUR)
    slept.world.pass_time(0.0, clock_set_by=24 * HOUR)
    slept.resets_at = slept.world.now + HOUR
    loop = asyncio.run(slept.play())
    assert loop.end == "done"


def test_it_does_not_follow_a_clock_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SteadyClock()
    before = clock.now()
    for wrong in (0.0, 1e10):
        monkeypatch.setattr(time, "time", lambda wrong=wrong: wrong)
        assert before <= clock.now() < before + 3600
