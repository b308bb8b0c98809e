"""Reports on made-up homes, in this process."""

from collections.abc import Sequence
from pathlib import Path

from nightrook.archive.importer import ImportReport, bring_up_to_date
from nightrook.archive.ledger.ledger import Ledger
from nightrook.archive.report.figures import CostReport
from nightrook.archive.report.local_time import zone_of
from nightrook.archive.report.query import CostQuery, keys_of
from nightrook.archive.report.report import build
from tests.archive.reference import Totals


def imported(ledger: Path, *homes: Path) -> ImportReport:
    """Read what is new in some homes."""
    return bring_up_to_date(ledger, homes)


def report(ledger: Path, by: str | Sequence[str] = "day", zone: str = "UTC") -> CostReport:
    """Report on everything in a ledger."""
    query = CostQuery(by=keys_of(by), zone=zone_of(zone))
    with Ledger.open(ledger) as opened:
        return build(opened.connection, query)


def calls_by(ledger: Path, key: str, zone: str = "UTC") -> dict[str | None, int]:
    """How many calls each group has."""
    return {row.keys[key]: row.calls for row in report(ledger, key, zone).rows}


def totals(ledger: Path) -> Totals:
    """What the slow reading gives, from a report."""
    found: Totals = {}
    for row in report(ledger, "agent,model,day").rows:
        tokens = row.tokens
        counts = tokens.input, tokens.output, tokens.cache_read, tokens.cache_write
        agent, model, day = (row.keys[name] for name in ("agent", "model", "day"))
        found[str(agent), model, str(day)] = row.calls, counts
    return found
