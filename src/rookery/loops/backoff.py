"""How long to wait: until a limit's real end, or a little longer after each failure."""

MARGIN_S = 60.0
"""How long after the announced end a limit is given; providers are late, too."""

LEAST_WAIT_S = 60.0
"""How long a limit is waited for at least, also one that nobody dates."""

MOST_AHEAD_S = 8 * 24 * 3600.0
MOST_UNDATED_S = 3600.0
MOST_WAIT_S = 300.0


def clamped(resets_at: float, *, now: float) -> float:
    """The moment to go on after a limit: never early, and never absurdly late."""
    return min(max(resets_at + MARGIN_S, now + LEAST_WAIT_S), now + MOST_AHEAD_S)


def undated_s(limits: int, chance: float) -> float:
    """The wait after so many limits in a row of which nobody tells when they end."""
    return backoff_s(limits, chance, least=LEAST_WAIT_S, most=MOST_UNDATED_S)


def backoff_s(failures: int, chance: float, *, least: float, most: float) -> float:
    """The wait after so many failures in a row: doubled each time, capped, and spread by chance.

    The spread only shortens the cap's upper half, so a wait is never under half of its due.
    """
    due = min(most, least * 2.0 ** min(max(0, failures - 1), 30))
    return due * (0.5 + 0.5 * chance)
