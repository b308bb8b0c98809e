"""What a loop was asked to do: the goal, the ceilings, and what to do when things go wrong."""

from typing import Literal

import msgspec

Feed = Literal["append", "prepend", "replace", "none"]
"""Where the output of failed checks goes in the next prompt."""

OnStuck = Literal["warn", "stop", "retry"]


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """When the work is done: what the agent must say, and which commands must pass."""

    until: str | None = None
    """The whole answer equals this, but for white space and case."""

    signals: tuple[str, ...] = ()
    """One of these words stands alone on a line of the main agent's text."""

    ask_done: bool = False
    """The prompt asks for a word, new each time, alone on a line of the answer."""

    checks: tuple[str, ...] = ()
    """Shell commands of the user's; all must exit with 0."""

    @property
    def asks_for_words(self) -> bool:
        """Whether the agent itself must say that it is done."""
        return self.until is not None or bool(self.signals) or self.ask_done


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """What a loop may use in all; there is always one of each."""

    iterations: int = 20
    time_s: float = 8 * 3600.0
    cost_usd: float = 10.0
    tokens: int = 50_000_000
    turns: int = 1000


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How often the same may happen before it is called no progress."""

    same_error: int = 3
    same_answer: int = 5
    same_denial: int = 3
    backoffs: int = 12
    """Failures of the network or of an overloaded provider in a row."""


class OnLimit(msgspec.Struct, frozen=True, kw_only=True):
    """What to do when the provider's limit is reached."""

    do: Literal["wait", "stop", "switch"] = "wait"
    agent: str | None = None
    """The agent to switch to."""


class LoopPlan(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a loop was asked; it is kept with the loop, so that it can go on after a crash."""

    agent: str
    cwd: str
    prompt: str = ""
    prompt_file: str | None = None
    """Read anew for each iteration; then `prompt` is empty."""

    goal: Goal
    ceilings: Ceilings = Ceilings()
    patience: Patience = Patience()
    on_limit: OnLimit = OnLimit()
    max_quota: float | None = None
    """The share of a quota window, 0 to 1, after which no further iteration is begun."""

    on_stuck: OnStuck = "stop"
    idle_s: float = 600.0
    """The silence after which a run is suspected to be stuck."""

    iteration_s: float | None = None
    """How long one iteration may take."""

    check_s: float = 600.0
    """How long one check may take."""

    feed: Feed = "append"
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
    """The batch that it is part of, and which of its tasks it does."""
