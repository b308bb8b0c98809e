"""The side effects of a loop: runs agents and checks, sleeps, looks at files."""

import asyncio
import random
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec.structs import replace

from nightrook.asyncio_tasks import task_group
from nightrook.config.options import RunOptions
from nightrook.loops.changed_files import Listings, Snapshots
from nightrook.loops.checks import run_check
from nightrook.loops.events import LoopEvent, StuckSuspected, agent_events
from nightrook.loops.limit_resets import SystemZone
from nightrook.loops.loop_runs import recovered_report, report, run_folder
from nightrook.loops.plan import LoopPlan
from nightrook.loops.state import Change, Check, PendingRun, Report
from nightrook.loops.waiting import SteadyClock
from nightrook.model.errors import NightrookError, UnsupportedError
from nightrook.runs.crash_recovery import settle
from nightrook.runs.git.git_command import GitError
from nightrook.runs.git.repository import Committed, is_ignored
from nightrook.runs.run import Run
from nightrook.runs.start import start
from nightrook.runs.watchdog import Watchdog

Emit = Callable[[LoopEvent], None]

_WATCH_S = 1.0
_NONCE_BYTES = 6


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One run that the loop asks for."""

    pending: PendingRun
    options: RunOptions
    """Options with the prompt of this iteration and the limits that are left."""


class Effects(Protocol):
    """The parts of a loop that are not pure functions."""

    def now(self) -> float:
        """The time on the wall clock."""

    def steady(self) -> float:
        """The time on a clock that shows the same at first, and never runs backwards."""

    def random(self) -> float:
        """A random number from 0 to 1."""

    def completion_word(self) -> str:
        """A new word that cannot be guessed."""

    async def sleep(self, seconds: float) -> None:
        """Sleep; if the machine sleeps too, it may take longer."""

    async def run(self, request: RunRequest, emit: Emit) -> Report:
        """Run the agent to its end."""

    async def recover(self, pending: PendingRun) -> Report | None:
        """Report how a run ended that a crash cut short; None if it never started."""

    async def foreign_changes(self, pending: PendingRun | None) -> Sequence[str]:
        """Files that a commit would include although the agent did not change them."""

    async def check(self, command: str) -> Check:
        """Run a check."""

    def prompt(self) -> str:
        """The user's prompt, as it is now."""

    def snapshot(self) -> Change | None:
        """A fingerprint of the files; None if they cannot be compared."""

    def change(self, before: Change | None) -> Change | None:
        """Compare the files with a snapshot; None if that is not possible."""

    def commit(self, message: Callable[[Sequence[str]], str]) -> Committed:
        """Commit the agent's changes; a GitError if that is not possible.

        `message` returns the message for the names of the changed files.
        """

    def spent(self) -> float:
        """The known cost of the current run."""

    def stop(self, *, by: str | None = None) -> None:
        """End the current run or check: asked the first time, killed the second.

        `by` is what asks for it, as in `Loop.stop`.
        """


