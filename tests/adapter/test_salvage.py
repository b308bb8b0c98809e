"""Salvage: what strict reading refuses is read as far as it goes, and nothing raises."""

import json
import re
from time import process_time
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nightrook.adapter import salvage
from nightrook.adapter.salvage import DEEPEST_LINE, Fitted, Repaired
from nightrook.model.events import Unreadable
from tests.rules import each

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

DEEP = 100_000  # more than any Python follows


class Usage(msgspec.Struct):
    input: int | None = None
    output: int | None = None


class Said(msgspec.Struct, tag="said"):
    text: str = ""


class Shown(msgspec.Struct, tag="shown"):
    url: str = ""


class Message(msgspec.Struct, tag="message"):
    id: str | None = None
    usage: Usage | None = None
    words: list[str] | None = None
    parts: list[Usage] | None = None
    block: Said | Shown | None = None
    costs: dict[str, float] | None = None


class Other(msgspec.Struct, tag="other"):
    id: str


decoder = msgspec.json.Decoder(Message | Other)


@pytest.mark.parametrize(
    ("line", "value", "text"),
    [
        (b'{"a":1}', {"a": 1}, b'{"a":1}'),
        (b' {"a" : 1} \r\n', {"a": 1}, b'{"a" : 1}'),
        ('{"a":"ñ\u2028\x85"}'.encode(), {"a": "ñ\u2028\x85"}, '{"a":"ñ\u2028\x85"}'.encode()),
        (b'{"a":1,"a":2}', {"a": 2}, b'{"a":1,"a":2}'),
        (b'{"a":%d}' % 10**30, {"a": 10**30}, b'{"a":%d}' % 10**30),
        (b"[1,null]\n", [1, None], b"[1,null]"),
    ],
)
def test_good_json_is_kept_as_it_was_written(line: bytes, value: Any, text: bytes) -> None:
    assert salvage.parse(line) == Repaired(value, text)


@each(
    ("line", "value"),
    [
        (rb'{"a":"\ud800"}', {"a": "\ufffd"}),
        (rb'{"a":"x\ud83dy","b":1}', {"a": "x\ufffdy", "b": 1}),
        (rb'{"a":"\udc00\ud800"}', {"a": "\ufffd\ufffd"}),
        (rb'{"\ud800":1}', {"\ufffd": 1}),
        (rb'{"a":["\ud83d\ude00","\ud83d"]}', {"a": ["\U0001f600", "\ufffd"]}),
        (b'{"a":"\xed\xa0\x80"}', {"a": "\ufffd\ufffd\ufffd"}),
        (b'{"a":"\xff","b":"ok"}', {"a": "\ufffd", "b": "ok"}),
        (b'{"a":"\xf0\x9f\x98"}', {"a": "\ufffd"}),
        (b'{"\xc3":1}', {"\ufffd": 1}),
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b'{"a":"x\x00y\x1b[31m\x07\tz"}', {"a": "x\x00y\x1b[31m\x07\tz"}),
        (b'{"a":NaN,"b":Infinity,"c":-Infinity}', {"a": None, "b": None, "c": None}),
        (b'{"a":1e400,"b":-1e400,"c":1e300}', {"a": None, "b": None, "c": 1e300}),
        (b'{"a":%d,"b":NaN}' % 10**30, {"a": None, "b": None}),
        (b'{"a":%d,"b":NaN}' % (2**64 - 1), {"a": 2**64 - 1, "b": None}),
        (b'{"a":%d,"b":NaN}' % -(2**63), {"a": -(2**63), "b": None}),
        (b'{"a":%b,"b":-%b,"c":1}' % (b"9" * 5000, b"9" * 5000), {"a": None, "b": None, "c": 1}),
        (b'{"a":NaN,"a":1,"b":1,"b":NaN}', {"a": 1, "b": None}),
    ],
)
def test_what_strict_readers_refuse_is_mended(line: bytes, value: Any) -> None:
    mended = salvage.parse(line)
    assert isinstance(mended, Repaired)
    assert (mended.value, msgspec.json.decode(mended.json)) == (value, value)


