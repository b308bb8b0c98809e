"""How long to wait: until a limit ends, or a little longer after each failure."""

MARGIN_S = 60.0
"""How long to wait after the announced end of a limit; providers are late, too."""

LEAST_WAIT_S = 60.0
"""The shortest wait for a limit, also for one whose end is not known."""

MOST_AHEAD_S = 8 * 24 * 3600.0
MOST_UNKNOWN_RESET_S = 3600.0
MOST_BACKOFF_S = 300.0


def end_of_limit(resets_at: float, *, now: float) -> float:
    """When to continue after a limit: never early, and never absurdly late."""
    return min(max(resets_at + MARGIN_S, now + LEAST_WAIT_S), now + MOST_AHEAD_S)


def unknown_reset_s(limits: int, random: float) -> float:
    """The wait after this many limits in a row whose end is not known."""
    return backoff_s(limits, random, least=LEAST_WAIT_S, most=MOST_UNKNOWN_RESET_S)


def backoff_s(failures: int, random: float, *, least: float, most: float) -> float:
    """The wait after this many failures in a row: doubled each time, capped, and spread randomly.

    The spread shortens a wait to no less than half.
    """
    full = min(most, least * 2.0 ** min(max(0, failures - 1), 30))
    return full * (0.5 + 0.5 * random)
