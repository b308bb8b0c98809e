"""What the rows of a report are called."""

from collections.abc import Callable

import msgspec

from nightrook.archive.report.figures import CostReport, CostRow
from nightrook.model.safe import safe_line
from nightrook.model.text import from_home

_UNNAMED = "-"
_ID = 8  # characters of a session's id, beside its title


def name_of(key: str, row: CostRow, home: str | None) -> str:
    """What a row is called, by one of its keys; safe to print. Paths are shown from `home`."""
    name = row.keys[key]
    if name is None:
        return _UNNAMED
    if key == "session" and row.title:
        name = f"{name[:_ID]} {row.title}"
    return safe_line(from_home(name, home) if key == "project" else name)


def without_secrets(report: CostReport, redact: Callable[[str], str]) -> CostReport:
    """The same report with all names redacted; a name that was cut first could keep a part."""

    def clean(text: str | None) -> str | None:
        return text and redact(text)

    rows = [
        msgspec.structs.replace(
            row, keys={key: clean(name) for key, name in row.keys.items()}, title=clean(row.title)
        )
        for row in report.rows
    ]
    notes = tuple(redact(note) for note in report.notes)
    return msgspec.structs.replace(report, rows=tuple(rows), notes=notes)
