"""The plan of a loop: its goal, its ceilings, and its patience with limits and failures."""

from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from nightrook.config.options import FeedMode, LoopOptions, OnStuck, RunOptions, flat, with_run
from nightrook.loops.ceilings import CEILING_OPTIONS, Ceilings
from nightrook.runs.git.repository import Repository


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """The goal of a loop: the answer that is expected, and the commands that must pass."""

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
        """True if the agent itself must say that it is done."""
        return self.until is not None or bool(self.signals) or self.ask_done


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """The number of times that something may repeat before the loop ends for lack of progress."""

    same_error: int = 3
    same_answer: int = 5
    same_denial: int = 3
    backoffs: int = 12
    """Number of failures in a row allowed for an unreachable network or an overloaded provider."""


class OnLimit(msgspec.Struct, frozen=True, kw_only=True):
    """The reaction to a provider's limit that is reached."""

    do: Literal["wait", "stop", "switch"] = "wait"
    agent: str | None = None
    """The agent to switch to."""


class LoopPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a loop; it is kept on disk, so that the loop can be resumed."""

    run: RunOptions
    """Options of every iteration; the loop adds the limits that are left."""

    prompt_file: str | None = None
    """Read before every iteration; the prompt of `run` is empty then."""

    goal: Goal
    ceilings: Ceilings = Ceilings()
    needs_cost: bool = False
    """True if a run is refused or stopped when its cost cannot be compared with its ceiling."""

    patience: Patience = Patience()
    on_limit: OnLimit = OnLimit()
    max_quota: float | None = None
    """The share of a quota window, 0 to 1, above which no iteration starts."""

    on_stuck: OnStuck = "stop"
    idle_s: float = 600.0
    """Seconds without output before a run is suspected to be stuck."""

    iteration_s: float | None = None
    """The time limit of one iteration."""

    check_s: float = 600.0
    """The time limit of one check."""

    check_first: bool = True
    """True if the checks run before the first iteration, and before that of a resumed loop."""

    feed: FeedMode = "append"
    feed_bytes: int = 8000
    continue_session: bool = False
    commit: bool = False
    worktree: bool = False
    repository: Repository | None = None
    """The repository that it works in, as it was at the start."""

    batch: tuple[str, int] | None = None
    """The batch that it belongs to, and the number of its task."""

    def options_for(self, agent: str) -> RunOptions:
        """The options of runs: those of `run`, without those that another agent lacks."""
        # guards: loop-cost-holds
        options = replace(self.run, max_cost_unchecked=not self.needs_cost)
        if agent == self.run.agent:
            return options
        return replace(
            options,
            agent=agent,
            via=None,
            model=None,
            allow=(),
            args=(),
            program=None,
            called=None,
        )


_RUN_FIELDS = "agent cwd prompt via model permission allow args program called".split()  # noqa: SIM905


def make_plan(**fields: Any) -> LoopPlan:
    """Make a plan from its own fields and those of its runs, side by side as in `plan.json`."""
    return with_run(LoopPlan, fields)


def dump_plan(plan: LoopPlan) -> bytes:
    """Encode a plan for `plan.json`."""
    fields = flat(plan, plan.run, _RUN_FIELDS)
    if plan.repository is None:
        del fields["repository"]
    if not plan.needs_cost:
        del fields["needs_cost"]
    return msgspec.json.encode(fields)


def load_plan(data: bytes) -> LoopPlan:
    """Decode a `plan.json`; raise a msgspec.DecodeError if it is invalid."""
    return make_plan(**msgspec.json.decode(data, type=dict[str, Any]))


def plan_of(options: LoopOptions, *, prompt: str, **more: Any) -> LoopPlan:
    """The plan of a loop that these options ask for; `more` are further fields of its runs."""
    action, _, switch_to = options.on_limit.partition(":")
    same_names = {name: getattr(options, name) for name in _SAME_NAMES}
    ceilings = {field: getattr(options, name) for name, field in CEILING_OPTIONS.items()}
    return make_plan(
        prompt=prompt,
        goal=Goal(
            until=options.until,
            signals=options.signals,
            ask_done=options.ask_done,
            checks=options.checks,
        ),
        ceilings=Ceilings(**ceilings),
        on_limit=OnLimit(do=action, agent=switch_to or None),  # type: ignore[arg-type]
        iteration_s=options.timeout,
        idle_s=options.idle_timeout,
        check_s=options.check_timeout,
        **same_names,
        **more,
    )


_SAME_NAMES = (frozenset(LoopOptions.__struct_fields__) - {"on_limit"}).intersection(
    (*LoopPlan.__struct_fields__, *_RUN_FIELDS)
)
"""The options that a plan has under the same name."""