@each(
    "line",
    [
        b"npm notice",
        b"",
        b'{"a":1',
        b'{"a":1}}',
        b'{"a":1} {"b":2}',
        b"{'a':1}",
        b'{"a":01}',
        b'{"a":"\\x"}',
        b'{"a":"\\u12"}',
        b"{,}",
        b"\xff\xfe",
        b"\x00",
        b'\x1b[2K{"a":1}',
    ],
)
def test_a_line_that_is_not_json_is_unreadable(line: bytes) -> None:
    preview = line.rstrip().decode("utf-8", "replace")
    assert salvage.parse(line) == Unreadable(reason="not_json", preview=preview)


@pytest.mark.parametrize(("opening", "ending"), [(b"[", b"]"), (b'{"a":', b"}")])
@pytest.mark.parametrize("odd", [b"1", b"NaN", b'"\xff"'])
def test_json_that_is_too_deep_is_unreadable(opening: bytes, ending: bytes, odd: bytes) -> None:
    line = opening * DEEP + odd + ending * DEEP
    assert salvage.parse(line) == Unreadable(reason="too_deep", preview=line[:200].decode())


def test_one_level_more_than_the_deepest_is_too_deep() -> None:
    deepest, deeper = (b"[" * n + b"]" * n for n in (DEEPEST_LINE, DEEPEST_LINE + 1))
    assert isinstance(salvage.parse(deepest), Repaired)
    assert salvage.parse(deeper) == salvage.unreadable(deeper, "too_deep")


@pytest.mark.parametrize(
    ("json", "cut"),
    [
        (b'{"a":[1,"]["],"b":2}', b'{"a":[1,"]["],"b":2}'),
        (b'{"a":[[1],2,{"b":3}],"c":"[[[["}', b'{"a":[null,2,null],"c":"[[[["}'),
        (b'[[["\\"]",1]]]', b"[[null]]"),
        (b"[[[[[", b"[[null"),
        (b"[[[]]]]]]", b"[[null]]]]]"),
        (b'"[[[[[[" [[[1]]]', b'"[[[[[[" [[null]]'),
    ],
)
def test_what_is_nested_too_deep_becomes_null(json: bytes, cut: bytes) -> None:
    assert salvage.shallow(json, 2) == cut


def test_json_that_is_not_too_deep_is_not_copied() -> None:
    json = b"[[1],[2],[3],[4]]"
    assert salvage.shallow(json, 2) is json


def test_a_preview_is_short_and_good_unicode() -> None:
    told = salvage.unreadable("ñ".encode() * 1000 + b"\n", "not_json")
    assert told == Unreadable(reason="not_json", preview="ñ" * 100)
    told = salvage.unreadable(b"x" + "ñ".encode() * 1000, "oversized")
    assert told == Unreadable(reason="oversized", preview="x" + "ñ" * 99 + "\ufffd")


@steady
@given(st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_mended_or_unreadable(line: bytes) -> None:
    found = salvage.parse(line)
    if isinstance(found, Repaired):
        assert msgspec.json.decode(found.json) == found.value
        assert msgspec.json.decode(msgspec.json.encode(found.value)) == found.value


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**29, 10**30)
    | st.floats()
    | st.text(st.characters(), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["type", "id", "usage", "words", "parts", "block", "costs", "input"])
            | st.text(st.characters(), max_size=3),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@steady
@given(JSON_VALUES)
def test_whatever_python_calls_json_is_mended(value: Any) -> None:
    found = salvage.parse(json.dumps(value).encode())
    assert isinstance(found, Repaired)
    assert msgspec.json.decode(found.json) == found.value


@steady
@given(JSON_VALUES, st.sampled_from(["message", "other"]))
def test_any_value_is_fitted_or_refused(value: Any, tag: str) -> None:
    line = json.dumps({**value, "type": tag} if isinstance(value, dict) else value).encode()
    mended = salvage.parse(line)
    assert isinstance(mended, Repaired)
    fitted = salvage.fit(mended.value, decoder)
    assert isinstance(fitted.value, Message | Other | None)
    assert isinstance(salvage.decode_part(line, decoder), Message | Other | None)


