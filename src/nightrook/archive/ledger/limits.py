"""The limits of providers, as agents last reported them: one row for each window of each plan."""

import sqlite3
from collections.abc import Mapping

import msgspec

from nightrook.adapter.history import Limit
from nightrook.archive.ledger.calls import milliseconds

_MS = 1000


def limit_rank(limit: Limit) -> tuple[float, float, float]:
    """The later of two reports holds; of two at the same time the higher one."""
    return (limit.at, limit.used or 0, limit.resets_at or 0)


def write_limits(
    connection: sqlite3.Connection, limits: Mapping[tuple[str, str, str], Limit]
) -> None:
    """Write the limits that are later than the known ones."""
    for (agent, window, plan), limit in limits.items():
        at = milliseconds(limit.at)
        if at is None:
            continue
        row = (agent, window, plan, at, limit.used, milliseconds(limit.resets_at))
        connection.execute(
            "INSERT INTO limits VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
            "at = excluded.at, used = excluded.used, resets_at = excluded.resets_at WHERE "
            "(excluded.at, coalesce(excluded.used, 0), coalesce(excluded.resets_at, 0)) > "
            "(at, coalesce(used, 0), coalesce(resets_at, 0))",
            row,
        )


def read_limits(connection: sqlite3.Connection) -> dict[tuple[str, str, str], Limit]:
    """Return all limits, by agent, window and plan."""
    query = "SELECT agent, window, plan, at, used, resets_at FROM limits"
    return {
        (agent, window, plan): Limit(
            window=window,
            plan=plan or None,
            at=at / 1000,
            used=used,
            resets_at=None if resets_at is None else resets_at / 1000,
        )
        for agent, window, plan, at, used, resets_at in connection.execute(query)
    }


class ReportedLimit(msgspec.Struct, frozen=True, kw_only=True):
    """Share of a limit that was used when an agent last reported it."""

    agent: str
    window: str
    """Name of the window, such as `five_hour` or `weekly`."""

    plan: str | None
    at: float
    """Time of the report, in seconds since 1970."""

    used: float | None
    """Current share used, from 0 to 1: 0 if the window has ended since."""

    left: float | None
    resets_at: float | None
    """End of the window; None if it has ended, or that is not reported."""


def reported_limits(
    connection: sqlite3.Connection, *, agent: str | None, now: float
) -> list[ReportedLimit]:
    """The limits of an agent, or of all, as they are now."""
    rows = connection.execute(
        "SELECT agent, window, plan, at, used, resets_at FROM limits"
        " WHERE :agent IS NULL OR agent = :agent ORDER BY agent, plan, window",
        {"agent": agent},
    )
    return [_limit(*row, now=now) for row in rows]


def _limit(
    agent: str,
    window: str,
    plan: str,
    at: int,
    used: float | None,
    resets_at: int | None,
    *,
    now: float,
) -> ReportedLimit:
    ended = resets_at is not None and resets_at <= now * _MS
    share = 0.0 if ended else used
    return ReportedLimit(
        agent=agent,
        window=window,
        plan=plan or None,
        at=at / _MS,
        used=share,
        left=None if share is None else max(0.0, round(1 - share, 6)),
        resets_at=None if ended or resets_at is None else resets_at / _MS,
    )
