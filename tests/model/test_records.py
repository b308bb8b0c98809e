"""Records: what `dump` writes, `load` reads back equal, and the schema describes it."""

import re
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nightrook
from nightrook.model import events
from nightrook.model.events import Event, Notice, TextDelta, Unknown, UsageReported
from nightrook.model.records import Record, dump, load, schema
from tests.rules import each

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

CLASSES: tuple[type[Any], ...] = get_args(Event)
PARTS = [
    value
    for value in vars(events).values()
    if isinstance(value, type) and issubclass(value, msgspec.Struct) and value not in CLASSES
]
VALIDATOR = jsonschema.Draft202012Validator(schema())

TRICKY = 'say "hi" \\ \n\r\t\x00\x1b\x7f\x85\u2028\ufeff 👩‍👧 क्‍ष </script>'


SIMPLE: dict[Any, Any] = {
    str: TRICKY,
    int: 2**53,
    float: 0.1,
    bool: False,
    msgspec.Raw: msgspec.Raw('{"ñ": [1e2, null], "a": "\\u2028"}'.encode()),
}


def example(type: Any) -> Any:
    """A value of a type, with every field of every part filled."""
    arguments = get_args(type)
    if get_origin(type) is Literal:
        return arguments[-1]
    if get_origin(type) is tuple:
        return (example(arguments[0]),) * 2
    if NoneType in arguments:
        return example(next(argument for argument in arguments if argument is not NoneType))
    if issubclass(type, msgspec.Struct):
        return type(**{f.name: example(f.type) for f in msgspec.structs.fields(type)})
    return SIMPLE[type]


def least(type: type[Any]) -> Any:
    """An event of a class with nothing but what it must have."""
    needed = [f for f in msgspec.structs.fields(type) if f.required]
    return type(**{f.name: example(f.type) for f in needed})


def snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


FULL = [Record(n, 1.5, 10 * n, 9, example(c)) for n, c in enumerate(CLASSES)]
LEAST = [Record(n, None, 0, 0, least(c)) for n, c in enumerate(CLASSES)]


def name_of(value: Any) -> str:
    return (value if isinstance(value, type) else type(value.event)).__name__


@each("record", FULL, ids=name_of)
def test_an_example_has_every_field_filled(record: Record) -> None:
    fields = [f.name for f in msgspec.structs.fields(record.event)]
    assert [f for f in fields if getattr(record.event, f) is None] == []


@each("record", FULL + LEAST, ids=name_of)
def test_what_dump_writes_load_reads_back_equal(record: Record) -> None:
    assert load(dump(record)) == record
    assert load(dump(record).decode()) == record


@each("record", FULL, ids=name_of)
def test_a_record_is_one_object_with_its_place_first_and_then_the_event(record: Record) -> None:
    fields = [f.name for f in msgspec.structs.fields(record.event)]
    written = msgspec.json.decode(dump(record))
    assert list(written) == ["seq", "offset", "length", "at", "type", *fields]
    place = {"seq": record.seq, "offset": record.offset, "length": 9, "at": 1.5}
    assert written == place | msgspec.json.decode(msgspec.json.encode(record.event))


@each("record", LEAST, ids=name_of)
def test_what_nobody_said_is_not_written(record: Record) -> None:
    needed = [f.name for f in msgspec.structs.fields(record.event) if f.required]
    assert list(msgspec.json.decode(dump(record))) == ["seq", "offset", "length", "type", *needed]


@each("record", FULL + LEAST, ids=name_of)
def test_a_dumped_record_is_one_line_of_utf8(record: Record) -> None:
    line = dump(record)
    line.decode()
    assert b"\n" not in line


@each("record", FULL + LEAST, ids=name_of)
def test_the_schema_describes_every_record(record: Record) -> None:
    assert list(VALIDATOR.iter_errors(msgspec.json.decode(dump(record)))) == []


def test_a_record_looks_like_this() -> None:
    record = Record(7, 12.25, 100, 20, TextDelta(id="m:0", text="ñ\n"))
    assert (
        dump(record)
        == (
            '{"seq":7,"offset":100,"length":20,"at":12.25,'
            '"type":"text_delta","id":"m:0","text":"ñ\\n"}'
        ).encode()
    )


def test_a_raw_part_is_written_as_it_was_read() -> None:
    record = Record(0, None, 0, 5, Unknown(name="news", raw=msgspec.Raw(b'{"a" : [1e2,1.0]}')))
    assert dump(record) == (
        b'{"seq":0,"offset":0,"length":5,"type":"unknown","name":"news","raw":{"a" : [1e2,1.0]}}'
    )


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"seq": 0, "offset": 0, "length": 0},
        {"seq": 0, "offset": 0, "length": 0, "type": "dance"},
        {"seq": "0", "offset": 0, "length": 0, "type": "turn_started"},
        {"offset": 0, "length": 0, "type": "turn_started"},
        {"seq": 0, "offset": 0, "length": 0, "type": "mode_changed"},
        {"seq": 0, "offset": 0, "length": 0, "type": "notice", "level": "loud", "text": ""},
    ],
)
def test_json_that_is_not_a_record_is_refused(record: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(record)
    with pytest.raises(msgspec.DecodeError):
        load(msgspec.json.encode(record))


def test_fields_of_a_later_version_are_passed_over() -> None:
    line = b'{"seq":0,"offset":0,"length":0,"type":"notice","level":"info","text":"a","new":1}'
    assert load(line) == Record(0, None, 0, 0, Notice(level="info", text="a"))


def test_the_schema_is_a_schema() -> None:
    assert nightrook.schema() == schema()
    jsonschema.Draft202012Validator.check_schema(schema())


@each("event", CLASSES, ids=name_of)
def test_the_schema_names_every_event(event: type[Any]) -> None:
    assert schema()["$defs"][event.__name__]["properties"]["type"] == {
        "enum": [snake_case(event.__name__)]
    }


@each("event", CLASSES, ids=name_of)
def test_the_tag_of_an_event_is_its_name_in_snake_case(event: type[Any]) -> None:
    assert event.__struct_config__.tag == snake_case(event.__name__)


@each("type", [*CLASSES, *PARTS], ids=name_of)
def test_every_event_and_part_says_what_it_is(type: type[Any]) -> None:
    assert type.__doc__
    assert "__doc__" in vars(type)


@each("event", CLASSES, ids=name_of)
def test_an_event_is_a_frozen_value(event: type[Any]) -> None:
    value = example(event)
    assert value == example(event)
    with pytest.raises(AttributeError):
        setattr(value, msgspec.structs.fields(event)[0].name, None)


@steady
@given(
    st.integers(0, 2**62),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.none() | st.integers(0, 2**53),
)
def test_any_text_and_number_survives(seq: int, at: float | None, text: str, n: int | None) -> None:
    for event in (
        Notice(level="info", text=text),
        UsageReported(scope="turn", semantics="final", model=text, input=n),
    ):
        record = Record(seq, at, seq, seq, event)
        assert load(dump(record)) == record
        assert b"\n" not in dump(record)