def test_a_value_that_fits_loses_nothing() -> None:
    value = {"type": "message", "id": "a", "usage": {"input": 1, "new": 2}, "new": [1]}
    assert salvage.fit(value, decoder) == Fitted(Message(id="a", usage=Usage(input=1)), [])


@pytest.mark.parametrize(
    ("part", "message", "dropped"),
    [
        ({"id": 5}, Message(words=["w"]), ["id"]),
        ({"usage": "much"}, Message(words=["w"]), ["usage"]),
        (
            {"usage": {"input": "x", "output": 2}},
            Message(words=["w"], usage=Usage(output=2)),
            ["usage.input"],
        ),
        ({"words": {"a": 1}}, Message(), ["words"]),
        ({"words": ["a", 1, "b", None, "c"]}, Message(words=["a", "b", "c"]), ["words[]"] * 2),
        (
            {"parts": [{"input": 1}, 7, {"input": [], "output": 2}]},
            Message(words=["w"], parts=[Usage(input=1), Usage(output=2)]),
            ["parts[]", "parts[].input"],
        ),
        ({"block": {"text": "untagged"}}, Message(words=["w"]), ["block"]),
        (
            {"block": {"type": "said", "text": []}},
            Message(words=["w"], block=Said()),
            ["block.text"],
        ),
        ({"block": {"type": 5, "text": "x"}}, Message(words=["w"]), ["block.type", "block"]),
        ({"id": 1, "usage": 2, "parts": 3}, Message(words=["w"]), ["id", "usage", "parts"]),
    ],
)
def test_a_retyped_field_costs_nothing_but_itself(
    part: dict[str, Any], message: Message, dropped: list[str]
) -> None:
    value = {"type": "message", "words": ["w"], **part}
    assert salvage.fit(value, decoder) == Fitted(message, dropped)


@pytest.mark.parametrize(
    ("value", "unknown_type"),
    [
        ({"type": "message", "block": {"type": "danced", "text": "x"}}, "danced"),
        ({"type": "news"}, "news"),
    ],
)
def test_a_part_of_an_unknown_type_is_a_stranger(value: dict[str, Any], unknown_type: str) -> None:
    assert salvage.fit(value, decoder) == Fitted(None, [], unknown_type)


@pytest.mark.parametrize("value", [5, [], "text", None, {}, {"type": "other"}, {"type": []}])
def test_a_value_of_which_nothing_fits_gives_nothing(value: Any) -> None:
    assert salvage.fit(value, decoder).value is None


def test_one_bad_value_of_a_map_costs_the_map_and_no_more() -> None:
    value = {"type": "message", "id": "a", "costs": {"x": 1.0, "y": "much"}}
    assert salvage.fit(value, decoder) == Fitted(Message(id="a"), ["costs"])


@pytest.mark.parametrize("count", [64, 65, 1000, 100_000])
def test_very_many_bad_items_are_soon_given_up(count: int) -> None:
    begun = process_time()
    value = {"type": "message", "id": "a", "words": [*range(count), "w"]}
    fitted = salvage.fit(value, decoder)
    words = ["w"] if count <= 64 else None
    end = [] if count <= 64 else ["words"]
    assert fitted == Fitted(Message(id="a", words=words), ["words[]"] * 64 + end)
    assert process_time() - begun < 5


def test_a_value_that_is_too_deep_gives_nothing() -> None:
    deep: list[Any] = []
    for _ in range(DEEP):
        deep = [deep]
    assert salvage.fit({"type": "message", "new": deep}, decoder) == Fitted(None, [])


