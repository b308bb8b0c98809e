"""What a loop was asked to do: the goal, the ceilings, and how to handle limits and failures."""

from typing import Literal

import msgspec

FeedMode = Literal["append", "prepend", "replace", "none"]
"""Where the output of failed checks goes in the next prompt."""

OnStuck = Literal["warn", "stop", "retry"]


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """When the work is done: what the agent must answer, and which commands must pass."""

    until: str | None = None
    """The whole answer must equal this, ignoring white space and case."""

    signals: tuple[str, ...] = ()
    """One of these words must stand alone on a line of the main agent's text."""

    ask_done: bool = False
    """The prompt asks for a one-time completion word, alone on a line of the answer."""

    checks: tuple[str, ...] = ()
    """Shell commands; all must exit with 0."""

    @property
    def needs_answer(self) -> bool:
        """Whether the agent itself must say that it is done."""
        return self.until is not None or bool(self.signals) or self.ask_done


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """What a whole loop may use; every one of them always applies."""

    iterations: int = 20
    time_s: float = 8 * 3600.0
    cost_usd: float = 10.0
    tokens: int = 50_000_000
    turns: int = 1000


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How often the same thing may happen before the loop ends for lack of progress."""

    same_error: int = 3
    same_answer: int = 5
    same_denial: int = 3
    backoffs: int = 12
    """How many times in a row the network may fail or the provider may be overloaded."""


class OnLimit(msgspec.Struct, frozen=True, kw_only=True):
    """What to do when the provider's limit is reached."""

    do: Literal["wait", "stop", "switch"] = "wait"
    agent: str | None = None
    """The agent to switch to."""


class LoopPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a loop was asked to do; it is kept on disk, so that the loop can be resumed."""

    agent: str
    cwd: str
    prompt: str = ""
    prompt_file: str | None = None
    """Read before every iteration; `prompt` is empty then."""

    goal: Goal
    ceilings: Ceilings = Ceilings()
    patience: Patience = Patience()
    on_limit: OnLimit = OnLimit()
    max_quota: float | None = None
    """The share of a quota window, 0 to 1, above which no iteration starts."""

    on_stuck: OnStuck = "stop"
    idle_s: float = 600.0
    """How long without output before a run is suspected to be stuck."""

    iteration_s: float | None = None
    """The time limit of one iteration."""

    check_s: float = 600.0
    """The time limit of one check."""

    feed: FeedMode = "append"
    feed_bytes: int = 8000
    continue_session: bool = False
    commit: bool = False
    worktree: bool = False
    via: str | None = None
    """One of the agent's ways to be run; None for the usual one."""

    model: str | None = None
    permission: str = "agent"
    allow: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    program: tuple[str, ...] | None = None
    """What to call instead of the agent found on PATH."""

    called: str | None = None
    """The name that the user gave that program."""

    batch: tuple[str, int] | None = None
    """The batch that it belongs to, and the number of its task."""
