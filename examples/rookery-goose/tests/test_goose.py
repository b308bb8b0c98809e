"""Goose, held to what Rookery expects of every agent."""

from pathlib import Path

from rookery_goose import AGENT

from rookery.testing.conformance import cases_in, check


def test_it_does_what_rookery_expects_of_every_agent() -> None:
    cases = cases_in(Path(__file__).parent / "cases")
    assert len(cases) >= 12
    assert check(AGENT, cases) == []
