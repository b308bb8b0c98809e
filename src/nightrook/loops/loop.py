"""Runs a loop: asks the rules, runs iterations, waits, and ends at the first reason to.

```
            ┌───────────────── wait ◀──────────────┐
            ▼                                      │
 recover ─▶ before_run ─▶ run ─▶ check ─▶ after_run┤
 (a crash)      │                                  ├─▶ switch to another agent, continue
                └───────────── finish ◀────────────┘
```

Three parts share the work. `Progress` holds the state and the events: what it changes is on disk
before anything that depends on it happens. `Iterations` runs the agent once, then checks and counts
the run. `Loop` drives them; it decides nothing itself but asks `nightrook.loops.rules`, which are
pure.

A crash may come between any two lines. A run is saved as `pending` before its agent starts, and
counted together with the decision about it, in one step. So a loop that is resumed finds either a
pending run, whose folder has the rest and which is not paid for again, or a decision that it
follows. Everything that is not a pure function of the state goes through
`nightrook.loops.effects`, so that tests play a loop of days in milliseconds.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Self

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from nightrook.config.options import RunOptions
from nightrook.loops.ceilings import LEAST
from nightrook.loops.commit_message import commit_message
from nightrook.loops.effects import Effects, RunRequest
from nightrook.loops.events import (
    AGENT_EVENTS,
    CheckFinished,
    CheckStarted,
    Decision,
    IterationFinished,
    IterationStarted,
    LoopEvent,
    LoopFinished,
    LoopStarted,
)
from nightrook.loops.plan import LoopPlan
from nightrook.loops.prompts import prompt_for
from nightrook.loops.rules import after_first_checks, after_run, before_run
from nightrook.loops.state import (
    Attempt,
    Change,
    Check,
    LoopState,
    Moment,
    PendingRun,
    Report,
    Wait,
)
from nightrook.loops.storage import LoopFolder
from nightrook.loops.waiting import wait_until
from nightrook.model.errors import NightrookError
from nightrook.model.limits import UNLIMITED, left, lowest
from nightrook.model.safe import safe_line
from nightrook.model.sentences import interrupted_by
from nightrook.model.status import LOOP_EXIT_CODES, LoopEnd
from nightrook.model.text import count, suggested
from nightrook.runs.git.git_command import GitError
from nightrook.runs.git.repository import Committed
from nightrook.store.stop_requests import obey_stop_requests

_MOST_UNREAD = 10_000  # beyond it, events of the agent are only in the log


class Progress:
    """The state of a loop on disk, and a queue of its events for one reader."""

    def __init__(self, folder: LoopFolder, state: LoopState, *, clock: Callable[[], float]) -> None:
        self.state = state
        self._folder = folder
        self._clock = clock
        self._unread: asyncio.Queue[LoopEvent | None] = asyncio.Queue()

    @property
    def elapsed_s(self) -> float:
        """The seconds that the loop has run until now."""
        return self.state.elapsed_s(self._clock())

    def save(self, **changes: object) -> None:
        """Change the state and write it to disk."""
        self.state = msgspec.structs.replace(self.state, saved_at=self._clock(), **changes)
        self._folder.save_state(self.state)

    def add_attempt(self, attempt: Attempt) -> None:
        """Count a run that has ended; the decision about it saves the state."""
        attempts = (*self.state.attempts, attempt)
        self.state = msgspec.structs.replace(self.state, attempts=attempts, pending=None)

    def replace_last(self, attempt: Attempt) -> None:
        """Replace the last attempt; the decision about it saves the state."""
        self.state = self.state.with_last(attempt)

    def emit(self, event: LoopEvent) -> None:
        """Write an event to the log and pass it to the reader."""
        self._folder.add_event(event)
        if not isinstance(event, AGENT_EVENTS) or self._unread.qsize() < _MOST_UNREAD:
            self._unread.put_nowait(event)

    def close(self) -> None:
        """End the events."""
        self._unread.put_nowait(None)

    async def events(self) -> AsyncIterator[LoopEvent]:
        """Yield the events from the first on, for one reader."""
        while (event := await self._unread.get()) is not None:
            yield event


_LONGEST_OUTPUT = 2000
_UNCHECKED = frozenset({"interrupted", "not_started"})


class Iterations:
    """Runs the iterations of one loop; `stopped` says whether the loop is to end."""

    def __init__(
        self,
        plan: LoopPlan,
        effects: Effects,
        progress: Progress,
        *,
        loop: str,
        stopped: Callable[[], bool],
    ) -> None:
        self._plan = plan
        self._effects = effects
        self._progress = progress
        self._loop = loop
        self._stopped = stopped

    async def run(self) -> None:
        """Run the agent once, or take up the run that a crash kept from starting."""
        state, now = self._progress.state, self._effects.now()
        pending = state.pending or PendingRun(
            id=len(state.attempts) + 1,
            iteration=state.iterations + 1,
            agent=state.agent,
            started_at=now,
            nonce=self._effects.completion_word(),
            before=self._effects.snapshot(),
        )
        self._progress.save(pending=pending)
        self._progress.emit(
            IterationStarted(
                at=now, iteration=pending.iteration, attempt=pending.id, agent=pending.agent
            )
        )
        await self.finish(pending, await self._report(pending))

    async def finish(self, pending: PendingRun, report: Report) -> None:
        """Check and count a run that has ended."""
        change = self._effects.change(pending.before)
        committed, problem = self._commit(pending, report.run)
        self._progress.emit(_finished(pending, report, change, committed, at=self._effects.now()))
        is_checked = problem is UNSET and _is_checked(report)
        self._progress.add_attempt(
            Attempt(
                id=pending.id,
                iteration=pending.iteration,
                agent=pending.agent,
                report=report,
                checks=await self.check(pending.iteration) if is_checked else (),
                change=change,
                commit=committed.commit,
                problem=problem,
            )
        )

    def _commit(self, pending: PendingRun, run: str | None) -> tuple[Committed, str | UnsetType]:
        """Commit the changes of a run, if requested; return why that failed, if it did."""
        if not self._plan.commit:
            return Committed(), UNSET
        message = partial(
            commit_message,
            self._task(),
            loop=self._loop,
            iteration=pending.iteration,
            run=run,
            environ=os.environ,
        )
        try:
            return self._effects.commit(message), UNSET
        except GitError as error:
            return Committed(), str(error)

    def _task(self) -> str:
        """The user's prompt; empty if its file cannot be read now."""
        try:
            return self._effects.prompt()
        except NightrookError:
            return ""

    async def check(self, iteration: int) -> tuple[Check, ...]:
        """Run the checks; those that come after an interrupt are not run."""
        results: list[Check] = []
        for command in self._plan.goal.checks:
            if self._stopped():
                results.append(Check(command=command, ok=False, stopped="interrupted"))
            else:
                results.append(await self._check(iteration, command))
        return tuple(results)

    async def _check(self, iteration: int, command: str) -> Check:
        emit, now = self._progress.emit, self._effects.now
        emit(CheckStarted(at=now(), iteration=iteration, command=command))
        check = await self._effects.check(command)
        emit(
            CheckFinished(
                at=now(),
                iteration=iteration,
                command=command,
                ok=check.ok,
                exit_code=check.exit_code,
                stopped=check.stopped,
                duration_s=check.duration_s,
                output=check.output[-_LONGEST_OUTPUT:],
            )
        )
        return check

    async def _report(self, pending: PendingRun) -> Report:
        try:
            request = self._request(pending)
            return await self._effects.run(request, self._progress.emit)
        except NightrookError as error:  # the agent, its flags or the prompt file are not as asked
            return Report(
                status="not_started",
                sentence=str(error),
                started_at=pending.started_at,
                ended_at=self._effects.now(),
            )

    def _request(self, pending: PendingRun) -> RunRequest:
        ceilings, state = self._plan.ceilings, self._progress.state
        limits = left(ceilings.limits, state.used(self._progress.elapsed_s), least=LEAST)
        if (iteration_s := self._plan.iteration_s) is not None:
            limits = lowest(limits, replace(UNLIMITED, time=max(LEAST.time, iteration_s)))
        prompt = prompt_for(
            self._plan,
            self._effects.prompt(),
            iteration=pending.iteration,
            nonce=pending.nonce,
            previous=state.for_next_prompt,
            left=_left(self._plan, state),
        )
        options = replace(
            _options_for(self._plan, pending.agent, state).with_limits(limits),
            prompt=prompt,
            loop=(self._loop, pending.id),
        )
        return RunRequest(pending=pending, options=options)


