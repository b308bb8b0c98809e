"""What a loop does to the world: runs the agent, runs checks, sleeps, looks at files."""

import asyncio
import random
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, cast

import msgspec

from rookery.adapter.agent import Permission
from rookery.config.options import RunOptions
from rookery.loops import git
from rookery.loops.agent_activity import told
from rookery.loops.checks import run_check
from rookery.loops.current_run import folder_of
from rookery.loops.events import LoopEvent, StuckSuspected
from rookery.loops.file_listing import Listings
from rookery.loops.plan import LoopPlan
from rookery.loops.report import report
from rookery.loops.resets import SystemZone
from rookery.loops.state import Begun, Change, Check, Report
from rookery.model.errors import RookeryError, UnsupportedError
from rookery.model.state import RunState
from rookery.model.verdict import EXIT_CODES, Facts, Outcome, Verdict
from rookery.prices import PriceBook
from rookery.runs.healing import state_of
from rookery.runs.others import settle
from rookery.runs.run import Run
from rookery.runs.start import start
from rookery.runs.watchdog import Life
from rookery.store.runs import RunFolder

Tell = Callable[[LoopEvent], None]

_LOOK_S = 1.0
_NONCE_BYTES = 6


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """One run that the loop wants: what to say, and what is left to spend."""

    begun: Begun
    prompt: str
    max_cost: float | None
    max_tokens: int | None
    max_turns: int | None
    timeout_s: float
    resume: str | None
    """The run whose session is gone on with."""


class Hands(Protocol):
    """Everything in a loop that is not a pure function."""

    def now(self) -> float:
        """The wall clock."""

    def chance(self) -> float:
        """A random share."""

    def word(self) -> str:
        """A word nobody can guess."""

    async def sleep(self, seconds: float) -> None:
        """Wait; a machine that sleeps may make it longer."""

    async def run(self, order: Order, tell: Tell) -> Report:
        """Run the agent to its end."""

    async def recover(self, begun: Begun) -> Report | None:
        """Tell what became of a run that a crash cut off; None if it was never begun."""

    async def foreign(self, begun: Begun | None) -> Sequence[str]:
        """Files that a commit would take in though somebody else changed them."""

    async def check(self, command: str) -> Check:
        """Run a check."""

    def prompt(self) -> str:
        """The user's prompt, as it is now."""

    def mark(self) -> Change | None:
        """The state of the files."""

    def change(self, before: Change | None) -> Change | None:
        """What changed since then."""

    def commit(self, message: str) -> str | None:
        """Commit what changed."""

    def spent(self) -> float:
        """What the run that is at work is known to have spent so far."""

    def stop(self) -> None:
        """End what is running: asked first, insisted on the second time."""


