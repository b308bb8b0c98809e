"""Our own agents pass the conformance suite that agents of other packages are held to."""

from pathlib import Path

import pytest

from rookery.agents import NAMES, agent
from rookery.testing.conformance import Case, check
from tests.recorded import cases, ending_of, facts, name_of


def recorded(name: str) -> list[Case]:
    """The cases of an agent without those that contain unknown messages on purpose."""
    verdicts: dict[str, str] = facts(name)["verdicts"]
    statuses = {case: status for status, names in verdicts.items() for case in names.split()}
    return [_case(path, statuses) for path in cases(name) if not _has_unknown(path)]


def _case(path: Path, statuses: dict[str, str]) -> Case:
    judged = ending_of(path).passed_limit is None  # an exit code is not part of the stream
    return Case(name_of(path), path.read_bytes(), statuses[name_of(path)] if judged else None)


def _has_unknown(path: Path) -> bool:
    return b'"type":"unknown"' in path.with_name("events.jsonl").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_our_own_agents_pass_the_conformance_suite(name: str) -> None:
    streams = recorded(name)
    assert len(streams) >= 11
    assert check(agent(name), streams) == []
