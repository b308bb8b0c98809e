"""The chart of a report: an axis that ends close above the bars, and labels that are whole."""

import re

import pytest
from tests.display.costs.reports import figures, report

from nightrook.archive.report.figures import CostRow
from nightrook.display.costs.page import chart


def drawn(*costs: float) -> str:
    rows = [
        CostRow(keys={"day": f"2026-11-{number:02}"}, **figures(cost))
        for number, cost in enumerate(costs, 1)
    ]
    return chart(report(*rows, by=("day",)), None)


@pytest.mark.parametrize(("most", "end"), [(2.5, "$3.00"), (0.9, "$1.00"), (41.0, "$50.00")])
def test_the_axis_ends_with_a_round_amount_close_above_the_bars(most: float, end: str) -> None:
    assert re.findall(r">(\$[0-9.]+)</text>", drawn(most, most / 2))[-1] == end


def test_no_label_leaves_the_picture() -> None:
    picture = drawn(*range(1, 26))
    places = [float(x) for x in re.findall(r'<text x="([0-9.]+)"[^>]*middle', picture)]
    assert len(places) > 5
    assert max(places) <= 960 - 50