class RealHands:
    """The hands of a loop that really runs."""

    def __init__(
        self, plan: LoopPlan, *, loop: str, home: Path, keep: Path, cwd: str | None = None
    ) -> None:
        self._plan = plan
        self._loop = loop
        self._home = home
        self._cwd = cwd or plan.cwd
        self._files = (
            git.Snapshots(self._cwd, keep)
            if git.is_watched(self._cwd)
            else Listings(self._cwd, keep, without=home)
        )
        self._going: Run | None = None
        self._checking: asyncio.Future[Check] | None = None
        self._stopped = False
        self.watch: Callable[[Run, int], object] | None = None
        """Called with each run as it begins, and its number in the loop, for those who show it."""

    def now(self) -> float:
        """The wall clock."""
        return time.time()

    def chance(self) -> float:
        """A random share."""
        return random.random()

    def word(self) -> str:
        """A word nobody can guess."""
        return f"DONE-{secrets.token_hex(_NONCE_BYTES)}"

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def check(self, command: str) -> Check:
        """Run a check; a stop ends it."""
        work = run_check(command, cwd=self._cwd, timeout_s=self._plan.check_s)
        self._checking = asyncio.ensure_future(work)
        try:
            return await self._checking
        except asyncio.CancelledError:
            if not self._stopped:
                raise
            return Check(command=command, ok=False, stopped="interrupted")
        finally:
            self._checking = None

    def prompt(self) -> str:
        """The user's prompt, read anew if it is in a file."""
        if self._plan.prompt_file is None:
            return self._plan.prompt
        try:
            return Path(self._plan.prompt_file).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            why = error.strerror or str(error)
            raise RookeryError(
                f"the prompt file {self._plan.prompt_file} is gone: {why}"
            ) from error

    def mark(self) -> Change | None:
        """The state of the files, as git tells it, or else the files themselves."""
        return self._files.take()

    def change(self, before: Change | None) -> Change | None:
        """What changed since then; None if nobody can tell."""
        return self._files.change(before)

    def commit(self, message: str) -> str | None:
        """Commit what changed."""
        return git.commit(self._cwd, message)

    def stop(self) -> None:
        """End the run or the check that is going on."""
        self._stopped = True
        if self._going is not None:
            self._going.stop()
        if self._checking is not None:
            self._checking.cancel()

    async def run(self, order: Order, tell: Tell) -> Report:
        """Run the agent to its end, watched for signs of life."""
        try:
            going = self._make(order, order.max_turns)
        except UnsupportedError:  # some agents' turns cannot be limited; the other ceilings hold
            going = self._make(order, None)
        async with going:
            self._going = going
            try:
                if self.watch is not None:
                    self.watch(going, order.begun.id)
                async with asyncio.TaskGroup() as group:
                    watching = group.create_task(self._watch_for_life(going, order, tell))
                    await self._pass_on(going, order, tell)
                    watching.cancel()
                verdict = await going.wait()
            finally:
                self._going = None
        return report(
            going.state,
            verdict,
            goal=self._plan.goal,
            nonce=order.begun.nonce,
            run=going.name,
            started_at=order.begun.started_at,
            ended_at=self.now(),
            local=SystemZone(),
        )

    def _make(self, order: Order, max_turns: int | None) -> Run:
        plan, agent = self._plan, order.begun.agent
        same = agent == plan.agent  # what is for one agent means nothing to another
        options = RunOptions(
            agent=agent,
            prompt=order.prompt,
            cwd=self._cwd,
            via=plan.via if same else None,
            model=plan.model if same else None,
            permission=cast("Permission", plan.permission),
            allow=plan.allow if same else (),
            max_cost=order.max_cost,
            max_tokens=order.max_tokens,
            max_turns=max_turns,
            timeout=order.timeout_s,
            resume=order.resume if same else None,
            args=plan.args if same else (),
            program=plan.program if same else None,
            called=plan.called if same else None,
            home=str(self._home),
            loop=(self._loop, order.begun.id),
        )
        return start(options)

    def spent(self) -> float:
        """What its ledger says now."""
        return (self._going.state.ledger.spent_usd or 0.0) if self._going else 0.0

    async def recover(self, begun: Begun) -> Report | None:
        """Find the folder of a run that a crash cut off, and read it."""
        folder = await asyncio.to_thread(folder_of, self._home, self._loop, begun)
        return None if folder is None else await asyncio.to_thread(self._read, folder, begun)

    async def foreign(self, begun: Begun | None) -> Sequence[str]:
        """What waits to be committed and cannot be the work of the run that was cut off."""
        return await asyncio.to_thread(self._foreign, begun)

    def _foreign(self, begun: Begun | None) -> Sequence[str]:
        folder = None if begun is None else folder_of(self._home, self._loop, begun)
        kept = None if folder is None else settle(folder)
        return git.changed_after(self._cwd, kept.ended_at if kept else 0.0)

    async def _pass_on(self, going: Run, order: Order, tell: Tell) -> None:
        async for record in going:
            at = record.at if record.at is not None else self.now()
            for event in told(record.event, iteration=order.begun.iteration, at=at):
                tell(event)

    async def _watch_for_life(self, going: Run, order: Order, tell: Tell) -> None:
        """Look now and then whether the agent lives; say it once when it seems not to."""
        life = Life(str(going.folder.path), self._plan.idle_s)
        suspected = False
        while True:
            await asyncio.sleep(_LOOK_S)
            silent = going.silent_s
            suspected &= silent > self._plan.idle_s
            if not life.is_due(silent):
                continue
            why = await asyncio.to_thread(
                life.look, going.state.snapshot(), silent_s=silent, news=going.news
            )
            if why is None or suspected:
                continue
            suspected = True
            tell(
                StuckSuspected(
                    at=self.now(),
                    iteration=order.begun.iteration,
                    reason=why.reason,
                    evidence=why.evidence,
                )
            )
            if self._plan.on_stuck != "warn":
                going.stop("stuck")

    def _read(self, folder: RunFolder, begun: Begun) -> Report:
        """Read what a cut-off run had done by then: it is not run, nor paid for, again."""
        kept, info = settle(folder), folder.info()
        state = state_of(folder, info, PriceBook()) if info else None
        status: Outcome = kept.status if kept else "incomplete"
        if status == "interrupted":  # rook died, and its agent was stopped for that
            status = "incomplete"
        verdict = Verdict(
            status=status,
            sentence=kept.sentence if kept else "it was cut off",
            exit_code=EXIT_CODES[status],
            facts=Facts(),
        )
        told = report(
            state or RunState(),
            verdict,
            goal=self._plan.goal,
            nonce=begun.nonce,
            run=folder.name,
            started_at=begun.started_at,
            ended_at=kept.ended_at if kept else self.now(),
            local=SystemZone(),
        )
        return msgspec.structs.replace(told, recovered=True)
