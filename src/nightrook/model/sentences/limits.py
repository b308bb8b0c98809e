"""Which limit of a run was reached, or which one of a provider is used up, and until when."""

from typing import TYPE_CHECKING, assert_never

from nightrook.model.durations import duration
from nightrook.model.text import minute

if TYPE_CHECKING:
    from nightrook.model.verdict import Facts

_WINDOWS = {None: "provider's limit", "five_hour": "5-hour limit", "seven_day": "7-day limit"}


def provider_limit(window: str | None, resets_at: float | None) -> str:
    """The limit that is used up, by the name of its window."""
    reset = minute(resets_at)
    name = _WINDOWS.get(window, f"{window} limit")
    return f"the {name} is used up{'' if reset is None else f'; resets {reset}'}"


def passed_limit(facts: "Facts", place: str) -> str:
    """Which limit of the run was reached, and where."""
    passed = facts.passed_limit
    if passed is None:
        which = "time limit" if facts.stopped_for == "timed_out" else "budget"
        return f"reached the {which}{place}"
    if passed.by == "agent":
        return facts.message or f"reached the agent's own limit of {passed.kind}{place}"
    used, allowed = passed.used or 0, passed.allowed or 0
    match passed.kind:
        case "cost" if passed.is_unknown:
            return f"the price of the model is unknown, so --max-cost cannot hold{place}"
        case "cost":
            return f"spent ${used:.4f} (limit ${allowed:.4f}){place}"
        case "time":
            return f"reached the time limit of {duration(allowed)}{place}"
        case "tokens" | "turns":
            return f"used {used:.0f} {passed.kind} (limit {allowed:.0f}){place}"
        case _:
            assert_never(passed.kind)
