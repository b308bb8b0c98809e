"""Reads all sources again into a new ledger, and keeps records whose source is gone."""

import os
import shutil
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import msgspec

from nightrook.archive.importer import ImportReport, Progress, import_into, locked
from nightrook.archive.ledger.batch import Batch
from nightrook.archive.ledger.calls import LINEAGE, KeyedCall, Names, Row, all_rows, from_row
from nightrook.archive.ledger.ledger import FILE, Ledger
from nightrook.archive.ledger.limits import read_limits
from nightrook.archive.ledger.runs import read_runs
from nightrook.archive.ledger.sessions import read_sessions
from nightrook.archive.ledger.sources import Source

_FOLDER = "ledger-rebuild"


def rebuild(
    ledger_path: str | os.PathLike[str],
    homes: Sequence[Path],
    *,
    progress: Progress | None = None,
) -> ImportReport:
    """Make the ledger again from all sources; calls whose source is gone are carried over.

    Other processes see the old ledger until the new one is complete, then the new one.
    """
    path = Path(ledger_path)
    with locked(path), Ledger.open(path) as old:
        import_into(old, homes)  # notes which files are gone or rewritten
        folder = path.parent / _FOLDER
        shutil.rmtree(folder, ignore_errors=True)  # of a rebuild that was killed
        try:
            with Ledger.open(folder / FILE) as new:
                report = import_into(new, homes, runs_home=path.parent, progress=progress)
                carry_over(old, new)  # guards: rebuild-keeps-gone-files
                old.replace_with(new)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return report


_ROWS = 20_000  # in one transaction

# All lines of other calls are in one file of lines that still has them: they were read again.
_KEPT = """
c.source_id != 0 AND (
  c.shared = 1 OR f.id IS NULL OR f.state != 'ok' OR f.rewritten = 1 OR f.kind != 'lines'
  OR f.path NOT IN (SELECT path FROM temp.read_again)
)
"""


def carry_over(old: Ledger, new: Ledger) -> None:
    """Add the records that only the old ledger has to a new one, which has read all sources."""
    again = new.sources()
    old.connection.execute("CREATE TEMP TABLE read_again (path TEXT PRIMARY KEY)")
    old.connection.executemany(
        "INSERT INTO temp.read_again VALUES (?)", ((path,) for path in again)
    )
    agents = dict(old.connection.execute("SELECT id, agent FROM sessions").fetchall())
    names, known = Names(old.connection), old.sources()
    rows = all_rows(old.connection, _KEPT)
    first = True
    while (part := list(islice(rows, _ROWS))) or first:
        batch = Batch()
        if first:
            _add_facts(batch, old, new)
            _add_sources(batch, known, again)
        for row in part:
            batch.carry(_keyed(row, agents, names))
        new.write(batch)
        first = False


def _keyed(row: Row, agents: dict[int, str], names: Names) -> KeyedCall:
    call = from_row(row, names)
    return KeyedCall(row[0], agents[row[1]], row[LINEAGE], call)


def _add_sources(batch: Batch, known: dict[str, Source], again: dict[str, Source]) -> None:
    """Keep the records of files that are gone, and of rewritten files."""
    for path, source in known.items():
        if path not in again:
            batch.add(source, ())
        elif source.rewritten:
            batch.add(msgspec.structs.replace(again[path], rewritten=True), ())


def _add_facts(batch: Batch, old: Ledger, new: Ledger) -> None:
    """Keep the facts on sessions and limits, and the runs that were removed."""
    read = {run.name for run in read_runs(new.connection)}
    for key, session in read_sessions(old.connection):
        batch.sessions[key] = session
    batch.limits |= read_limits(old.connection)
    batch.runs |= {run.name: run for run in read_runs(old.connection) if run.name not in read}
