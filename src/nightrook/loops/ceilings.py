"""The ceilings of a loop: limits for all its runs together, and the ones reached.

The tables have a value for each thing that can be limited: a new field of `Limits` needs a field of
`Ceilings`, and one more value in each table here.
"""

from collections.abc import Callable
from typing import Literal

import msgspec
from msgspec.structs import replace

from nightrook.model.limits import Amounts, LimitKind, Limits
from nightrook.model.text import count

CeilingName = Literal["iterations", LimitKind]


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a whole loop; all of them always apply."""

    iterations: int = 20
    time_s: float = 8 * 3600.0
    cost_usd: float = 10.0
    tokens: int = 50_000_000
    turns: int = 1000

    @property
    def limits(self) -> Amounts:
        """The ceilings of what its runs use together."""
        return _FIELDS.map(lambda field: getattr(self, field))

    def limited_to(self, limits: Amounts) -> "Ceilings":
        """The same ceilings, but for the limits that are given."""
        given = _FIELDS.pairs(limits).values()
        return replace(self, **{field: most for field, most in given if most is not None})


_FIELDS = Limits(time="time_s", cost="cost_usd", tokens="tokens", turns="turns")
_OPTIONS = Limits(time="max_time", cost="max_cost", tokens="max_tokens", turns="max_turns")

CEILING_OPTIONS = {"max_iterations": "iterations", **dict(_OPTIONS.pairs(_FIELDS).values())}
"""The options of a loop that are ceilings, and the fields of `Ceilings` that they set."""

LEAST: Limits[float] = Limits(time=1.0, cost=0.0, tokens=1, turns=1)
"""Least limits of a run, whatever is left of the ceilings: only money can be used up."""

_WORDS: Limits[Callable[[float, float], tuple[str, str]]] = Limits(
    time=lambda most, _: (f"{most:.0f} s", f"--max-time {2 * most:.0f}s"),
    cost=lambda most, higher: (f"${most:g}", f"--max-cost {higher:.2f}"),
    tokens=lambda most, higher: (count(int(most), "token"), f"--max-tokens {higher:.0f}"),
    turns=lambda most, higher: (count(int(most), "turn"), f"--max-turns {higher:.0f}"),
)
"""Words for each ceiling, and the option that sets a higher one."""


class ReachedCeiling(msgspec.Struct, frozen=True):
    """A ceiling that was reached."""

    name: CeilingName
    limit: str
    """The ceiling in words, such as `20 iterations`."""

    higher: str
    """The option that doubles it, such as `--max-iterations 40`."""


def reached_ceilings(ceilings: Ceilings, *, iterations: int, used: Amounts) -> list[ReachedCeiling]:
    """The ceilings that a loop has reached after so many iterations, which used so much."""
    reached = []
    if iterations >= (most := ceilings.iterations):
        words = count(most, "iteration")
        reached.append(ReachedCeiling("iterations", words, f"--max-iterations {2 * most}"))
    both = ceilings.limits.pairs(used)
    for kind, ((allowed, amount), words_for) in both.pairs(_WORDS).items():
        if allowed is not None and amount is not None and amount >= allowed:
            limit, higher = words_for(allowed, 2 * max(allowed, amount))
            reached.append(ReachedCeiling(kind, limit, higher))
    return reached
