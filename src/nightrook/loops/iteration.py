"""One iteration of a loop: asks for a run of the agent, then checks and counts it."""

import os
from collections.abc import Callable
from functools import partial

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from nightrook.config.options import RunOptions
from nightrook.loops.changes.commit_message import commit_message
from nightrook.loops.effects import Effects, RunRequest
from nightrook.loops.events import (
    CheckFinished,
    CheckStarted,
    IterationFinished,
    IterationStarted,
)
from nightrook.loops.plan import LoopPlan
from nightrook.loops.progress import Progress
from nightrook.loops.prompts import prompt_for
from nightrook.loops.state import Attempt, Change, Check, LoopState, PendingRun, Report
from nightrook.model.errors import NightrookError
from nightrook.model.text import count
from nightrook.runs.git.git_command import GitError
from nightrook.runs.git.repository import Committed

_SHORTEST_RUN_S = 1.0
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
        """Commit what a run changed, if that was asked for; else return why it was not possible."""
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
        time_left = ceilings.time_s - self._progress.elapsed_s
        allowed = self._plan.iteration_s
        prompt = prompt_for(
            self._plan,
            self._effects.prompt(),
            iteration=pending.iteration,
            nonce=pending.nonce,
            previous=state.for_next_prompt,
            left=_left(self._plan, state),
        )
        options = replace(
            _options_for(self._plan, pending.agent, state),
            prompt=prompt,
            max_cost=max(0.0, ceilings.cost_usd - state.spent_usd),
            max_tokens=max(1, ceilings.tokens - state.tokens),
            max_turns=max(1, ceilings.turns - state.turns),
            timeout=max(_SHORTEST_RUN_S, min(time_left, allowed or time_left)),
            loop=(self._loop, pending.id),
        )
        return RunRequest(pending=pending, options=options)


def _is_checked(report: Report) -> bool:
    """Whether the checks run: after a limit only if the agent said before it that it is done."""
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
