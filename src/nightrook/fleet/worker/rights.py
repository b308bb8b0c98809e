"""What a worker may run: set by its own configuration, which a job can tighten but not loosen."""

from typing import TypeVar

import msgspec

from nightrook.adapter.agent import Permission
from nightrook.config.options import RunOptions
from nightrook.fleet.messages import Job

_USUAL: tuple[Permission, ...] = ("plan", "ask", "edit", "agent")
_LARGEST_LOG = 10_000_000_000


class WorkerRights(msgspec.Struct, frozen=True, kw_only=True):
    """What the jobs of a worker may do; None means without limit."""

    agents: tuple[str, ...]
    permissions: tuple[Permission, ...] = _USUAL
    allow_args: bool = False
    """Whether a job may pass arguments and rules to the agent: they can grant anything."""

    max_cost: float | None = None
    max_tokens: int | None = None
    max_turns: int | None = None
    timeout: float | None = None
    max_log_size: int = _LARGEST_LOG

    def refusal(self, job: Job) -> str | None:
        """Why this worker does not run a job; None if it does."""
        if job.agent not in self.agents:
            return f"this worker does not run {job.agent}"
        if job.permission not in self.permissions:  # guards: worker-grants
            return f"this worker does not grant --permission {job.permission}"
        if (job.args or job.allow) and not self.allow_args:
            return "this worker passes no arguments or rules of a job to the agent"
        if job.max_cost_unchecked and self.max_cost is not None:
            return "this worker runs nothing whose cost it cannot limit"
        return None

    def options(self, job: Job, *, cwd: str, home: str) -> RunOptions:
        """The options of the run, with the lower of each limit of the job and of this worker."""
        return RunOptions(
            agent=job.agent,
            via=job.via,
            model=job.model,
            permission=job.permission,
            ask_timeout=job.ask_timeout,
            allow=job.allow,
            args=job.args,
            allow_denials=job.allow_denials,
            max_cost=_lower(job.max_cost, self.max_cost),
            max_cost_unchecked=job.max_cost_unchecked,
            max_tokens=_lower(job.max_tokens, self.max_tokens),
            max_turns=_lower(job.max_turns, self.max_turns),
            timeout=_lower(job.timeout, self.timeout),
            idle_timeout=job.idle_timeout,
            max_log_size=_lower(job.max_log_size, self.max_log_size),
            prompt=job.prompt,
            stdin=job.stdin,
            partial=job.partial,
            cwd=cwd,
            home=home,
            loop=(job.run, job.attempt),
        )


_Number = TypeVar("_Number", int, float)


def _lower(asked: _Number | None, allowed: _Number | None) -> _Number | None:
    known = [limit for limit in (asked, allowed) if limit is not None]
    return min(known, default=None)
