"""Drift: fields that nobody knew are counted, within bounds."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nightrook.adapter.drift import LOOKED_AT, Drift, watch
from nightrook.model.events import Notice, UnknownField

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

KNOWN = {
    "talk": "type parts parts[].text usage usage.input extra",
    "end": "type",
}


def found(type: str, *messages: Any) -> dict[str, int]:
    """The unknown fields of some messages, and how often each was seen."""
    drift = Drift(KNOWN)
    for message in messages:
        drift.look(type, json.dumps(message).encode())
    assert all(field.type == type for field in drift.fields())
    return {field.field: field.count for field in drift.fields()}


def test_a_message_of_known_fields_has_no_drift() -> None:
    message = {"type": "talk", "parts": [{"text": "a"}], "usage": {"input": 1}, "extra": {"a": 1}}
    assert found("talk", message) == {}


def test_unknown_fields_are_counted_wherever_they_are() -> None:
    message = {"new": 1, "parts": [{"text": "", "b": 1}, {"b": 2}], "usage": {"c": {"d": 1}}}
    assert found("talk", message, message) == {"new": 2, "parts[].b": 4, "usage.c": 2}


def test_an_object_of_which_no_field_is_known_is_not_looked_into() -> None:
    assert found("talk", {"extra": {"anything": 1}}) == {}


@pytest.mark.parametrize("odd", [5, None, "text", [], [[{"text": 1}]], {"usage": [1]}])
def test_values_of_another_shape_are_not_unknown_fields(odd: Any) -> None:
    assert found("talk", {"parts": odd, "extra": odd}) == {}


def test_a_message_that_is_not_an_object_has_no_drift() -> None:
    assert found("talk", 5, "text", None, []) == {}


def test_a_message_of_an_unknown_type_has_no_drift() -> None:
    assert found("news", {"a": 1}) == {}


def test_unknown_types_use_no_memory() -> None:
    drift = Drift(KNOWN)
    for n in range(1000):
        drift.look(f"news/{n}", b'{"a":1}')
    assert not drift._looked


def test_fields_are_given_by_type_and_name() -> None:
    drift = Drift(KNOWN)
    for type, field in [("talk", "b"), ("end", "z"), ("talk", "a"), ("talk", "b")]:
        drift.add(type, field)
    assert drift.fields() == (
        UnknownField(type="end", field="z", count=1),
        UnknownField(type="talk", field="a", count=1),
        UnknownField(type="talk", field="b", count=2),
    )


def test_only_the_first_messages_of_each_type_are_looked_at() -> None:
    drift = Drift(KNOWN)
    for _ in range(LOOKED_AT + 5):
        drift.look("talk", b'{"a":1}')
    drift.look("end", b'{"a":1}')
    assert drift.fields() == (
        UnknownField(type="end", field="a", count=1),
        UnknownField(type="talk", field="a", count=LOOKED_AT),
    )


def test_a_million_fields_are_not_all_remembered() -> None:
    counted = found("end", {str(n): n for n in range(100_000)}, {"0": 1, "another": 1})
    assert (len(counted), counted["0"]) == (1000, 2)


def test_a_field_of_a_megabyte_is_not_remembered_whole() -> None:
    drift = Drift(KNOWN)
    drift.add("t" * 1_000_000, "f" * 1_000_000)
    (field,) = drift.fields()
    assert field == UnknownField(type="t" * 197 + "...", field="f" * 197 + "...", count=1)


@steady
@given(st.binary() | st.just(b"[" * 100_000) | st.just(b'{"parts":' * 5_000))
def test_any_bytes_can_be_looked_at(line: bytes) -> None:
    Drift(KNOWN).look("talk", line)


class End(msgspec.Struct, tag="end"):
    """A message of a stream that does not tell its version."""


def test_the_first_messages_of_each_type_are_looked_at_and_read() -> None:
    drift = Drift(KNOWN)
    table: dict[Any, Any] = {End: lambda memory, message, line: memory}
    watch(table, drift)
    told = (Notice(level="info", text="read"),)
    for _ in range(LOOKED_AT + 10):
        assert table[End](told, End(), b'{"type":"end","new":1}') == told
    assert drift.fields() == (UnknownField(type="end", field="new", count=LOOKED_AT),)
    assert table[End].__name__ == "<lambda>"  # the rest cost nothing more
