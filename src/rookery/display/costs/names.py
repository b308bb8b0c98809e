"""What the rows of a report are called."""

from rookery.archive.report.figures import CostRow
from rookery.model.safe import safe_line
from rookery.model.text import from_home

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
