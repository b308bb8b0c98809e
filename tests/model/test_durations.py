"""Durations: never negative, unknown is not zero, and one function computes them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightrook.model.durations import duration, elapsed_s
from tests.test_architecture import ALL, SOURCE

STARTS = {"started_at", "begin", "began", "begun", "since", "turn_began", "at"}
"""The fields in which a beginning is kept."""


@pytest.mark.parametrize(
    ("start", "end", "elapsed"),
    [
        (100.0, 142.5, 42.5),
        (100.0, 100.0, 0.0),
        (100.0, 40.0, 0.0),  # the clock was set back
        (None, 40.0, None),
        (100.0, None, None),
        (None, None, None),
    ],
)
def test_a_duration_is_never_negative_and_unknown_is_not_zero(
    start: float | None, end: float | None, elapsed: float | None
) -> None:
    assert elapsed_s(start, end) == elapsed


def subtracted_starts(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            start = node.right
            kept = isinstance(start, ast.Attribute) and start.attr.lstrip("_") in STARTS
            if kept and not ast.unparse(start).startswith("options."):  # a length of time
                yield f"{path.relative_to(SOURCE)}: {ast.unparse(node)}"


def test_no_other_function_subtracts_the_times_of_what_happened() -> None:
    others = (path for path in ALL if path.relative_to(SOURCE).parts[0] != "testing")
    assert [found for path in others for found in subtracted_starts(path)] == []


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (None, "?"),
        (0.04, "0.0s"),
        (9.94, "9.9s"),
        (59.9, "59s"),
        (60, "1m 00s"),
        (3599, "59m 59s"),
        (7260, "2h 01m"),
    ],
)
def test_durations_are_short(seconds: float | None, shown: str) -> None:
    assert duration(seconds) == shown