def test_a_part_is_decoded_when_it_fits_or_can_be_made_to() -> None:
    usage = msgspec.json.Decoder(Usage)
    parts = [
        b'{"input":1,"output":2}',
        b'{"input":"x","output":2}',
        b'{"input":NaN,"output":2}',
        b'{"input":1e400,"output":2}',
        b'{"input":1,"input":3,"output":2,"\xff":"\\ud800"}',
        msgspec.Raw(b'{"output":2}'),
        b"[1]",
        b"no json",
        b"[" * DEEP,
        b'{"new":%b%b}' % (b"[" * DEEP, b"]" * DEEP),
    ]
    assert [salvage.decode_part(part, usage) for part in parts] == [
        Usage(input=1, output=2),
        Usage(output=2),
        Usage(output=2),
        Usage(output=2),
        Usage(input=3, output=2),
        Usage(output=2),
        None,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("raw", "owned"),
    [
        (b' {"a": 1}\r\n', b'{"a": 1}'),
        ('"ñ"'.encode(), '"ñ"'.encode()),
        (b'{"a":"\xff"}', '{"a": "\ufffd"}'.encode()),
        (b'{"a":"\xed\xa0\x80"}', '{"a": "\ufffd\ufffd\ufffd"}'.encode()),
        (b"null", b"null"),
        (b"[1,%b]" % (b"9" * 5000), b"[1, null]"),
        (b"[1,%b]" % (b"9" * 4200), b"[1,%b]" % (b"9" * 4200)),
        (b'["%b"]' % (b"9" * 5000), b'["%b"]' % (b"9" * 5000)),
    ],
    ids=lambda raw: repr(raw[:12]),
)
def test_a_raw_part_of_an_event_is_json_that_anybody_can_read(raw: bytes, owned: bytes) -> None:
    json.loads(owned)
    assert salvage.raw_copy(raw) == msgspec.Raw(owned)
    assert salvage.raw_copy(msgspec.Raw(raw)) == msgspec.Raw(owned)


@each("before", range(0, 9000, 617))
def test_a_long_number_is_found_wherever_it_is(before: int) -> None:
    raw = b'["%b",%b]' % (b"x" * before, b"9" * 5000)
    assert salvage.raw_copy(raw) == msgspec.Raw(b'["%b", null]' % (b"x" * before))


def test_looking_for_long_numbers_takes_no_long_time() -> None:
    begun = process_time()
    raw = b"[%b]" % b",".join([b"9" * 3999] * 2500)
    assert salvage.raw_copy(raw) == msgspec.Raw(raw)
    assert process_time() - begun < 5


def test_a_raw_part_that_nobody_can_read_is_nothing() -> None:
    assert salvage.raw_copy(b'{"\xff') is None


def test_a_raw_part_of_an_event_does_not_keep_its_line_in_memory() -> None:
    class Shape(msgspec.Struct):
        input: msgspec.Raw

    line = bytearray(b'{"input":{"a":1}}')
    owned = salvage.raw_copy(msgspec.json.decode(line, type=Shape).input)
    line[:] = b"x" * len(line)
    assert owned == msgspec.Raw(b'{"a":1}')


def test_a_raw_part_that_a_message_does_not_have_is_none() -> None:
    assert salvage.raw_copy(msgspec.Raw()) is None
    assert salvage.raw_copy(b" ") is None


@each(
    ("line", "expected"),
    [
        (b'{"a":1,"b":{"c{"a":2}', {"a": 2}),
        (b'\0\0{"a":{"a":3}}', {"a": {"a": 3}}),
        (b'{"a":1}{"a":2}{"a":', None),
        (b'{"a":' * 100, None),
        (b"", None),
    ],
)
def test_a_message_after_a_cut_one_is_decoded(line: bytes, expected: object) -> None:
    decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder()
    assert salvage.decode_after_cut(line, decoder, re.compile(rb'\{"a"')) == expected


@pytest.mark.parametrize(
    ("line", "messages"),
    [
        (b'{"a":1}{"b":"}{"}', [b'{"a":1}', b'{"b":"}{"}']),
        (b'{"a":1} {"b":2}\t{"c"', [b'{"a":1}', b'{"b":2}', b'{"c"']),
        (b'{"a":"}{', [b'{"a":"}{']),
        (b'{"a":"}{"}', [b'{"a":"}{"}']),
        (b"[" * 100_000 + b"}{", [b"[" * 100_000 + b"}{"]),
        (b"", [b""]),
    ],
)
def test_messages_without_a_newline_between_them_are_taken_apart(
    line: bytes, messages: list[bytes]
) -> None:
    assert salvage.whole_messages(line) == messages


def test_brackets_in_a_string_that_is_cut_off_are_not_counted() -> None:
    for end in (b"", b"\\", b'\\"'):  # a head of a stream often ends in a string
        json = b'{"text":"' + b'\\"[' * 500 + end
        assert salvage.shallow(json, 400) is json
