"""A run of rook and the calls in its transcript are one: the run's own figures count.

Its calls are the detail. What the run reports beyond them is a row of its own, which may be
negative, so that the rows of a run add up to its figures. A run whose agent does not report all
that it used counts at least that, and what its calls have beyond it.
"""

import math
import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from nightrook.adapter.history import Call
from nightrook.archive.ledger.calls import Names, Row, call_key, milliseconds, storable
from nightrook.archive.ledger.counting import Touched
from nightrook.archive.ledger.pricing import UNPRICED, Cost, KeptPrices
from nightrook.archive.ledger.sessions import MergedSession, SessionKey, SessionTable
from nightrook.model.price import credible, dollars, nano


class RunFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Figures that an ended run of rook reports of itself. None means unknown."""

    name: str
    agent: str | None
    session: str | None = None
    loop: str | None = None
    """The loop or batch that it is part of."""

    model: str | None = None
    project: str | None = None
    """The folder that the agent worked in."""

    started_at: float
    ended_at: float
    native_usd: float | None = None
    """Cost of this run as the agent reports it."""

    estimated_usd: float | None = None
    """Cost as rook estimated it, if the agent reports none."""

    input: int | None = None
    """Input that the cache did not serve or store."""

    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    at_least: bool = False
    """True if calls of subagents are missing from the agent's report."""

    stamp: str = ""
    """Changes whenever the run's files do, so that unchanged runs are not read again."""

    @property
    def settled(self) -> bool:
        """True if its own figures count, and its calls are only their detail."""
        return self.native_usd is not None or self.has_tokens

    @property
    def has_tokens(self) -> bool:
        """True if it reports tokens."""
        counts = (self.input, self.output, self.cache_read, self.cache_write)
        return any(count is not None for count in counts)


_UNKNOWN_AGENT = "unknown"

_RUN_COLUMNS = (
    *("name", "agent", "session", "loop", "model", "project", "started_at", "ended_at"),
    *("native_nano", "estimated_nano", "input", "output", "cache_read", "cache_write"),
    *("at_least", "stamp"),
)
_UPSERT = (
    f"INSERT INTO runs ({', '.join(_RUN_COLUMNS)}) "
    f"VALUES ({', '.join('?' * len(_RUN_COLUMNS))}) ON CONFLICT (name) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _RUN_COLUMNS[1:])
)

_RUNS = f"""
SELECT r.id, s.id, {", ".join("r." + name for name in _RUN_COLUMNS)}
FROM touched t JOIN sessions s ON s.id = t.id
JOIN runs r ON r.session = s.session AND r.agent = s.agent
ORDER BY r.started_at, r.name
"""

_DETAIL = """
WITH RECURSIVE tree (id) AS (
  SELECT ?
  UNION
  SELECT child.id FROM tree JOIN sessions s ON s.id = tree.id
  JOIN sessions child ON child.agent = s.agent AND child.parent = s.session
)
SELECT key, coalesce(native_nano, estimated_nano, 0), input, output, cache_read,
  cache_write_5m + cache_write_1h, session_id
FROM tree JOIN calls ON session_id = tree.id
WHERE counted = 1 AND run_id IS NULL AND at BETWEEN ? AND ? ORDER BY key
"""

_EXTRA = """
INSERT INTO calls (key, session_id, source_id, at, model, project, input, output, cache_read,
  cache_write_5m, summed, estimated_nano, saved_nano, run_id, share_nano, extra)
VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?)
"""


class _Run(NamedTuple):
    """A row of the table of runs, with the id of its session's row."""

    id: int
    session_id: int
    name: str
    agent: str
    session: str
    loop: str | None
    model: str | None
    project: str | None
    started_at: int
    ended_at: int
    native_nano: int | None
    estimated_nano: int | None
    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None
    at_least: int
    stamp: str

    @property
    def counts(self) -> tuple[int | None, ...]:
        return (self.input, self.output, self.cache_read, self.cache_write)

    @property
    def settled(self) -> bool:
        return self.native_nano is not None or any(count is not None for count in self.counts)


def write_runs(
    connection: sqlite3.Connection, runs: Iterable[RunFigures], sessions: SessionTable
) -> set[int]:
    """Write the figures of runs; return the ids of their sessions."""
    rows = [_run_row(figures) for figures in runs]
    connection.executemany(_UPSERT, rows)
    keys: set[SessionKey] = {(row[1], row[2]) for row in rows}
    sessions.write({key: MergedSession() for key in keys})
    return {sessions.ids[key] for key in keys}


