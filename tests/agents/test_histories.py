"""What holds for the stored sessions of every agent."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightrook import agents
from nightrook.adapter.history import Call, History
from tests.agents.histories import check_reading, damaged, place_of, read, transcripts


def keeps_files(name: str) -> bool:
    return any(place.kind != "sqlite" for place in agents.history(name).places)


OF_FILES = [name for name in agents.HISTORIES if keeps_files(name)]
"""The agents that keep files; those that keep only a SQLite store read rows."""

every_history = pytest.mark.parametrize("name", OF_FILES)


def files(name: str) -> list[tuple[History, str, bytes]]:
    history = agents.history(name)
    return [
        (history, path, data)
        for path, data in transcripts(name)
        if place_of(history, path) is not None
    ]


@pytest.mark.parametrize("name", agents.HISTORIES)
def test_a_history_has_the_name_of_its_agent_and_places_to_look(name: str) -> None:
    history = agents.history(name)
    assert history.agent == name
    assert history.places
    for place in history.places:
        re.compile(place.files)
        assert not place.home.startswith("/")


@every_history
def test_there_are_transcripts_with_calls(name: str) -> None:
    findings = [finding for file in files(name) for finding in read(*file)]
    assert any(isinstance(finding, Call) for finding in findings)


@every_history
def test_reading_can_resume_after_any_line_of_a_transcript(name: str) -> None:
    for history, path, data in files(name):
        check_reading(history, path, data)


@every_history
def test_a_transcript_is_recognised_as_that_of_its_agent_alone(name: str) -> None:
    for _, path, data in files(name):
        owners = [other for other in OF_FILES if agents.history(other).recognises(data[:4096])]
        assert owners == [name], path


@every_history
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_damaged_files_are_read_without_an_error(name: str, seed: int) -> None:
    stored = files(name)
    history, path, data = stored[seed % len(stored)]
    check_reading(history, path, damaged(data, path, seed))


@every_history
@settings(max_examples=40)
@given(data=st.binary(), seed=st.integers(0, 2**32))
def test_any_bytes_are_read_without_an_error(name: str, data: bytes, seed: int) -> None:
    stored = files(name)
    history, path, _ = stored[seed % len(stored)]
    for needle in history.stored().needles:
        check_reading(history, path, data)
        check_reading(history, path, b"{%b:%b" % (needle, data))
        check_reading(history, path, b'{%b:"%b"}' % (needle, data))


@every_history
@pytest.mark.parametrize("parts", [(), ("",), ("a",), ("a", "b.jsonl"), ("x",) * 9])
def test_the_memory_of_a_file_begins_whatever_its_path_is(
    name: str, parts: tuple[str, ...]
) -> None:
    reader = agents.history(name).stored()
    memory = reader.begin(parts)
    assert isinstance(memory, reader.facts)
    for _, _, data in files(name):
        for line in data.split(b"\n"):
            reader.findings([line], memory)