class RealEffects:
    """The effects of a loop outside of tests."""

    def __init__(
        self, plan: LoopPlan, *, loop: str, home: Path, snapshots: Path, cwd: str | None = None
    ) -> None:
        self._plan = plan
        self._loop = loop
        self._home = home
        self._cwd = cwd or plan.run.cwd
        self._marker = str(snapshots.parent)
        self._clock = SteadyClock()
        repository = plan.repository
        self._files = (
            Snapshots(repository, snapshots)
            if repository is not None and not is_ignored(self._cwd)
            else Listings(self._cwd, snapshots, without=home)
        )
        self._current: Run | None = None
        self._checking: asyncio.Future[Check] | None = None
        self._stopped = False
        self.on_run: Callable[[Run, int], object] | None = None
        """Called with each run as it starts, and its number in the loop, to display it."""

    def now(self) -> float:
        """The time on the wall clock."""
        return time.time()

    def steady(self) -> float:
        """The time on a clock that cannot be set."""
        return self._clock.now()

    def random(self) -> float:
        """A random number from 0 to 1."""
        return random.random()

    def completion_word(self) -> str:
        """A new word that cannot be guessed."""
        return f"DONE-{secrets.token_hex(_NONCE_BYTES)}"

    async def sleep(self, seconds: float) -> None:
        """Sleep."""
        await asyncio.sleep(seconds)

    async def check(self, command: str) -> Check:
        """Run a check; `stop` ends it."""
        work = run_check(command, cwd=self._cwd, timeout_s=self._plan.check_s, marker=self._marker)
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
        """The user's prompt; if it is in a file, that is read again."""
        if self._plan.prompt_file is None:
            return self._plan.run.prompt or ""
        try:
            return Path(self._plan.prompt_file).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            why = error.strerror or str(error)
            raise NightrookError(
                f"cannot read the prompt file {self._plan.prompt_file}: {why}"
            ) from error

    def snapshot(self) -> Change | None:
        """A fingerprint of the files, from git or from a list of them."""
        return self._files.take()

    def change(self, before: Change | None) -> Change | None:
        """Compare the files with a snapshot."""
        return self._files.change(before)

    def commit(self, message: Callable[[Sequence[str]], str]) -> Committed:
        """Commit the agent's changes, to the repository and branch of the loop's start only."""
        repository = self._plan.repository
        if repository is None:
            raise GitError(f"{self._cwd} isn't in a git repository")
        repository.require_unchanged(self._cwd)
        return repository.commit(message)

    def spent(self) -> float:
        """The known cost of the current run, from its ledger."""
        return (self._current.state.ledger.spent_usd or 0.0) if self._current else 0.0

    def stop(self, *, by: str | None = None) -> None:
        """End the current run or check."""
        self._stopped = True
        if self._current is not None:
            self._current.stop(by=by)
        if self._checking is not None:
            self._checking.cancel()

    async def run(self, request: RunRequest, emit: Emit) -> Report:
        """Run the agent to its end, and watch whether it is stuck."""
        try:
            current = self._make(request.options)
        except UnsupportedError:  # some agents cannot limit their turns; the other ceilings hold
            current = self._make(replace(request.options, max_turns=None))
        async with current:
            self._current = current
            try:
                if self.on_run is not None:
                    self.on_run(current, request.pending.id)
                async with task_group() as group:
                    watchdog = group.create_task(self._watch(current, request, emit))
                    await self._pass_on(current, request, emit)
                    watchdog.cancel()
                verdict = await current.wait()
            finally:
                self._current = None
        return report(
            current.state,
            verdict,
            goal=self._plan.goal,
            nonce=request.pending.nonce,
            run=current.name,
            started_at=request.pending.started_at,
            ended_at=self.now(),
            local=SystemZone(),
        )

    def _make(self, options: RunOptions) -> Run:
        made = start(replace(options, cwd=self._cwd, home=str(self._home)))
        made.others.waited_for = made.asks
        return made

    async def recover(self, pending: PendingRun) -> Report | None:
        """Find the folder of a run that a crash cut short, and read it."""
        folder = await asyncio.to_thread(run_folder, self._home, self._loop, pending.id)
        if folder is None:
            return None
        return await asyncio.to_thread(recovered_report, folder, pending, self._plan.goal)

    async def foreign_changes(self, pending: PendingRun | None) -> Sequence[str]:
        """Uncommitted changes that were made after the run that was cut short had ended."""
        return await asyncio.to_thread(self._foreign_changes, pending)

    def _foreign_changes(self, pending: PendingRun | None) -> Sequence[str]:
        repository = self._plan.repository
        if repository is None:
            return ()
        repository.require_unchanged(self._cwd)
        if self._plan.worktree:  # only the agent works there
            return ()
        folder = None if pending is None else run_folder(self._home, self._loop, pending.id)
        verdict = None if folder is None else settle(folder)
        return repository.changed_after(verdict.ended_at if verdict else 0.0)

    async def _pass_on(self, current: Run, request: RunRequest, emit: Emit) -> None:
        async for record in current:
            at = record.at if record.at is not None else self.now()
            for event in agent_events(record.event, iteration=request.pending.iteration, at=at):
                emit(event)

    async def _watch(self, current: Run, request: RunRequest, emit: Emit) -> None:
        """Check regularly whether the agent is stuck, and report it once if it seems so."""
        watchdog = Watchdog(str(current.folder.path), self._plan.idle_s)
        suspected = False
        while True:
            await asyncio.sleep(_WATCH_S)
            silent_s = current.silence.seconds
            suspected &= silent_s > self._plan.idle_s
            if not watchdog.is_due(silent_s):
                continue
            evidence = await asyncio.to_thread(
                watchdog.look, current.feed.snapshot(), silent_s=silent_s, count=current.feed.count
            )
            if evidence is None or suspected:
                continue
            suspected = True
            emit(
                StuckSuspected(
                    at=self.now(),
                    iteration=request.pending.iteration,
                    reason=evidence.reason,
                    evidence=evidence.evidence,
                )
            )
            if self._plan.on_stuck != "warn":
                current.stop("stuck", suspicion=evidence)
