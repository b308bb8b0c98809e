"""Drives a loop: asks the rules, runs iterations, waits, and ends at the first reason to."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from typing import Self

import msgspec

from nightrook.loops.effects import Effects
from nightrook.loops.events import Decision, LoopEvent, LoopFinished, LoopStarted
from nightrook.loops.iteration import Iterations
from nightrook.loops.plan import LoopPlan
from nightrook.loops.progress import Progress
from nightrook.loops.rules import Moment, after_first_checks, after_run, before_run
from nightrook.loops.state import LoopState, Wait
from nightrook.loops.storage import LoopFolder
from nightrook.loops.waits.stop_requests import obey_stop_requests
from nightrook.loops.waits.wall_clock import wait_until
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe_line
from nightrook.model.sentences import interrupted_by
from nightrook.model.status import LOOP_EXIT_CODES, LoopEnd
from nightrook.model.text import suggested

_MOST_NAMED = 5


class ForeignChangesError(NightrookError):
    """A commit would include changes that the agent did not make."""

    def __init__(self, loop: str, files: Sequence[str]) -> None:
        named = ", ".join(safe_line(name) for name in files[:_MOST_NAMED])
        rest = f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else ""
        super().__init__(
            f"these changes are not committed, and --commit would mix them with the agent's: "
            f"{named}{rest}; commit or stash them, then  {suggested('loop', '--resume', loop)}"
        )


class Loop:
    """One loop, from its first iteration or from where it stopped.

    Use it in `async with`, and iterate over its events; leaving the block ends it.
    """

    def __init__(self, folder: LoopFolder, effects: Effects) -> None:
        self.folder = folder
        self.plan: LoopPlan = folder.plan()
        self.effects = effects
        earlier = folder.state()
        started = LoopState(started_at=effects.steady(), agent=self.plan.run.agent)
        self._progress = Progress(folder, earlier or started, clock=effects.steady)
        self._resumed = earlier is not None
        self._stopping = asyncio.Event()
        self._stopped_by: str | None = None
        self._iterations = Iterations(
            self.plan, effects, self._progress, loop=self.name, stopped=self._stopping.is_set
        )
        self._tasks: list[asyncio.Task[None]] = []
        self._lock = ExitStack()

    @property
    def name(self) -> str:
        """The name of the loop."""
        return self.folder.name

    @property
    def state(self) -> LoopState:
        """What it has done so far."""
        return self._progress.state

    @property
    def end(self) -> LoopEnd | None:
        """How it ended; None while it runs."""
        return self.state.end

    @property
    def exit_code(self) -> int | None:
        """The exit code of how it ended; None while it runs."""
        return None if self.state.end is None else LOOP_EXIT_CODES[self.state.end]

    @property
    def spent_usd(self) -> float:
        """The sum of all known costs, including those of the current run."""
        return self.state.spent_usd + self.effects.spent()

    async def __aenter__(self) -> Self:
        with ExitStack() as lock:
            lock.enter_context(self.folder.locked())
            # A commit must not mix the user's changes with the agent's.
            pending, commits = self.state.pending, self._resumed and self.plan.commit
            if commits and (files := await self.effects.foreign_changes(pending)):
                raise ForeignChangesError(self.name, files)
            self._lock = lock.pop_all()
        self._tasks = [
            asyncio.create_task(self._drive()),
            asyncio.create_task(obey_stop_requests(self.folder, lambda: self.stop(by="rook stop"))),
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        driving, requests = self._tasks
        if not driving.done():
            self.stop()
        try:
            await self.wait()
        finally:
            requests.cancel()
            self._lock.close()
            self.folder.close()

    def __aiter__(self) -> AsyncIterator[LoopEvent]:
        """Yield the events from the first on, for one reader."""
        return self._progress.events()

    async def wait(self) -> LoopEnd:
        """Wait for the end of the loop."""
        await self._tasks[0]
        assert self.state.end is not None
        return self.state.end

    def stop(self, *, by: str | None = None) -> None:
        """End the loop: the agent is asked to end, and the second time it is killed.

        `by` is what stops it: the name of a signal that rook got, or `rook stop`.
        """
        if not self._stopping.is_set():
            self._stopped_by = by
        self._stopping.set()
        self.effects.stop(by=by)

    async def _drive(self) -> None:
        try:
            if not self.state.is_over:
                self._progress.state = self.state.reopened(self.effects.steady())
                self._progress.save()
                self._progress.emit(_started(self, resumed=self._resumed))
                if not await self._recover():  # guards: checks-before-paying
                    await self._check_first()
                while self.state.end is None:
                    await self._step()
        finally:
            self._progress.close()

    async def _recover(self) -> bool:
        """Count a run that a crash cut short, or repeat checks that an interrupt ended.

        Returns whether there was such a run or such checks.
        """
        pending, last = self.state.pending, self.state.last
        if pending is not None:
            report = await self.effects.recover(pending)
            if report is None:
                return False
            await self._iterations.finish(pending, report)
        elif last is not None and last.is_half_checked:
            checks = await self._iterations.check(last.iteration)
            self._progress.replace_last(msgspec.structs.replace(last, checks=checks, why=""))
        else:
            return False
        self._decide()
        return True

    async def _check_first(self) -> None:
        """Run the checks before the agent is paid for; end the loop if it has nothing to do."""
        if not self.plan.check_first or self._stopping.is_set():
            return
        checks = await self._iterations.check(self.state.iterations)
        if not self._stopping.is_set():
            moment = _moment(self.plan, self._progress, self.effects)
            if (decision := after_first_checks(moment, checks)) is not None:
                self._follow(decision)

    async def _step(self) -> None:
        """Wait if a wait is due, then run the agent once, unless a rule ends the loop."""
        if self.state.wait is not None:
            await self._wait(self.state.wait)
        if self._stopping.is_set():
            self._finish(
                "interrupted", f"{interrupted_by(self._stopped_by)}, between two iterations"
            )
            return
        decision = before_run(_moment(self.plan, self._progress, self.effects))
        if decision.step == "finish":
            self._follow(decision)
            return
        await self._iterations.run()
        self._decide()

    async def _wait(self, wait: Wait) -> None:
        effects, progress, most = self.effects, self._progress, self.plan.ceilings.time_s
        if await wait_until(
            wait,
            now=effects.now,
            time_left_s=lambda: most - progress.elapsed_s,
            sleep=effects.sleep,
            emit=progress.emit,
            stopping=self._stopping,
        ):
            self._progress.save(wait=None)

    def _decide(self) -> None:
        """Ask the rules what to do after a run, and do it."""
        moment = _moment(self.plan, self._progress, self.effects)
        self._follow(after_run(msgspec.structs.replace(moment, stopped_by=self._stopped_by)))

    def _follow(self, decision: Decision) -> None:
        """Emit a decision, and save what it means together with what led to it."""
        self._progress.emit(decision)
        last = self.state.last
        if last is not None and not last.why:
            self._progress.replace_last(msgspec.structs.replace(last, why=decision.reason))
        if decision.step == "finish":
            assert decision.end is not None
            self._finish(decision.end, decision.reason)
        elif decision.step == "wait":
            assert decision.until is not None
            wait = Wait(since=self.effects.now(), until=decision.until, reason=decision.reason)
            self._progress.save(wait=wait)
        elif decision.step == "switch":
            self._progress.save(agent=decision.agent)
        else:
            self._progress.save()

    def _finish(self, end: LoopEnd, reason: str) -> None:
        now = self.effects.now()
        wait = self.state.wait if end == "interrupted" else None  # it may be resumed
        ended_at = self.effects.steady()
        self._progress.save(end=end, reason=reason, ended_at=ended_at, wait=wait)
        state = self.state
        self._progress.emit(
            LoopFinished(
                at=now,
                loop=self.name,
                end=end,
                exit_code=LOOP_EXIT_CODES[end],
                reason=reason,
                iterations=state.iterations,
                duration_s=state.elapsed_s(now),
                spent_usd=state.spent_usd if state.attempts else None,
                cost_source=state.cost_source,
                unknown_costs=state.unknown_costs,
            )
        )


def _started(loop: Loop, *, resumed: bool) -> LoopStarted:
    in_worktree = loop.plan.worktree
    return LoopStarted(
        at=loop.effects.now(),
        loop=loop.name,
        agent=loop.state.agent,
        ceilings=loop.plan.ceilings,
        resumed=resumed,
        iterations=loop.state.iterations,
        worktree=str(loop.folder.worktree) if in_worktree else None,
        branch=loop.folder.branch if in_worktree else None,
    )


def _moment(plan: LoopPlan, progress: Progress, effects: Effects) -> Moment:
    return Moment(plan, progress.state, effects.now(), progress.elapsed_s, effects.random())
