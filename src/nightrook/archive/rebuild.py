"""Reads all sources again into a new ledger, and keeps what can no longer be read."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from nightrook.archive.importer import ImportReport, Progress, import_into, locked
from nightrook.archive.ledger.carry_over import carry_over
from nightrook.archive.ledger.ledger import FILE, Ledger

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
                carry_over(old, new)
                old.replace_with(new)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return report
