"""A run or session as one JSON object: its report, its turns and its steps."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from nightrook.display.export.steps import Step
from nightrook.display.reports.report import Report
from nightrook.display.spending import TurnUse


def document_object(
    report: Report, steps: Iterable[Step], turns: Sequence[TurnUse]
) -> dict[str, Any]:
    """Return the object; texts are without secrets, as in every document."""
    return {
        **msgspec.to_builtins(report),
        "turns": [_turn(number, use) for number, use in enumerate(turns, 1)],
        "steps": [msgspec.to_builtins(step) | _blocks(step) for step in steps],
    }


def _turn(number: int, use: TurnUse) -> dict[str, Any]:
    return {
        "turn": number,
        "tokens": use.tokens,
        "cost_usd": use.cost.usd,
        "cost_source": use.cost.source,
    }


def _blocks(step: Step) -> dict[str, Any]:
    return {"blocks": [block._asdict() for block in step.blocks]}
