"""Effects that a test controls: a fake clock, and runs, checks and sleeps that end on demand."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC
from typing import Any

from nightrook.loops.effects import Emit, RunRequest
from nightrook.loops.loop_runs import report
from nightrook.loops.plan import LoopPlan
from nightrook.loops.state import Change, Check, PendingRun, Report
from nightrook.model.events import Event
from nightrook.model.facts import NOTHING_KNOWN, Facts
from nightrook.model.fold import fold
from nightrook.model.records import Record
from nightrook.model.verdict import judge
from nightrook.runs.git.repository import Committed


class FakeEffects:
    """What the loop asks for is in `asked` until the test answers it."""

    def __init__(self, plan: LoopPlan, world: "World") -> None:
        self.plan = plan
        self.world = world
        self.asked: tuple[str, Any, asyncio.Future[Any]] | None = None
        self.stops = 0

    def now(self) -> float:
        return self.world.now

    def steady(self) -> float:
        return self.world.steady

    def random(self) -> float:
        return 1.0

    def completion_word(self) -> str:
        self.world.words += 1
        return f"DONE-{self.world.words:04d}"

    async def sleep(self, seconds: float) -> None:
        await self._ask("sleep", seconds)

    async def run(self, request: RunRequest, emit: Emit) -> Report:
        assert request.pending.id not in self.world.started, "run, and paid for, twice"
        self.world.started[request.pending.id] = None
        self.world.requests.append(request)
        report: Report = await self._ask("run", request)
        return report

    async def recover(self, pending: PendingRun) -> Report | None:
        if pending.id not in self.world.started:
            return None
        return self.world.started[pending.id] or self.world.cut_off(self.plan, pending)

    async def foreign_changes(self, pending: PendingRun | None) -> Sequence[str]:
        return ()

    async def check(self, command: str) -> Check:
        ok: bool = await self._ask("check", command)
        return Check(command=command, ok=ok, exit_code=0 if ok else 1, output=self.world.noise)

    def prompt(self) -> str:
        return self.plan.run.prompt or ""

    def spent(self) -> float:
        return 0.0

    def snapshot(self) -> Change | None:
        return Change(mark=str(self.world.edits))

    def change(self, before: Change | None) -> Change | None:
        now = Change(mark=str(self.world.edits))
        changed = before is not None and before.mark != now.mark
        return Change(files=1 if changed else 0, mark=now.mark)

    def commit(self, message: Callable[[Sequence[str]], str]) -> Committed:
        return Committed()

    def stop(self, *, by: str | None = None) -> None:
        self.stops += 1

    async def _ask(self, kind: str, what: object) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.asked = (kind, what, answer)
        try:
            return await answer
        finally:
            self.asked = None


class World:
    """The truth, whatever the loop believes: the clock, the files, and the runs that started."""

    def __init__(self) -> None:
        self.now = 1_794_000_000.0
        self.steady = self.now
        self.words = 0
        self.edits = 0
        self.noise = ""
        self.started: dict[int, Report | None] = {}
        self.requests: list[RunRequest] = []
        self.cut_off: Callable[[LoopPlan, PendingRun], Report] = cut_off_run

    def pass_time(self, seconds: float, *, clock_set_by: float = 0.0) -> None:
        """Let time pass; the clock on the wall may also be set."""
        self.steady += seconds
        self.now += seconds + clock_set_by


def state_of(*events: Event) -> Any:
    return fold(Record(n, None, 0, 0, event) for n, event in enumerate(events))


def report_of(
    plan: LoopPlan,
    pending: PendingRun,
    events: list[Event],
    *,
    ended_at: float,
    ending: Facts = NOTHING_KNOWN,
) -> Report:
    """The report of a run with these events."""
    state = state_of(*events)
    return report(
        state,
        judge(state, ending),
        goal=plan.goal,
        nonce=pending.nonce,
        run=f"r{pending.id}",
        started_at=pending.started_at,
        ended_at=ended_at,
        local=UTC,
    )


def cut_off_run(plan: LoopPlan, pending: PendingRun) -> Report:
    return Report(
        run=f"r{pending.id}",
        status="incomplete",
        sentence="its recorder or its runner died",
        started_at=pending.started_at,
        ended_at=pending.started_at,
    )
