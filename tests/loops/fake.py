"""Hands that a test moves: a fake clock, and runs, checks and naps that end when it says so."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC
from typing import Any

from rookery.loops.effects import Order, Tell
from rookery.loops.plan import LoopPlan
from rookery.loops.report import report
from rookery.loops.state import Begun, Change, Check, Report
from rookery.model.events import Event
from rookery.model.fold import fold
from rookery.model.records import Record
from rookery.model.verdict import Ending, judge


class FakeHands:
    """What the loop asks for waits in `asked` until the test answers it."""

    def __init__(self, plan: LoopPlan, world: "World") -> None:
        self.plan = plan
        self.world = world
        self.asked: tuple[str, Any, asyncio.Future[Any]] | None = None
        self.stops = 0

    def now(self) -> float:
        return self.world.now

    def chance(self) -> float:
        return 1.0

    def word(self) -> str:
        self.world.words += 1
        return f"DONE-{self.world.words:04d}"

    async def sleep(self, seconds: float) -> None:
        await self._ask("sleep", seconds)

    async def run(self, order: Order, tell: Tell) -> Report:
        assert order.begun.id not in self.world.begun, "it is run, and paid, twice"
        self.world.begun[order.begun.id] = None
        self.world.orders.append(order)
        told: Report = await self._ask("run", order)
        return told

    async def recover(self, begun: Begun) -> Report | None:
        if begun.id not in self.world.begun:
            return None
        return self.world.begun[begun.id] or self.world.cut_off(self.plan, begun)

    async def foreign(self, begun: Begun | None) -> Sequence[str]:
        return ()

    async def check(self, command: str) -> Check:
        ok: bool = await self._ask("check", command)
        return Check(command=command, ok=ok, exit_code=0 if ok else 1, output=self.world.noise)

    def prompt(self) -> str:
        return self.plan.prompt

    def spent(self) -> float:
        return 0.0

    def mark(self) -> Change | None:
        return Change(mark=str(self.world.edits))

    def change(self, before: Change | None) -> Change | None:
        now = Change(mark=str(self.world.edits))
        changed = before is not None and before.mark != now.mark
        return Change(files=1 if changed else 0, mark=now.mark)

    def commit(self, message: str) -> str | None:
        return None

    def stop(self) -> None:
        self.stops += 1

    async def _ask(self, kind: str, what: object) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.asked = (kind, what, answer)
        try:
            return await answer
        finally:
            self.asked = None


class World:
    """What is true, whatever the loop believes: the clock, the files, and which runs there were."""

    def __init__(self) -> None:
        self.now = 1_794_000_000.0
        self.words = 0
        self.edits = 0
        self.noise = ""
        self.begun: dict[int, Report | None] = {}
        self.orders: list[Order] = []
        self.cut_off: Callable[[LoopPlan, Begun], Report] = cut_off_run


def state_of(*events: Event) -> Any:
    return fold(Record(n, None, 0, 0, event) for n, event in enumerate(events))


def report_of(
    plan: LoopPlan,
    begun: Begun,
    events: list[Event],
    *,
    ended_at: float,
    ending: Ending | None = None,
) -> Report:
    """The report of a run that told these events."""
    state = state_of(*events)
    return report(
        state,
        judge(state, ending),
        goal=plan.goal,
        nonce=begun.nonce,
        run=f"r{begun.id}",
        started_at=begun.started_at,
        ended_at=ended_at,
        local=UTC,
    )


def cut_off_run(plan: LoopPlan, begun: Begun) -> Report:
    return Report(
        run=f"r{begun.id}",
        status="incomplete",
        sentence="its recorder or its runner died",
        started_at=begun.started_at,
        ended_at=begun.started_at,
    )
