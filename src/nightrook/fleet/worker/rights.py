"""The rights of a worker: set by its own configuration, which a job can tighten but not loosen."""

import msgspec
from msgspec.structs import asdict

from nightrook.config.options import RunOptions
from nightrook.fleet.messages import Job
from nightrook.model.limits import UNLIMITED, Amounts, lowest
from nightrook.model.permissions import OF_WORKERS, Permission

_LARGEST_LOG = 10_000_000_000


class WorkerRights(msgspec.Struct, frozen=True, kw_only=True):
    """The rights of a worker's jobs; None means without limit."""

    agents: tuple[str, ...]
    permissions: tuple[Permission, ...] = OF_WORKERS
    allow_args: bool = False
    """True if a job may pass arguments and rules to the agent: they can grant anything."""

    limits: Amounts = UNLIMITED
    """Limits of a single job."""

    max_log_size: int = _LARGEST_LOG

    def refusal(self, job: Job) -> str | None:
        """Return why this worker does not run a job; None if it does."""
        if job.agent not in self.agents:
            return f"this worker does not run {job.agent}"
        if job.permission not in self.permissions:  # guards: worker-grants
            return f"this worker does not grant --permission {job.permission}"
        if (job.options.args or job.options.allow) and not self.allow_args:
            return "this worker passes no arguments or rules of a job to the agent"
        if job.options.max_cost_unchecked and self.limits.cost is not None:
            return "this worker runs nothing whose cost it cannot limit"
        return None

    def options(self, job: Job, *, cwd: str, home: str) -> RunOptions:
        """The options of the run, with the lower of each limit of the job and of this worker."""
        # guards: worker-limits
        asked = job.options.with_limits(lowest(job.options.limits, self.limits))
        log_sizes = (asked.max_log_size, self.max_log_size)
        return RunOptions(
            **{
                **asdict(asked),
                "permission": job.permission,
                "max_log_size": min(size for size in log_sizes if size is not None),
            },
            cwd=cwd,
            home=home,
            loop=(job.run, job.attempt),
        )
