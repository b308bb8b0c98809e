"""Reports that tests show."""

from typing import Any

from nightrook.archive.report.figures import CostReport, CostRow, Dollars, Figures, Tokens

HOSTILE = "\x1b[2J<script>alert(1)</script>\u202e\"'&\n=cmd|x"
"""What an agent could write as the name of anything."""

_KINDS = Tokens.__struct_fields__


def figures(native: float = 0, estimated: float = 0, **given: int) -> dict[str, Any]:
    tokens = {name: given.pop(name) for name in _KINDS if name in given}
    return {
        "tokens": Tokens(**tokens),
        "cost_usd": Dollars(native=native, estimated=estimated),
        "calls": 1,
        **given,
    }


def report(*rows: CostRow, by: tuple[str, ...] = ("day", "model"), **given: Any) -> CostReport:
    total = Figures(
        tokens=Tokens(**{name: sum(getattr(row.tokens, name) for row in rows) for name in _KINDS}),
        cost_usd=Dollars(
            native=sum(row.cost_usd.native for row in rows),
            estimated=sum(row.cost_usd.estimated for row in rows),
        ),
        unpriced_tokens=sum(row.unpriced_tokens for row in rows),
        calls=sum(row.calls for row in rows),
    )
    return CostReport(timezone="Europe/Berlin", by=by, total=total, rows=rows, **given)


def three_rows(**given: Any) -> CostReport:
    return report(
        CostRow(
            keys={"day": "2026-11-02", "model": "opus"},
            **figures(3.0, 1.0, input=1200, output=34_000, cache_read=5_600_000, cache_write=70),
        ),
        CostRow(
            keys={"day": "2026-11-02", "model": "mine"},
            **figures(input=31_000, unpriced_tokens=31_000),
        ),
        CostRow(keys={"day": "2026-11-03", "model": None}, **figures(2.0, input=5)),
        **given,
    )


def hostile(**given: Any) -> CostReport:
    keys: tuple[str, ...] = ("agent", "project", "branch", "model", "session", "subagent", "run")
    row = CostRow(keys=dict.fromkeys(keys, HOSTILE), title=HOSTILE, **figures(1.0))
    return report(row, by=keys, notes=(HOSTILE,), **given)
