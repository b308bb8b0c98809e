"""Facts: four structs by origin, saved as one flat object."""

from itertools import combinations
from math import isfinite

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightrook.model.facts import (
    Facts,
    PassedLimit,
    PersonFacts,
    ProcessFacts,
    RecorderFacts,
    StreamFacts,
)
from nightrook.model.stuck_detection import Suspicion

PARTS = (ProcessFacts, StreamFacts, PersonFacts, RecorderFacts)
ANY = st.builds(
    Facts,
    process=st.from_type(ProcessFacts),
    stream=st.from_type(StreamFacts),
    person=st.from_type(PersonFacts),
    recorder=st.from_type(RecorderFacts),
).filter(lambda facts: all(map(isfinite, _numbers(facts))))


def _numbers(facts: Facts) -> list[float]:
    """The numbers that may be infinite, which JSON has no word for."""
    passed = facts.person.passed_limit
    found = [facts.stream.resets_at, *((passed.used, passed.allowed) if passed else ())]
    return [number for number in found if number is not None]


def test_no_two_origins_have_a_fact_of_the_same_name() -> None:
    for one, other in combinations(PARTS, 2):
        assert not set(one.__struct_fields__) & set(other.__struct_fields__)


@given(ANY)
def test_flat_facts_are_read_back_equal(facts: Facts) -> None:
    encoded = msgspec.json.encode(facts.flat())
    assert Facts.read(msgspec.json.decode(encoded)) == facts


def test_the_flat_form_has_what_is_known_and_nothing_else() -> None:
    facts = Facts(
        process=ProcessFacts(agent="claude", agent_exit_code=0),
        person=PersonFacts(
            passed_limit=PassedLimit(kind="cost", used=2.0),
            suspicion=Suspicion("no sign of life", ("no output for 5m 00s",)),
        ),
        recorder=RecorderFacts(lost_bytes=None),
    )
    assert facts.flat() == {
        "agent": "claude",
        "agent_exit_code": 0,
        "passed_limit": {"kind": "cost", "used": 2.0},
        "suspicion": {"reason": "no sign of life", "evidence": ("no output for 5m 00s",)},
        "lost_bytes": None,
    }
    assert Facts().flat() == {}


def test_a_fact_that_only_another_version_knows_is_left_out() -> None:
    assert Facts.read({"heard": True, "phase_of_the_moon": 3}) == Facts(
        stream=StreamFacts(heard=True)
    )


def test_a_fact_of_another_type_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError):
        Facts.read({"denials": "many"})