def _is_checked(report: Report) -> bool:
    """True if the checks run: after a limit only if the agent said before it that it is done."""
    if report.status == "limited":
        return report.said_done
    return report.status not in _UNCHECKED


def _options_for(plan: LoopPlan, agent: str, state: LoopState) -> RunOptions:
    """The options for an agent, with the session to continue, if the plan asks for that."""
    is_continued = plan.continue_session and agent == plan.run.agent
    return replace(plan.options_for(agent), resume=_resumable_run(state) if is_continued else None)


def _resumable_run(state: LoopState) -> str | None:
    """The last run, if its session can be resumed."""
    last = state.last
    return last.report.run if last is not None and last.report.session is not None else None


def _left(plan: LoopPlan, state: LoopState) -> str:
    iterations = plan.ceilings.iterations - state.iterations
    money = max(0.0, plan.ceilings.cost_usd - state.spent_usd)
    return f"{count(iterations, 'iteration')}, ${money:.2f}"


def _finished(
    pending: PendingRun, report: Report, change: Change | None, committed: Committed, *, at: float
) -> IterationFinished:
    return IterationFinished(
        at=at,
        iteration=pending.iteration,
        attempt=pending.id,
        agent=pending.agent,
        run=report.run,
        status=report.status,
        sentence=report.sentence,
        duration_s=report.duration_s,
        spent_usd=report.spent_usd,
        cost_source=report.cost_source,
        tokens=report.tokens,
        turns=report.turns,
        said_done=report.said_done,
        files=change.files if change else report.files_changed,
        added=change.added if change else None,
        removed=change.removed if change else None,
        commit=committed.commit,
        left_out=committed.left_out,
    )


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
        """The state of the loop."""
        return self._progress.state

    @property
    def end(self) -> LoopEnd | None:
        """The end of the loop; None while it runs."""
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
        """Apply the rules after a run, and take the step they decide on."""
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
