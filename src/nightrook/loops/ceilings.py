"""Which ceilings a loop has reached, and which option would let it continue."""

import msgspec

from nightrook.loops.events import CeilingName
from nightrook.loops.plan import Ceilings
from nightrook.loops.state import LoopState
from nightrook.model.text import count


class ReachedCeiling(msgspec.Struct, frozen=True):
    """A ceiling that was reached."""

    name: CeilingName
    limit: str
    """The ceiling in words, such as `20 iterations`."""

    higher: str
    """The option that doubles it, such as `--max-iterations 40`."""


def reached_ceilings(
    ceilings: Ceilings, state: LoopState, elapsed_s: float
) -> list[ReachedCeiling]:
    """The ceilings that a loop has reached after it has run for so long."""
    rows = (
        (state.iterations >= ceilings.iterations, _iterations(ceilings)),
        (elapsed_s >= ceilings.time_s, _time(ceilings)),
        (state.spent_usd >= ceilings.cost_usd, _cost(ceilings, state)),
        (state.tokens >= ceilings.tokens, _tokens(ceilings, state)),
        (state.turns >= ceilings.turns, _turns(ceilings, state)),
    )
    return [ceiling for is_reached, ceiling in rows if is_reached]


def _iterations(ceilings: Ceilings) -> ReachedCeiling:
    most = ceilings.iterations
    return ReachedCeiling("iterations", count(most, "iteration"), f"--max-iterations {2 * most}")


def _time(ceilings: Ceilings) -> ReachedCeiling:
    most = ceilings.time_s
    return ReachedCeiling("time", f"{most:.0f} s", f"--max-time {2 * most:.0f}s")


def _cost(ceilings: Ceilings, state: LoopState) -> ReachedCeiling:
    higher = 2 * max(ceilings.cost_usd, state.spent_usd)
    return ReachedCeiling("cost", f"${ceilings.cost_usd:g}", f"--max-cost {higher:.2f}")


def _tokens(ceilings: Ceilings, state: LoopState) -> ReachedCeiling:
    higher = 2 * max(ceilings.tokens, state.tokens)
    return ReachedCeiling("tokens", count(ceilings.tokens, "token"), f"--max-tokens {higher}")


def _turns(ceilings: Ceilings, state: LoopState) -> ReachedCeiling:
    higher = 2 * max(ceilings.turns, state.turns)
    return ReachedCeiling("turns", count(ceilings.turns, "turn"), f"--max-turns {higher}")
