"""Cursor Agent passes the checks that every agent has to pass."""

from pathlib import Path

from nightrook_cursor import AGENT

from nightrook.testing.conformance import cases_in, check


def test_cursor_passes_the_conformance_suite() -> None:
    cases = cases_in(Path(__file__).parent / "cases")
    assert len(cases) >= 12
    assert check(AGENT, cases) == []
