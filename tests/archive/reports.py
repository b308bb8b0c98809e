"""Reports on made-up homes, in this process."""

from collections.abc import Sequence
from pathlib import Path

from rookery.archive.importer import ImportReport, bring_up_to_date
from rookery.archive.ledger.ledger import Ledger
from rookery.archive.report.build import build
from rookery.archive.report.figures import CostReport
from rookery.archive.report.query import CostQuery, keys_of
from rookery.archive.report.zone import zone_of


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
