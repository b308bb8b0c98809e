"""Ledgers for tests: findings in, what a report would see out."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from nightrook.adapter.history import Finding
from nightrook.archive.ledger.ledger import Ledger
from nightrook.archive.ledger.runs import RunFigures
from nightrook.archive.ledger.sources import Source
from nightrook.model.price import Price, Rates

DOLLAR = Price(
    Rates(
        input=1_000_000,
        output=5_000_000,
        cache_read=100_000,
        cache_write_5m=1_250_000,
        cache_write_1h=2_000_000,
        web_search=10_000_000_000,
    )
)
"""A dollar per million tokens of input, five of output; a cent a search."""

Reading = tuple[str, Sequence[Finding]]
"""The path of a file, and what was read there."""


def prices(model: str, at: float | None) -> Price | None:
    """Only one model has a price."""
    return DOLLAR if model == "priced" else None


def source(path: str) -> Source:
    """A file of the agent `test`."""
    return Source(agent="test", path=path, mtime_ns=5_000_000_000)


def filled(path: Path, *batches: Iterable[Reading], runs: Sequence[RunFigures] = ()) -> Ledger:
    """A ledger into which batches were written, one after the other, and then runs."""
    ledger = Ledger.open(path, prices)
    for readings in batches:
        with ledger.batch() as batch:
            for file, findings in readings:
                batch.add(source(file), findings)
    if runs:
        with ledger.batch() as batch:
            for figures in runs:
                batch.add_run(figures)
    return ledger


def report(ledger: Ledger) -> list[tuple[object, ...]]:
    """All sums, with names instead of ids, in order."""
    rows = ledger.connection.execute(
        "SELECT quarter, s.agent, s.session, m.text, p.text, b.text, a.text, r.name, calls, "
        "sums.input, sums.output, sums.cache_read, sums.cache_write, sums.native_nano, "
        "sums.estimated_nano, unpriced_tokens, saved_nano FROM sums "
        "JOIN sessions s ON s.id = session_id LEFT JOIN names m ON m.id = sums.model "
        "LEFT JOIN names p ON p.id = sums.project LEFT JOIN names b ON b.id = sums.branch "
        "LEFT JOIN names a ON a.id = sums.subagent LEFT JOIN runs r ON r.id = sums.run_id"
    )
    return sorted(rows.fetchall(), key=repr)


def sessions(ledger: Ledger) -> list[tuple[object, ...]]:
    """All facts about sessions."""
    rows = ledger.connection.execute(
        "SELECT agent, session, project, branch, title, version, parent, forked_from, first_at, "
        "last_at FROM sessions ORDER BY agent, session"
    )
    return rows.fetchall()


def differing_sums(ledger: Ledger) -> list[tuple[object, ...]]:
    """What the sums have that adding the calls up does not give, or the other way round."""
    keys = "quarter, session_id, model, project, branch, subagent, run_id"
    amounts = (
        *("calls", "input", "output", "cache_read", "cache_write"),
        *("native_nano", "estimated_nano", "unpriced_tokens", "saved_nano"),
    )
    added = f"SELECT {keys}, {', '.join(f'sum({name})' for name in amounts)} FROM"
    again, known = f"{added} counted GROUP BY {keys}", f"{added} sums GROUP BY {keys}"
    rows = ledger.connection.execute(
        f"SELECT * FROM ({again} EXCEPT {known}) UNION ALL SELECT * FROM ({known} EXCEPT {again})"
    )
    return rows.fetchall()


def totals(ledger: Ledger) -> tuple[int, ...]:
    """Calls, the four kinds of tokens, native and estimated nano-dollars, unpriced tokens."""
    row: tuple[int, ...] = ledger.connection.execute(
        "SELECT sum(calls), sum(input), sum(output), sum(cache_read), sum(cache_write), "
        "sum(native_nano), sum(estimated_nano), sum(unpriced_tokens) FROM sums"
    ).fetchone()
    return row
