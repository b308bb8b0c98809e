"""Decides when a run must be stopped, and which limits cannot be enforced."""

from collections.abc import Callable

from nightrook.adapter.agent import Agent
from nightrook.config.options import LIMIT_OPTIONS, RunOptions
from nightrook.model.errors import NightrookError
from nightrook.model.facts import PassedLimit, StopReason
from nightrook.model.limits import Limits
from nightrook.model.state import RunState

_WAKING_S = 2.0  # the next turn begins 0.1 s after its task has ended (2.1.325), on an idle machine

_USED: Limits[Callable[[RunState], float | None]] = Limits(
    time=lambda _: None,  # its recorder, or a timer, ends it
    cost=lambda state: state.ledger.spent_usd,
    tokens=lambda state: state.ledger.tokens.total,
    turns=lambda state: state.ledger.steps,
)
"""Usage of a run by each kind of limit; None if it is unknown."""

_CHECKS = tuple(LIMIT_OPTIONS.pairs(_USED).items())  # once, because every line is followed by them


class RunLimits:
    """The limits of one run, looked up once: they are compared after each line of its agent."""

    def __init__(self, options: RunOptions) -> None:
        pairs = options.limits.pairs(_USED).items()
        self._set = [(kind, *pair) for kind, pair in pairs if pair[0] is not None]
        self._timeout = options.timeout
        self._grace = options.grace

    def reason_to_stop(
        self, state: RunState, *, silent_s: float, needs_cost: bool = False
    ) -> StopReason | None:
        """Return why a run must be stopped now; it has written nothing for `silent_s` seconds.

        A budget stops only what could cost more: some agents report all usage with their last
        message.
        """
        if finished(state):
            return "finished" if silent_s > self._grace else None
        return "over_budget" if self.passed(state, needs_cost=needs_cost) else None

    def passed(
        self, state: RunState, *, timed_out: bool = False, needs_cost: bool = False
    ) -> PassedLimit | None:
        """Return which limit on time, money, tokens or turns was passed; None if none was.

        With `needs_cost`, a cost that is unknown counts as one that passed its limit.
        """
        if timed_out:
            return PassedLimit(kind="time", allowed=self._timeout)
        for kind, allowed, used_of in self._set:
            used = used_of(state)
            if used is not None and allowed is not None and used > allowed:  # guards: limits
                return PassedLimit(kind=kind, used=used, allowed=allowed)
            is_unknown = used is None and kind == "cost" and needs_cost and state.ledger.has_usage
            if is_unknown:  # guards: unknown-price-stops
                return PassedLimit(kind=kind, allowed=allowed)
        return None


def needs_known_cost(agent: Agent | None, options: RunOptions) -> bool:
    """True if a run is stopped when its cost turns out to be unknown: the agent reports none."""
    if options.max_cost is None or options.max_cost_unchecked or agent is None:
        return False
    return agent.capabilities.cost == "no"


class UnheldBudgetError(NightrookError):
    """A limit on the cost that nothing would enforce."""


def refuse_unheld_budget(agent: Agent | None, options: RunOptions, *, via: str | None) -> None:
    """Refuse a limit on the cost if the cost is not known while the agent works."""
    if options.max_cost is None or options.max_cost_unchecked:
        return
    why: str | None = "plain text does not report usage"
    if agent is not None and options.stream:
        way = agent.way(via)
        why = way.unbudgeted if way is not None else agent.unbudgeted
    elif agent is not None and agent.capabilities.cost == "yes":
        return  # it stops at the limit itself
    if why is not None:  # guards: budget-holds
        raise UnheldBudgetError(
            f"--max-cost cannot hold: {why}; use --timeout, or add --max-cost-unchecked to run "
            "without this limit"
        )


def late_limits(agent: Agent | None, options: RunOptions, *, via: str | None = None) -> str | None:
    """Return a warning if a limit may be noticed late or never, because not all usage is reported.

    Without an agent nothing is reported: the output is plain text.
    """
    given = (("--max-cost", options.max_cost), ("--max-tokens", options.max_tokens))
    flags = " and ".join(flag for flag, limit in given if limit is not None)
    if not flags:
        return None
    if agent is None:
        return f"plain text does not report usage: rook cannot stop the run at {flags}"
    way = agent.way(via)
    usage = way.usage if way is not None else agent.capabilities.usage
    if usage == "yes":
        return None
    return f"{agent.name} does not report all usage while it works: the limit may stop it late"


def missing_permission(agent: Agent | None, options: RunOptions) -> str | None:
    """Return a warning if the agent may do little because it was given no permission."""
    if agent is None or options.permission != "agent" or options.args:
        return None
    return agent.unpermitted


def unheld_limits(state: RunState, options: RunOptions) -> str | None:
    """Return which limit could not stop a finished run, because its usage is unknown."""
    ledger = state.ledger
    if not (ledger.has_usage or state.texts or state.tools_finished):
        return None  # it did nothing that could cost anything
    unheld = []
    if options.max_cost is not None and ledger.spent_usd is None:
        unheld.append("the cost is unknown: --max-cost could not stop the run")
    if options.max_tokens is not None and not ledger.has_usage:
        unheld.append("the token count is unknown: --max-tokens could not stop the run")
    return "; ".join(unheld) or None


def has_results(state: RunState) -> bool:
    """True if every turn has its result."""
    return bool(state.results) and len(state.results) >= len(state.turns)


def finished(state: RunState) -> bool:
    """True if every turn has its result and no task is at work."""
    return has_results(state) and not state.open_tasks


def wants_no_more(state: RunState, options: RunOptions, *, silent_s: float) -> bool:
    """True if the agent has nothing more to ask, so that its standard input can be closed.

    A background task that ends wakes the agent a moment later. Subagents are waited for; a
    background command may never end, so it is given the time that an agent has after a result.
    """
    if not has_results(state):
        return False
    if not state.background_tasks:
        return True
    if any(task.kind == "subagent" for task in state.open_tasks.values()):
        return False
    return silent_s > (options.grace if state.open_tasks else _WAKING_S)