def read_runs(connection: sqlite3.Connection) -> Iterator[RunFigures]:
    """Yield the figures of every run."""
    for row in connection.execute(f"SELECT {', '.join(_RUN_COLUMNS)} FROM runs"):
        known = dict(zip(_RUN_COLUMNS, row, strict=True))
        for name in ("native", "estimated"):
            amount = known.pop(f"{name}_nano")
            known[f"{name}_usd"] = None if amount is None else dollars(amount)
        for name in ("started_at", "ended_at"):
            known[name] = known[name] / 1000
        yield RunFigures(**known)


def _run_row(figures: RunFigures) -> tuple[str, str, str, *tuple[object, ...]]:
    native, estimated = credible(figures.native_usd), credible(figures.estimated_usd)
    return (
        figures.name,
        figures.agent or _UNKNOWN_AGENT,
        storable(figures.session or f"run:{figures.name}"),
        figures.loop,
        figures.model,
        figures.project and storable(figures.project),
        milliseconds(figures.started_at) or 0,
        milliseconds(figures.ended_at) or 0,
        None if native is None else nano(native),
        None if estimated is None else nano(estimated),
        figures.input,
        figures.output,
        figures.cache_read,
        figures.cache_write,
        int(figures.at_least),
        figures.stamp,
    )


def has_runs(connection: sqlite3.Connection) -> bool:
    """True if the ledger has any runs of rook."""
    return connection.execute("SELECT 1 FROM runs LIMIT 1").fetchone() is not None


def share_runs(
    connection: sqlite3.Connection, touched: Touched, prices: KeptPrices, names: Names
) -> set[int]:
    """Assign calls of touched sessions to runs, and the runs' figures to the calls.

    Returns the ids of the sessions with such calls.
    """
    if not has_runs(connection):
        return set()
    touched.add_trees()
    runs = [_Run(*row) for row in connection.execute(_RUNS)]
    numbers = [(run.id,) for run in runs]
    connection.executemany("DELETE FROM calls WHERE run_id = ? AND source_id = 0", numbers)
    connection.executemany(
        "UPDATE calls SET run_id = NULL, share_nano = NULL WHERE run_id = ?", numbers
    )
    return set().union(*(_share(connection, run, prices, names) for run in runs))


def _share(connection: sqlite3.Connection, run: _Run, prices: KeptPrices, names: Names) -> set[int]:
    start = run.started_at // 1000 * 1000  # some times of calls are whole seconds
    query = (run.session_id, start, run.ended_at)
    detail = connection.execute(_DETAIL, query).fetchall()
    shares = _shares(run, [row[1] for row in detail])
    connection.executemany(
        "UPDATE calls SET run_id = ?, share_nano = ? WHERE key = ?",
        [(run.id, share, row[0]) for row, share in zip(detail, shares, strict=True)],
    )
    sessions = {run.session_id, *(row[-1] for row in detail)}
    if detail and not run.settled:
        return sessions
    counted = [sum(counts) for counts in zip(*(row[2:-1] for row in detail), strict=True)]
    least = 0 if run.at_least else -math.inf
    rest = [
        0 if total is None or total - part < least else total - part
        for total, part in zip(run.counts, counted or [0] * len(run.counts), strict=True)
    ]
    share = None
    if run.native_nano is not None:
        share = run.native_nano - sum(part or 0 for part in shares)
        share = max(share, 0) if run.at_least else share
    cost = _cost(run, rest, prices, has_detail=bool(detail))
    if any(rest) or share or (not detail and (share, cost.nano) != (None, None)):
        row = _extra_row(run, rest, cost, share, names)
        connection.execute(_EXTRA, (*row, int(bool(detail))))
    return sessions


def _shares(run: _Run, prices: list[int]) -> list[int | None]:
    """Divide a run's cost by list prices; the rest belongs to no call."""
    native, total = run.native_nano, sum(prices)
    if native is None:
        return [None] * len(prices)
    if total <= native or run.at_least:
        return list(prices)
    return [price * native // total for price in prices]


def _cost(run: _Run, rest: list[int], prices: KeptPrices, *, has_detail: bool) -> Cost:
    """Return the list price of the usage a run reports beyond its calls."""
    if not has_detail and run.estimated_nano is not None:
        return Cost(run.estimated_nano, None)
    if not any(rest):
        return UNPRICED
    fresh, output, read, written = rest
    line = Call(
        id="",
        session="",
        model=run.model,
        input=fresh,
        output=output,
        cache_read=read,
        cache_write_5m=written,
        summed=True,
    )
    return prices.cost(line, run.ended_at)


def _extra_row(run: _Run, rest: list[int], cost: Cost, share: int | None, names: Names) -> Row:
    return (
        call_key("run", f"{run.name}:{run.model}"),
        run.session_id,
        run.ended_at,
        names.id(run.model),
        names.id(run.project),
        *rest,
        *cost,
        run.id,
        share,
    )
