"""Reports of cost for programs: JSON and CSV."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import msgspec

from nightrook.archive.report.figures import CostReport, CostRow, Figures
from nightrook.model.safe import safe_line
from nightrook.model.text import encodable

_FORMULA = ("=", "+", "-", "@")
_COLUMNS = (
    "input",
    "output",
    "cache_read",
    "cache_write",
    "native_usd",
    "estimated_usd",
    "unpriced_tokens",
    "calls",
)


def without_secrets(report: CostReport, redact: Callable[[str], str]) -> CostReport:
    """Redact all names of a report; a name that was cut first could keep a part."""

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


def report_json(report: CostReport) -> bytes:
    """A report as one JSON object."""
    return msgspec.json.encode(
        {
            "timezone": encodable(report.timezone),
            "by": report.by,
            "total": _figures(report.total),
            "rows": [{**_keys(row), **_figures(row)} for row in report.rows],
            "notes": [encodable(note) for note in report.notes],
        }
    )


def report_csv(report: CostReport) -> str:
    """The rows of a report as CSV, under a heading."""
    import csv  # only for this

    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*report.by, *_COLUMNS))
    for row in report.rows:
        writer.writerow((*(_cell(row.keys[key] or "") for key in report.by), *_numbers(row)))
    return out.getvalue()


def _figures(figures: Figures) -> dict[str, Any]:
    return {
        "tokens": figures.tokens,
        "cost_usd": figures.cost_usd,
        "unpriced_tokens": figures.unpriced_tokens,
        "calls": figures.calls,
    }


def _keys(row: CostRow) -> dict[str, str | None]:
    return {key: name and encodable(name) for key, name in row.keys.items()}


def _numbers(figures: Figures) -> tuple[int | str, ...]:
    tokens, cost = figures.tokens, figures.cost_usd
    return (
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write,
        f"{cost.native:.9f}",
        f"{cost.estimated:.9f}",
        figures.unpriced_tokens,
        figures.calls,
    )


def _cell(text: str) -> str:
    """Text that a spreadsheet does not run as a formula."""
    line = safe_line(text)
    return f"'{line}" if line.startswith(_FORMULA) else line  # guards: no-formula
