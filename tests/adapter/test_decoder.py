"""The decoder contract, tried on a real agent's messages: any bytes in any cuts, nothing lost."""

import json
import re
from collections.abc import Iterable
from itertools import combinations, pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.agents import decoder
from nightrook.model.events import (
    Event,
    SessionStarted,
    StreamClosed,
    Text,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    UnknownField,
    Unreadable,
)
from nightrook.model.records import Record
from tests.rules import each

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

WORDS = "ñ 你好 שלום क्‍ष 👩‍👧 \u2028\u2029\x85\x7f e\u0301"


def line(message: Any) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def said(*blocks: Any, id: str = "m") -> dict[str, Any]:
    return {"type": "assistant", "message": {"id": id, "content": list(blocks)}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


# Invented, after what the agent writes; short, so that every cut of it can be tried.
INIT = line({"type": "system", "subtype": "init", "session_id": "s", "tools": ["Read"]})
SAID = line(said(text(WORDS)))
CALLED = line(said({"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "ü"}}))
ANSWERED = line(
    {
        "type": "user",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": WORDS}]},
    }
)
SILENT = line({"type": "keep_alive"})
RESULT = line({"type": "result", "subtype": "success", "is_error": False, "result": WORDS})
LINES = [INIT, SAID, CALLED, ANSWERED, SILENT, RESULT]
STREAM = b"".join(line + b"\n" for line in LINES)
INPUT = msgspec.Raw(line({"file_path": "ü"}))
EVENTS: list[Event] = [
    SessionStarted(session="s", tools=("Read",)),
    TurnStarted(origin="prompt"),
    Text(id="m:0", text=WORDS),
    ToolStarted(id="t", name="Read", kind="read", title="ü", input=INPUT),
    ToolFinished(id="t", status="ok", name="Read", kind="read", output=WORDS),
    TurnFinished(ok=True, text=WORDS),
]


def closed(**counted: Any) -> StreamClosed:
    usual: dict[str, Any] = {
        "results": 0,
        "truncated": False,
        "open_tools": 0,
        "lines": 0,
        "blank": 0,
        "silent": 0,
        "unknown_fields": (),
    }
    return StreamClosed(**usual | counted)


def decode(pieces: Iterable[bytes], *, cap: int = DEFAULT_CAP) -> list[Record]:
    reader = decoder("claude", cap=cap)
    records = [record for piece in pieces for record in reader.feed(piece)]
    return records + reader.close()


def events_of(*lines: bytes, cap: int = DEFAULT_CAP) -> list[Event]:
    return [record.event for record in decode([b"\n".join(lines)], cap=cap)]


def cut_at(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    return [data[begin:end] for begin, end in pairwise(sorted({0, len(data), *cuts}))]


def test_a_stream_becomes_its_events() -> None:
    assert events_of(*LINES, b"") == [*EVENTS, closed(results=1, lines=6, silent=1)]


def test_an_empty_stream_is_only_closed() -> None:
    assert decode([]) == [Record(0, None, 0, 0, closed())]


def test_bytes_after_the_end_are_refused() -> None:
    reader = decoder("claude")
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        reader.feed(b"")


def test_a_stream_ends_once() -> None:
    reader = decoder("claude")
    reader.feed(STREAM)
    assert (len(reader.close()), reader.close()) == (1, [])


def test_a_decoder_has_the_name_of_its_agent() -> None:
    assert decoder("claude").agent == "claude"


def test_records_are_numbered_without_a_gap() -> None:
    records = decode([STREAM, b"noise\n", STREAM])
    assert [record.seq for record in records] == list(range(len(records)))


def test_a_record_has_the_time_at_which_its_line_was_complete() -> None:
    reader = decoder("claude")
    fed = [
        reader.feed(INIT + b"\n" + SAID[:9], 1.0),
        reader.feed(SAID[9:], 2.0),
        reader.feed(b"\n" + RESULT, 3.0),
        reader.close(),
    ]
    times = [[(type(record.event), record.at) for record in records] for records in fed]
    assert times == [
        [(SessionStarted, 1.0), (TurnStarted, 1.0)],
        [],
        [(Text, 3.0)],
        [(TurnFinished, 3.0), (StreamClosed, None)],
    ]


def test_a_record_has_no_time_unless_it_is_passed() -> None:
    reader = decoder("claude")
    reader.feed(b"", 1.0)
    assert [record.at for record in reader.feed(STREAM)] == [None] * len(EVENTS)


@pytest.mark.parametrize("end", [b"\n", b"", b"\r\n", b" \r"])
def test_a_record_finds_its_line_in_the_raw_bytes(end: bytes) -> None:
    lines = [*LINES, b"\xff noise", b"", line({"type": "news", "ñ": 1}), b"[{}]"]
    raw = b"\n".join(lines) + end
    *records, last = decode([raw])
    found = [raw[record.offset :][: record.length] for record in records]
    spoken = [INIT, INIT, SAID, CALLED, ANSWERED, RESULT, *lines[6:7], *lines[8:]]
    spoken[-1] += end.removesuffix(b"\n")
    assert found == spoken
    assert (last.offset, last.length) == (len(raw), 0)


@steady
@given(st.lists(st.sampled_from([*LINES, b"noise", b"", b'{"type":"news"}'])), st.booleans())
def test_the_end_of_the_stream_is_always_last(lines: list[bytes], ended: bool) -> None:
    raw = b"\n".join(lines) + b"\n" * ended
    records = decode([raw])
    (end,) = [record for record in records if isinstance(record.event, StreamClosed)]
    assert records[-1] == end == Record(len(records) - 1, None, len(raw), 0, end.event)


def test_open_calls_are_ended_before_the_end_of_the_stream() -> None:
    raw = CALLED + b"\n"
    assert decode([raw])[2:] == [
        Record(
            2,
            None,
            len(raw),
            0,
            ToolFinished(id="t", status="orphaned", name="Read", kind="read"),
        ),
        Record(3, None, len(raw), 0, closed(lines=1, open_tools=1)),
    ]


@pytest.mark.parametrize("begun", [b"{", b'{"type":"resu', b" [", b'\xef\xbb\xbf{"a', RESULT[:-1]])
def test_a_last_line_that_begins_a_message_is_truncated(begun: bytes) -> None:
    records = decode([STREAM + begun])
    assert records[-2:] == [
        Record(
            len(EVENTS),
            None,
            len(STREAM),
            len(begun),
            Unreadable(reason="truncated", preview=begun[:200].decode("utf-8", "replace")),
        ),
        Record(
            len(EVENTS) + 1,
            None,
            len(STREAM + begun),
            0,
            closed(results=1, truncated=True, lines=7, silent=1),
        ),
    ]


@each("noise", ["npm notice", "}", "\x1b[2K", "ﻻ", "\U0001f600", "\uffff"])
@each("end", [b"\n", b""])
def test_noise_is_not_json_and_cuts_nothing(noise: str, end: bytes) -> None:
    assert events_of(noise.encode() + end) == [
        Unreadable(reason="not_json", preview=noise),
        closed(lines=1),
    ]


def test_a_cut_message_with_a_newline_is_not_json() -> None:
    assert events_of(b'{"type":"resu', b"") == [
        Unreadable(reason="not_json", preview='{"type":"resu'),
        closed(lines=1),
    ]


@pytest.mark.parametrize(
    ("value", "reason"),
    [(b"5", "not_an_object"), (b'"{"', "not_an_object"), (b"[1]", "not_an_object")],
)
def test_json_that_is_not_a_message_is_unreadable(value: bytes, reason: Any) -> None:
    assert events_of(value, b"") == [
        Unreadable(reason=reason, preview=value.decode()),
        closed(lines=1),
    ]


@pytest.mark.parametrize("depth", [10, 399, 1000, 100_000])
def test_a_message_is_read_whatever_its_unknown_fields_nest(depth: int) -> None:
    line = RESULT[:-1] + b',"new":' + b"[" * depth + b"]" * depth + b"}"
    assert events_of(line, b"")[:2] == events_of(RESULT, b"")[:2]


@pytest.mark.parametrize("depth", [10, 199, 200, 300, 399, 1000, 20_000])
def test_depth_is_cut_at_the_same_level_wherever_the_decoder_is_called(depth: int) -> None:
    command = b'{"a":' * depth + b"1" + b"}" * depth
    content = b'[{"type":"tool_use","id":"t","name":"New","input":' + command + b"}]"
    line = b'{"type":"assistant","message":{"id":"m","content":' + content + b"}}"

    def called(frames: int) -> list[Any]:
        return called(frames - 1) if frames else events_of(line, b"")

    [started] = [event for event in called(0) if isinstance(event, ToolStarted)]
    assert started.input is not None
    assert bytes(started.input).count(b"{") == min(depth, 200)
    assert called(200) == called(0)


def test_json_that_is_too_deep_is_unreadable_and_the_stream_continues() -> None:
    deep = b'{"type":"unheard of","a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert events_of(deep, RESULT, b"") == [
        Unreadable(reason="too_deep", preview=deep[:200].decode()),
        TurnStarted(origin="prompt"),
        TurnFinished(ok=True, text=WORDS),
        closed(results=1, lines=2),
    ]


@pytest.mark.parametrize("end", [b"\r\n", b" \n", b"\t\r\n"])
def test_white_space_before_a_newline_changes_no_event(end: bytes) -> None:
    records = decode([end.join([*LINES, b""])])
    assert [record.event for record in records] == events_of(*LINES, b"")


def test_a_byte_order_mark_changes_no_event() -> None:
    assert events_of(b"\xef\xbb\xbf" + STREAM) == events_of(STREAM)


def test_lines_of_white_space_are_blank() -> None:
    blank = [b"", b" ", b"\r", b"\t \r", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r", b"  "]
    assert events_of(*blank) == [closed(lines=len(blank), blank=len(blank))]


def test_a_line_over_the_cap_is_read_in_part_and_announced_with_its_place() -> None:
    long = line(said(text("x" * 5000)))
    raw = INIT + b"\n" + long + b"\n" + RESULT + b"\n"
    place = len(INIT) + 1
    records = decode(cut_at(raw, range(0, len(raw), 99)), cap=1000)
    warning = Unreadable(reason="oversized", preview=long[:200].decode())
    assert records[2] == Record(2, None, place, len(long), warning)
    assert isinstance(cut := records[3].event, Text)
    assert re.fullmatch(r"x+ \[\.\.\. \d+ bytes left out \.\.\.\] x+", cut.text)
    assert records[4:] == [
        Record(4, None, place + len(long) + 1, len(RESULT), TurnFinished(ok=True, text=WORDS)),
        Record(5, None, len(raw), 0, closed(results=1, lines=3)),
    ]


def test_a_last_line_over_the_cap_is_announced_with_its_place() -> None:
    assert decode([b"\n" + b"x" * 2000], cap=1000) == [
        Record(0, None, 1, 2000, Unreadable(reason="oversized", preview="x" * 200)),
        Record(1, None, 2001, 0, closed(lines=2, blank=1)),
    ]


def test_messages_in_one_array_are_messages() -> None:
    array = b"[" + b",".join(LINES) + b"]"
    records = decode([array])
    assert [record.event for record in records] == [*EVENTS, closed(results=1, lines=1)]
    assert {(record.offset, record.length) for record in records[:-1]} == {(0, len(array))}


def test_noise_between_any_two_lines_changes_no_other_event() -> None:
    noise = [b"[SandboxDebug] x", b"10%\r20%\r100%", b"\xff\xfe\x00", b"{'a': 1}", b"{"]
    for garbage in noise:
        events = events_of(*[part for line in LINES for part in (garbage, line)], garbage, b"")
        bad = [event for event in events if isinstance(event, Unreadable)]
        preview = garbage.decode("utf-8", "replace")
        assert bad == [Unreadable(reason="not_json", preview=preview)] * 7
        assert [event for event in events if event not in bad] == [
            *EVENTS,
            closed(results=1, lines=13, silent=1),
        ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("news", b'{"type": "news", "a": [1e2, {"b": null}], "\xc3\xb1": "\\u2028"}'),
        (None, b'{"no":"type"}'),
        (None, b'{"type":5}'),
        (None, b'{"type":null,"subtype":"init"}'),
        ("Result", b'{"type":"Result"}'),
        ("stream_event/dance", b'{"type":"stream_event","event":{"type":"dance"}}'),
    ],
)
def test_a_message_of_an_unknown_type_is_kept_whole(name: str | None, message: bytes) -> None:
    assert events_of(message, b"") == [
        Unknown(name=name, raw=msgspec.Raw(message)),
        closed(lines=1),
    ]


def test_an_unknown_message_is_kept_as_good_json() -> None:
    message = b'\xef\xbb\xbf{"type":"news","a":"\xff\\ud800\x00","b":NaN}\r'
    mended = '{"type": "news", "a": "\ufffd\ufffd\\u0000", "b": null}'
    assert events_of(message, b"")[0] == Unknown(name="news", raw=msgspec.Raw(mended.encode()))


ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    2**63,
    10**30,
    1.5,
    "",
    "text",
    [],
    [1],
    ["a"],
    {},
    {"a": {"b": []}},
]


@each("odd", ODD, ids=repr)
def test_a_surprise_in_one_field_never_costs_the_rest_of_its_line(odd: Any) -> None:
    message: dict[str, Any] = said({"type": "tool_use", "id": "t", "name": "Read"}, text("kept"))
    message["message"] |= {"usage": odd, "model": odd, "stop_reason": odd}
    message["error"] = odd if not isinstance(odd, str) else None
    message["message"]["content"].insert(1, odd)
    events = events_of(line(message), b"")
    assert ToolStarted(id="t", name="Read", kind="read") in events
    assert [event.text for event in events if isinstance(event, Text)] == ["kept"]


@pytest.mark.parametrize(
    "odd",
    [b"1e400", b"NaN", b'"\\ud800"', b'"\xff"', b'"\x00"', b"9" * 5000, b'"a","usage":[]'],
    ids=lambda odd: repr(odd[:10]),
)
def test_a_value_nobody_can_read_never_costs_the_rest_of_its_line(odd: bytes) -> None:
    for field in (b"usage", b"model", b"stop_reason", b"new"):
        bad = SAID[:-1] + b',"%b":%b}' % (field, odd)
        inner = SAID[:-2] + b',"%b":%b}}' % (field, odd)
        for message in (bad, inner):
            texts = [event for event in events_of(message, b"") if isinstance(event, Text)]
            assert texts == [Text(id="m:0", text=WORDS)]


def test_what_did_not_fit_is_counted() -> None:
    odd = line(said(text("a"), 5, {"type": "text", "text": 5}) | {"parent_tool_use_id": 5})
    assert events_of(odd, odd, b"")[-1] == closed(
        lines=2,
        unknown_fields=(
            UnknownField(type="assistant", field="message.content[]", count=2),
            UnknownField(type="assistant", field="message.content[].text", count=2),
            UnknownField(type="assistant", field="parent_tool_use_id", count=2),
        ),
    )


def test_a_duplicate_key_counts_as_its_last() -> None:
    assert events_of(b'{"type":"user","type":"result","is_error":false,"is_error":true}', b"") == [
        TurnStarted(origin="prompt"),
        TurnFinished(ok=False),
        closed(results=1, lines=1),
    ]


NOISY = STREAM + b"\xef\xbb\xbf\r\nnoise \xf0\x9f\n" + line({"type": "news", "ñ": WORDS}) + b"\r\n["


def test_any_cut_in_two_gives_the_same_records() -> None:
    whole = decode([NOISY])
    for place in range(len(NOISY) + 1):
        assert decode([NOISY[:place], NOISY[place:]]) == whole


def test_any_two_cuts_of_a_stream_in_many_scripts_give_the_same_records() -> None:
    short = SAID + b"\n"
    whole = decode([short])
    for first, second in combinations(range(len(short) + 1), 2):
        assert decode([short[:first], short[first:second], short[second:]]) == whole


def test_byte_by_byte_gives_the_same_records() -> None:
    assert decode(bytes([byte]) for byte in NOISY) == decode([NOISY])


@steady
@given(st.lists(st.integers(0, len(NOISY))))
def test_any_cuts_give_the_same_records(cuts: list[int]) -> None:
    assert decode(cut_at(NOISY, cuts)) == decode([NOISY])


def test_a_stream_cut_anywhere_in_its_last_two_lines_is_never_a_success() -> None:
    stream = b"\n".join([INIT, CALLED, ANSWERED, RESULT])
    ends = {
        len(INIT + CALLED) + 1,
        len(INIT + CALLED) + 2,
        stream.index(RESULT) - 1,
        stream.index(RESULT),
    }
    for place in range(min(ends), len(stream)):
        events = [record.event for record in decode([stream[:place]])]
        end = events[-1]
        assert isinstance(end, StreamClosed)
        assert (end.results, end.truncated) == (0, place not in ends)
        assert not [event for event in events if isinstance(event, TurnFinished)]
        assert len([event for event in events if isinstance(event, ToolFinished)]) == 1


def test_a_last_line_without_newline_is_not_lost() -> None:
    assert events_of(RESULT) == [
        TurnStarted(origin="prompt"),
        TurnFinished(ok=True, text=WORDS),
        closed(results=1, lines=1),
    ]
