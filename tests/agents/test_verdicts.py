"""The verdict on every recorded stream: no false success and no false failure.

The judgements are in `<agent>/facts.toml`, made from what was written down beside each stream.
"""

from pathlib import Path

import pytest

from nightrook.agents import NAMES
from nightrook.model.status import EXIT_CODES, Outcome
from nightrook.model.verdict import judge
from tests.recorded import agent_of, cases, ending_of, facts, folded, full_name_of, name_of
from tests.recorded import recordings as recordings_of
from tests.rules import each


def judged(agent: str) -> dict[str, Outcome]:
    """The status of each stream, by its name."""
    table: dict[Outcome, str] = facts(agent)["verdicts"]
    names = [name for told in table.values() for name in told.split()]
    assert len(names) == len(set(names)), "judged twice"
    return {name: status for status, told in table.items() for name in told.split()}


def streams(agent: str) -> list[Path]:
    """The streams that must be judged: all cases, and the recordings that tell how they ended."""
    recordings = [path for path in recordings_of(agent) if path.with_suffix(".md").exists()]
    return [*cases(agent), *recordings]


STREAMS = [path for agent in NAMES for path in streams(agent)]


@pytest.mark.parametrize("agent", NAMES)
def test_the_table_has_every_recorded_case_once(agent: str) -> None:
    assert set(judged(agent)) == {name_of(path) for path in streams(agent)}


@each("path", STREAMS, ids=full_name_of)
def test_a_recorded_case_is_judged_as_a_person_does(path: Path) -> None:
    state, status = folded(path), judged(agent_of(path))[name_of(path)]
    ending = ending_of(path)
    verdict = judge(state, ending)
    assert (verdict.status, verdict.exit_code) == (status, EXIT_CODES[status])
    if ending.stream.failure is not None:  # without it, the stream only ends too early
        assert judge(state).status == "incomplete"
    elif ending.person.passed_limit is None:  # else how the process ended adds only words
        assert judge(state).status == status
