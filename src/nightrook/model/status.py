"""The statuses of runs, loops, batches and sessions that have ended, and their exit codes."""

from typing import Literal

Outcome = Literal[
    "success",
    "failed",
    "incomplete",
    "lost",
    "denied",
    "over_budget",
    "limited",
    "stuck",
    "not_started",
    "timed_out",
    "interrupted",
]
"""The status of a run."""

LoopEnd = Literal[
    "done", "ceiling", "limited", "no_progress", "stuck", "unverified", "not_started", "interrupted"
]
"""The status of a loop."""

BatchEnd = Literal["success", "failed", "over_budget", "interrupted", "incomplete"]
"""The status of a batch; `incomplete` if it was cut short, and nothing says why."""

SessionEnd = Literal["answered", "failed", "unfinished"]
"""The status of a stored session: how its last turn ended."""

ListedStatus = Literal[Outcome, "running", "damaged", "not kept"]
"""The status of a run in a list: its end, that it is running, or why that is unknown."""

EXIT_CODES: dict[Outcome, int] = {
    "success": 0,
    "failed": 1,
    "incomplete": 3,
    "lost": 3,
    "denied": 4,
    "over_budget": 5,
    "limited": 6,
    "stuck": 7,
    "not_started": 9,
    "timed_out": 124,
    "interrupted": 130,
}
"""The exit code of each status of a run; 2 is for wrong usage, 8 for a loop whose check failed."""

LOOP_EXIT_CODES: dict[LoopEnd, int] = {
    "done": 0,
    "ceiling": 5,
    "limited": 6,
    "no_progress": 7,
    "stuck": 7,
    "unverified": 8,
    "not_started": 9,
    "interrupted": 130,
}
"""The exit code of each way a loop can end."""

BATCH_EXIT_CODES: dict[BatchEnd, int] = {
    "success": 0,
    "failed": 1,
    "over_budget": 5,
    "interrupted": 130,
}
"""The exit code of each way a batch can end; one that was cut short has none."""
