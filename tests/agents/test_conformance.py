"""Our own agents pass the conformance suite that agents of other packages are held to."""

from pathlib import Path

import pytest

from nightrook import agents
from nightrook.agents import NAMES, agent
from nightrook.testing.conformance import Case, check
from tests.recorded import cases, ending_of, facts, name_of


def recorded(name: str) -> list[Case]:
    """The cases of an agent without those that contain unknown messages on purpose."""
    verdicts: dict[str, str] = facts(name)["verdicts"]
    statuses = {case: status for status, names in verdicts.items() for case in names.split()}
    return [_case(path, statuses) for path in cases(name) if not _has_unknown(path)]


def _case(path: Path, statuses: dict[str, str]) -> Case:
    ending = ending_of(path)  # neither an exit code nor stderr is part of the stream
    judged = ending.person.passed_limit is None and ending.stream.failure is None
    return Case(name_of(path), path.read_bytes(), statuses[name_of(path)] if judged else None)


def _has_unknown(path: Path) -> bool:
    return b'"type":"unknown"' in path.with_name("events.jsonl").read_bytes()


def by_speaker(streams: list[Case]) -> dict[str, list[Case]]:
    """The cases of a protocol that many agents speak, by the agents that wrote them."""
    return {
        name: [case for case in streams if case.name.split("_")[0] == name]
        for name in {case.name.split("_")[0] for case in streams}
    }


@pytest.mark.parametrize("name", NAMES)
def test_our_own_agents_pass_the_conformance_suite(name: str) -> None:
    streams = recorded(name)
    assert len(streams) >= 11
    spoken = by_speaker(streams) if name == "acp" else {name: streams}
    for speaker, written in spoken.items():
        assert check(agent(speaker), written) == []


@pytest.mark.parametrize("name", agents.speaker_names())
def test_agents_known_by_their_protocol_alone_pass_the_conformance_suite(name: str) -> None:
    assert check(agent(name), [])[1:] == []  # the first line reports that there are no cases
