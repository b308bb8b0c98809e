"""Drives a loop: asks the rules, moves the hands, keeps the state, tells every step."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, suppress
from typing import Self

import msgspec

from rookery.loops.effects import Hands, Order
from rookery.loops.events import (
    EXIT_CODES,
    INSIDE,
    CheckFinished,
    CheckStarted,
    Decision,
    End,
    IterationFinished,
    IterationStarted,
    LoopEvent,
    LoopFinished,
    LoopStarted,
    Resumed,
    Waiting,
)
from rookery.loops.plan import LoopPlan
from rookery.loops.prompts import prompt_for
from rookery.loops.rules import may_begin, next_step
from rookery.loops.state import Attempt, Begun, Check, LoopState, Report, Wait
from rookery.loops.store import LoopFolder
from rookery.model.errors import RookeryError
from rookery.model.safe import safe_line
from rookery.model.text import count

_LOOK_S = 30.0  # the wall clock is looked at this often while the loop waits
_HEED_S = 0.5
_TELL_S = 600.0
_LEAST_RUN_S = 1.0
_MOST_UNREAD = 10_000  # beyond it, what the agent inside does is only in the log
_MOST_NAMED = 5
_UNCHECKED = frozenset({"limited", "interrupted", "not_started"})


class ForeignChangesError(RookeryError):
    """A commit would take in what the agent did not change."""

    def __init__(self, loop: str, files: Sequence[str]) -> None:
        named = ", ".join(safe_line(name) for name in files[:_MOST_NAMED])
        rest = f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else ""
        super().__init__(
            f"these changes are not committed, and --commit would mix them with the agent's: "
            f"{named}{rest}; commit or stash them, then  rook loop --resume {loop}"
        )


class Loop:
    """One loop, from its first iteration or from where a crash left it.

    Use it in `async with`, and iterate over its events; leaving the block ends it.
    """

    def __init__(self, folder: LoopFolder, hands: Hands) -> None:
        self.folder = folder
        self.plan: LoopPlan = folder.plan()
        self.hands = hands
        found = folder.state()
        self.state = found or LoopState(started_at=hands.now(), agent=self.plan.agent)
        self._resumed = found is not None
        self._events: asyncio.Queue[LoopEvent | None] = asyncio.Queue()
        self._driving: asyncio.Task[None] | None = None
        self._heeding: asyncio.Task[None] | None = None
        self._waking = asyncio.Event()
        self._interrupted = False
        self._held = ExitStack()

    @property
    def name(self) -> str:
        """What the loop is called."""
        return self.folder.name

    @property
    def end(self) -> End | None:
        """How it ended; None while it goes on."""
        return self.state.end

    @property
    def exit_code(self) -> int | None:
        """The exit code that tells how it ended; None while it goes on."""
        return None if self.state.end is None else EXIT_CODES[self.state.end]

    @property
    def spent_usd(self) -> float:
        """What is known to have been spent by now, by the run that is at work too."""
        return self.state.spent_usd + self.hands.spent()

    async def __aenter__(self) -> Self:
        with ExitStack() as held:
            held.enter_context(self.folder.locked())
            if self._resumed and self.plan.commit and not self.plan.worktree:
                await self._refuse_foreign()
            self._held = held.pop_all()
        self._driving = asyncio.create_task(self._drive())
        self._heeding = asyncio.create_task(self._heed(self.folder.stop_word()))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._driving is not None and not self._driving.done():
            self.stop()
        try:
            await self.wait()
        finally:
            if self._heeding is not None:
                self._heeding.cancel()
            self._held.close()
            self.folder.close()

    async def __aiter__(self) -> AsyncIterator[LoopEvent]:
        """Give the events from the first on; for one reader."""
        while (event := await self._events.get()) is not None:
            yield event

    async def wait(self) -> End:
        """Wait for the end of the loop."""
        assert self._driving is not None
        await self._driving
        assert self.state.end is not None
        return self.state.end

    def stop(self) -> None:
        """End the loop: the agent is asked to end, and the second time made to."""
        self._interrupted = True
        self._waking.set()
        self.hands.stop()

    async def _heed(self, known: bytes | None) -> None:
        """Stop when somebody asks for it by the folder.

        Not by a signal: the process may be a batch, or a program of the user's with other work.
        """
        with suppress(RookeryError):  # the folder is gone: whoever next keeps the state says so
            while True:
                await asyncio.sleep(_HEED_S)
                if (word := self.folder.stop_word()) != known:
                    known = word
                    self.stop()

    async def _drive(self) -> None:
        try:
            if not self.state.is_over:
                self.state = self.state.reopened(self.hands.now())
                self._keep()
                self._tell(
                    LoopStarted(
                        at=self.hands.now(),
                        loop=self.name,
                        agent=self.state.agent,
                        ceilings=self.plan.ceilings,
                        resumed=self._resumed,
                        iterations=self.state.iterations,
                        worktree=str(self.folder.worktree) if self.plan.worktree else None,
                        branch=self.folder.branch if self.plan.worktree else None,
                    )
                )
                await self._recover()
                while self.state.end is None:
                    await self._step()
        finally:
            self._events.put_nowait(None)

    async def _refuse_foreign(self) -> None:
        """Go on only if no commit would mix changes of the user's with the agent's."""
        if found := await self.hands.foreign(self.state.begun):
            raise ForeignChangesError(self.name, found)

    async def _recover(self) -> None:
        """Take up what a crash cut off: a run that was begun, or a wait."""
        begun = self.state.begun
        if begun is not None:
            report = await self.hands.recover(begun)
            if report is not None:
                await self._finish_iteration(begun, report)
        elif self.state.last is not None and self.state.last.is_half_checked:
            await self._check_again(self.state.last)

    async def _check_again(self, last: Attempt) -> None:
        """Have the checks tell what an interrupt kept them from telling."""
        told = msgspec.structs.replace(last, checks=await self._checks(last.iteration), why="")
        attempts = (*self.state.attempts[:-1], told)
        self.state = msgspec.structs.replace(self.state, attempts=attempts)
        self._decide()

    async def _step(self) -> None:
        """Wait if a wait is due, then run the agent once more, unless a rule says no."""
        if self.state.wait is not None:
            await self._wait_out(self.state.wait)
        if self._interrupted:
            self._finish("interrupted", "it was interrupted")
            return
        now = self.hands.now()
        decision = may_begin(self.plan, self.state, now=now, chance=self.hands.chance())
        if decision.step == "finish":
            self._follow(decision)
            return
        begun = self.state.begun or Begun(
            id=len(self.state.attempts) + 1,
            iteration=self.state.iterations + 1,
            agent=self.state.agent,
            started_at=now,
            nonce=self.hands.word(),
            before=self.hands.mark(),
        )
        self._keep(begun=begun)
        self._tell(
            IterationStarted(at=now, iteration=begun.iteration, attempt=begun.id, agent=begun.agent)
        )
        await self._finish_iteration(begun, await self._run(begun))

    async def _run(self, begun: Begun) -> Report:
        try:
            return await self.hands.run(self._order(begun), self._tell)
        except RookeryError as error:  # the agent, its flags or the prompt file are not as asked
            now = self.hands.now()
            return Report(
                status="not_started", sentence=str(error), started_at=begun.started_at, ended_at=now
            )

    def _order(self, begun: Begun) -> Order:
        ceilings, state = self.plan.ceilings, self.state
        time_left = ceilings.time_s - state.elapsed_s(self.hands.now())
        allowed = self.plan.iteration_s
        resumable = self.plan.continue_session and state.last is not None
        fitting = resumable and state.last is not None and state.last.report.session is not None
        return Order(
            begun=begun,
            prompt=prompt_for(
                self.plan,
                self.hands.prompt(),
                iteration=begun.iteration,
                nonce=begun.nonce,
                before=state.told,
                left=self._left(),
            ),
            max_cost=max(0.0, ceilings.cost_usd - state.spent_usd),
            max_tokens=max(1, ceilings.tokens - state.tokens),
            max_turns=max(1, ceilings.turns - state.turns),
            timeout_s=max(_LEAST_RUN_S, min(time_left, allowed or time_left)),
            resume=state.last.report.run if fitting and state.last is not None else None,
        )

    def _left(self) -> str:
        ceilings = self.plan.ceilings
        iterations = ceilings.iterations - self.state.iterations
        money = max(0.0, ceilings.cost_usd - self.state.spent_usd)
        return f"{count(iterations, 'iteration')}, ${money:.2f}"

    async def _finish_iteration(self, begun: Begun, report: Report) -> None:
        """Check what a run did, keep it, and decide."""
        changed = self.hands.change(begun.before)
        commit = None
        if self.plan.commit:
            commit = self.hands.commit(f"rook {self.name}: iteration {begun.iteration}")
        self._tell(
            IterationFinished(
                at=self.hands.now(),
                iteration=begun.iteration,
                attempt=begun.id,
                agent=begun.agent,
                run=report.run,
                status=report.status,
                sentence=report.sentence,
                duration_s=max(0.0, report.ended_at - report.started_at),
                spent_usd=report.spent_usd,
                cost_source=report.cost_source,
                tokens=report.tokens,
                turns=report.turns,
                said_done=report.said_done,
                files=changed.files if changed else report.files_changed,
                added=changed.added if changed else None,
                removed=changed.removed if changed else None,
                commit=commit,
            )
        )
        unchecked = report.status in _UNCHECKED
        attempt = Attempt(
            id=begun.id,
            iteration=begun.iteration,
            agent=begun.agent,
            report=report,
            checks=() if unchecked else await self._checks(begun.iteration),
            change=changed,
            commit=commit,
        )
        self.state = msgspec.structs.replace(
            self.state, attempts=(*self.state.attempts, attempt), begun=None
        )
        self._decide()

    def _decide(self) -> None:
        """Ask the rules what is next after a run, and do it."""
        now, chance = self.hands.now(), self.hands.chance()
        self._follow(next_step(self.plan, self.state, now=now, chance=chance))

    async def _checks(self, iteration: int) -> tuple[Check, ...]:
        """Run the checks, as far as no interrupt forestalls them."""
        done: list[Check] = []
        for command in self.plan.goal.checks:
            if self._interrupted:
                done.append(Check(command=command, ok=False, stopped="interrupted"))
            else:
                done.append(await self._check(iteration, command))
        return tuple(done)

    async def _check(self, iteration: int, command: str) -> Check:
        self._tell(CheckStarted(at=self.hands.now(), iteration=iteration, command=command))
        check = await self.hands.check(command)
        self._tell(
            CheckFinished(
                at=self.hands.now(),
                iteration=iteration,
                command=command,
                ok=check.ok,
                exit_code=check.exit_code,
                stopped=check.stopped,
                duration_s=check.duration_s,
                output=check.output[-2000:],
            )
        )
        return check

    def _follow(self, decision: Decision) -> None:
        """Tell a decision, and keep what it means together with what led to it."""
        self._tell(decision)
        last = self.state.last
        if last is not None and not last.why:
            why = msgspec.structs.replace(last, why=decision.reason)
            attempts = (*self.state.attempts[:-1], why)
            self.state = msgspec.structs.replace(self.state, attempts=attempts)
        if decision.step == "finish":
            assert decision.end is not None
            self._finish(decision.end, decision.reason)
        elif decision.step == "wait":
            assert decision.until is not None
            now = self.hands.now()
            self._keep(wait=Wait(since=now, until=decision.until, reason=decision.reason))
        elif decision.step == "switch":
            self._keep(agent=decision.agent)
        else:
            self._keep()

    async def _wait_out(self, wait: Wait) -> None:
        """Wait by the wall clock, looked at again and again: the machine may sleep."""
        told: float | None = None
        while (now := self.hands.now()) < wait.until and not self._interrupted:
            if told is None or now - told >= _TELL_S or now < told:
                told = now
                left = wait.until - now
                self._tell(Waiting(at=now, until=wait.until, left_s=left, reason=wait.reason))
            await self._nap(min(_LOOK_S, wait.until - now))
        if not self._interrupted:
            now = self.hands.now()
            self._tell(Resumed(at=now, waited_s=max(0.0, now - wait.since)))
            self._keep(wait=None)

    async def _nap(self, seconds: float) -> None:
        sleeping = asyncio.ensure_future(self.hands.sleep(seconds))
        waking = asyncio.ensure_future(self._waking.wait())
        try:
            await asyncio.wait((sleeping, waking), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sleeping, waking):
                task.cancel()
            await asyncio.gather(sleeping, waking, return_exceptions=True)

    def _finish(self, end: End, reason: str) -> None:
        now = self.hands.now()
        wait = self.state.wait if end == "interrupted" else None  # it may go on
        self._keep(end=end, reason=reason, ended_at=now, wait=wait)
        self._tell(
            LoopFinished(
                at=now,
                loop=self.name,
                end=end,
                exit_code=EXIT_CODES[end],
                reason=reason,
                iterations=self.state.iterations,
                duration_s=self.state.elapsed_s(now),
                spent_usd=self.state.spent_usd if self.state.attempts else None,
                cost_source=self.state.cost_source,
                unknown_costs=self.state.unknown_costs,
            )
        )

    def _keep(self, **changes: object) -> None:
        self.state = msgspec.structs.replace(self.state, **changes)
        self.folder.save(self.state)

    def _tell(self, event: LoopEvent) -> None:
        self.folder.tell(event)
        if not isinstance(event, INSIDE) or self._events.qsize() < _MOST_UNREAD:
            self._events.put_nowait(event)
