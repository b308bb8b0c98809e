"""What a loop tells its consumers: its own steps, and in short those of the agent inside."""

from typing import Literal

import msgspec

from rookery.loops.plan import Ceilings
from rookery.model.ledger import Source
from rookery.model.verdict import Outcome

End = Literal[
    "done", "ceiling", "limited", "no_progress", "stuck", "unverified", "not_started", "interrupted"
]
EXIT_CODES: dict[End, int] = {
    "done": 0,
    "ceiling": 5,
    "limited": 6,
    "no_progress": 7,
    "stuck": 7,
    "unverified": 8,
    "not_started": 9,
    "interrupted": 130,
}
"""The exit code of each way in which a loop can end."""

CANNOT_EXECUTE, NOT_FOUND = 126, 127
"""What a shell exits with if it cannot run a command at all."""

Stopped = Literal["timed_out", "interrupted"]
"""Why a check was ended before it could tell."""

Step = Literal["finish", "continue", "wait", "switch"]


class _LoopEvent(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="type"):
    at: float


class LoopStarted(_LoopEvent, tag="loop_started", frozen=True, kw_only=True):
    """A loop began, or goes on after a crash."""

    loop: str
    agent: str
    ceilings: Ceilings
    resumed: bool = False
    iterations: int = 0
    """How many iterations were done before."""

    worktree: str | None = None
    branch: str | None = None


class IterationStarted(_LoopEvent, tag="iteration_started", frozen=True, kw_only=True):
    """The agent is run once more."""

    iteration: int
    attempt: int
    agent: str


class IterationFinished(_LoopEvent, tag="iteration_finished", frozen=True, kw_only=True):
    """One run of the agent ended."""

    iteration: int
    attempt: int
    agent: str
    run: str | None = None
    status: Outcome
    sentence: str
    duration_s: float
    spent_usd: float | None = None
    cost_source: Source = "unknown"
    tokens: int | None = None
    turns: int | None = None
    said_done: bool = False
    files: int | None = None
    added: int | None = None
    removed: int | None = None
    commit: str | None = None


class CheckStarted(_LoopEvent, tag="check_started", frozen=True, kw_only=True):
    """A command of the user's is run, to tell whether the work is done."""

    iteration: int
    command: str


class CheckFinished(_LoopEvent, tag="check_finished", frozen=True, kw_only=True):
    """A command of the user's told whether the work is done."""

    iteration: int
    command: str
    ok: bool
    exit_code: int | None = None
    stopped: Stopped | None = None
    duration_s: float
    output: str = ""
    """The end of what it printed."""


class Decision(_LoopEvent, tag="decision", frozen=True, kw_only=True):
    """What the loop does next, and why."""

    step: Step
    rule: str
    reason: str
    evidence: tuple[str, ...] = ()
    end: End | None = None
    until: float | None = None
    agent: str | None = None


class Waiting(_LoopEvent, tag="waiting", frozen=True, kw_only=True):
    """The loop waits; told when it begins and then at least every ten minutes."""

    until: float
    left_s: float
    reason: str


class Resumed(_LoopEvent, tag="resumed", frozen=True, kw_only=True):
    """The wait is over."""

    waited_s: float


class StuckSuspected(_LoopEvent, tag="stuck_suspected", frozen=True, kw_only=True):
    """The agent shows no sign of life, with the evidence."""

    iteration: int
    reason: str
    evidence: tuple[str, ...] = ()


class ToolStarted(_LoopEvent, tag="tool_started", frozen=True, kw_only=True):
    """The agent called a tool."""

    iteration: int
    tool_name: str
    message: str


class ToolCompleted(_LoopEvent, tag="tool_completed", frozen=True, kw_only=True):
    """A tool of the agent's ended."""

    iteration: int
    tool_name: str
    status: str


class AgentThinking(_LoopEvent, tag="agent_thinking", frozen=True, kw_only=True):
    """The agent said something; the beginning of it."""

    iteration: int
    message: str


class SessionStats(_LoopEvent, tag="session_stats", frozen=True, kw_only=True):
    """What a turn of the agent used and cost."""

    iteration: int
    cost_usd: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    turns: int | None = None
    message: str


class LoopFinished(_LoopEvent, tag="loop_finished", frozen=True, kw_only=True):
    """The loop is over."""

    loop: str
    end: End
    exit_code: int
    reason: str
    iterations: int
    duration_s: float
    spent_usd: float | None = None
    """What is known to have been spent."""

    cost_source: Source = "unknown"
    unknown_costs: int = 0
    """Runs whose cost nobody knows."""


LoopEvent = (
    LoopStarted
    | IterationStarted
    | IterationFinished
    | CheckStarted
    | CheckFinished
    | Decision
    | Waiting
    | Resumed
    | StuckSuspected
    | ToolStarted
    | ToolCompleted
    | AgentThinking
    | SessionStats
    | LoopFinished
)

INSIDE = (ToolStarted, ToolCompleted, AgentThinking, SessionStats)
"""The events that tell of the agent inside."""
