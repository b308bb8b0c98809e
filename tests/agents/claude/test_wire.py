"""Claude's own words, typed. Each `# seed 001` line quotes what the tests under it prove.

That "unit tests achieve 90% coverage" is proved by `make check`, which asks for more.
"""

import asyncio
import copy
import io
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightrook.agents.claude.wire import (
    ContentBlock,
    UnreadableLine,
    WireEvent,
    WireMessage,
    WireUsage,
    read,
    read_async,
)
from tests.rules import each

HERE = Path(__file__).parent
SESSION = HERE / "fixtures" / "session.jsonl"
RECORDED = [SESSION, *sorted(path for path in (HERE / "cases").rglob("*") if path.is_file())]

INIT = {
    "type": "system",
    "subtype": "init",
    "session_id": "session-1",
    "tools": ["Read", "Edit", "Bash"],
    "mcp_servers": [{"name": "github", "status": "connected"}, "files"],
    "model": "claude-sonnet-4-5",
}
TEXT = {"type": "text", "text": "I will look."}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/a.py"}}
RETURNED = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "print(1)\n"}
RESULT = {
    "type": "result",
    "subtype": "success",
    "session_id": "session-1",
    "total_cost_usd": 0.0125,
    "duration_ms": 2400,
    "duration_api_ms": 2100,
    "is_error": False,
    "num_turns": 3,
    "result": "Done.",
}
USAGE = {
    "input_tokens": 11,
    "output_tokens": 7,
    "cache_read_input_tokens": 2719,
    "cache_creation_input_tokens": 200,
}

Found = WireEvent | UnreadableLine


def said(*blocks: Any, **more: Any) -> WireEvent:
    return WireEvent(
        {"type": "assistant", "message": {"role": "assistant", "content": [*blocks]}} | more
    )


def answered(*blocks: Any) -> WireEvent:
    return WireEvent({"type": "user", "message": {"role": "user", "content": [*blocks]}})


def lines(*messages: Any) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def read_all(*chunks: bytes) -> list[Found]:
    return list(read(chunks))


async def as_they_come(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        await asyncio.sleep(0)
        yield chunk


def read_all_async(*chunks: bytes) -> list[Found]:
    async def collect() -> list[Found]:
        return [found async for found in read_async(as_they_come(*chunks))]

    return asyncio.run(collect())


# Both ways to read a stream keep the same promises.
both = pytest.mark.parametrize("read_them", [read_all, read_all_async], ids=["read", "read_async"])


# --- seed 001, acceptance: "StreamEvent types map faithfully to Claude Code's stream-json output
# --- format"; unit tests of what each event holds


# seed 001: "Decode system init event: tools, model, session_id populated"
def test_an_init_line_has_tools_servers_model_and_session() -> None:
    event = WireEvent.from_json(json.dumps(INIT))
    assert (event.type, event.subtype, event.session_id) == ("system", "init", "session-1")
    assert event.tools == ("Read", "Edit", "Bash")
    assert event.mcp_servers == ("github", "files")
    assert event.model == "claude-sonnet-4-5"


# seed 001: "Decode assistant event with text block: TextContent() returns text"
# seed 001, acceptance: "TextContent() concatenates text blocks from assistant events"
def test_the_text_of_an_assistant_line_is_its_text_blocks_joined() -> None:
    assert said(TEXT).text_content() == "I will look."
    assert said(TEXT, CALL, {"type": "text", "text": " Again."}).text_content() == (
        "I will look. Again."
    )


# seed 001: "Decode assistant event with tool_use block: ToolUseBlocks() returns block with name
# and input"
# seed 001, acceptance: "ToolUseBlocks() extracts tool_use content blocks from assistant events"
def test_the_tool_calls_of_an_assistant_line_have_id_name_and_input() -> None:
    (call,) = said(CALL).tool_use_blocks()
    assert call == ContentBlock(CALL)
    assert (call.id, call.name, call.input) == ("toolu_1", "Read", {"file_path": "/a.py"})


# seed 001: "Decode user event with tool_result block: ContentString() returns result"
def test_the_tool_results_of_a_user_line_name_their_call_and_give_its_output() -> None:
    (result,) = answered(RETURNED).tool_result_blocks()
    assert result.tool_use_id == "toolu_1"
    assert result.content_string() == "print(1)\n"
    assert not result.is_error


def test_a_tool_result_is_an_error_only_if_it_says_so() -> None:
    assert ContentBlock(RETURNED | {"is_error": True}).is_error
    assert not ContentBlock(RETURNED | {"is_error": False}).is_error
    assert not ContentBlock(RETURNED | {"is_error": "perhaps"}).is_error


# seed 001: "Decode result event: CostUSD, DurationMS, NumTurns populated"
def test_a_result_line_has_cost_durations_turns_and_final_text() -> None:
    event = WireEvent.from_json(json.dumps(RESULT))
    assert (event.type, event.subtype, event.is_error) == ("result", "success", False)
    assert (event.cost_usd, event.num_turns, event.result) == (0.0125, 3, "Done.")
    assert (event.duration_ms, event.duration_api_ms) == (2400, 2100)


def test_a_failed_result_is_an_error_though_its_subtype_is_success() -> None:
    assert WireEvent(RESULT | {"is_error": True}).is_error


def test_the_cost_is_the_total_and_else_what_older_versions_called_cost() -> None:
    assert WireEvent({"total_cost_usd": 0, "cost_usd": 2.5}).cost_usd == 0
    assert WireEvent({"cost_usd": 2.5}).cost_usd == 2.5
    assert WireEvent({"total_cost_usd": "much", "cost_usd": 2}).cost_usd == 2
    assert WireEvent({}).cost_usd is None


# seed 001: "Decode event with multiple content blocks: both text and tool_use in same message"
def test_a_message_with_several_blocks_gives_each_of_them_in_order() -> None:
    event = said(TEXT, CALL, {"type": "thinking", "thinking": "Hm."}, CALL)
    assert event.message is not None
    assert [block.type for block in event.message.content] == [
        "text",
        "tool_use",
        "thinking",
        "tool_use",
    ]
    assert event.text_content() == "I will look."
    assert event.tool_use_blocks() == (ContentBlock(CALL), ContentBlock(CALL))
    assert event.tool_result_blocks() == ()


# seed 001: "Decode event with usage stats: InputTokens, OutputTokens populated"
def test_the_usage_of_a_message_counts_input_output_and_cache() -> None:
    message = WireMessage({"usage": USAGE})
    assert message.usage == WireUsage(USAGE)
    usage = message.usage
    assert (usage.input_tokens, usage.output_tokens) == (11, 7)
    assert (usage.cache_read, usage.cache_create) == (2719, 200)


def test_a_result_has_the_usage_of_its_turn_beside_it() -> None:
    assert WireEvent(RESULT | {"usage": USAGE}).usage == WireUsage(USAGE)
    assert WireEvent(RESULT).usage is None


def test_a_count_that_is_not_an_integer_is_left_out() -> None:
    odd = WireUsage({"input_tokens": True, "output_tokens": "7", "cache_read_input_tokens": 1.5})
    assert (odd.input_tokens, odd.output_tokens, odd.cache_read) == (None, None, None)


def test_a_message_has_role_model_and_stop_reason() -> None:
    message = WireMessage(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "stop_reason": "end_turn",
            "content": [TEXT],
        }
    )
    assert (message.id, message.type, message.role) == ("msg_1", "message", "assistant")
    assert (message.model, message.stop_reason) == ("claude-sonnet-4-5", "end_turn")
    assert message.content == (ContentBlock(TEXT),)


def test_a_string_as_content_is_one_text_block() -> None:
    event = WireEvent({"type": "user", "message": {"role": "user", "content": "Go on."}})
    assert event.message is not None
    assert event.message.content == (ContentBlock({"type": "text", "text": "Go on."}),)
    assert event.text_content() == "Go on."


# seed 001: "ContentBlock.IsText() / IsToolUse() / IsToolResult(): correct for each type"
# seed 001, acceptance: "ContentBlock helpers (IsText, IsToolUse, IsToolResult) work correctly"
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("text", (True, False, False)),
        ("tool_use", (False, True, False)),
        ("tool_result", (False, False, True)),
        ("thinking", (False, False, False)),
        ("server_tool_use", (False, False, False)),
        ("", (False, False, False)),
        (None, (False, False, False)),
    ],
)
def test_is_text_is_tool_use_and_is_tool_result_are_true_of_their_own_type_only(
    kind: object, expected: tuple[bool, bool, bool]
) -> None:
    block = ContentBlock({"type": kind})
    assert (block.is_text, block.is_tool_use, block.is_tool_result) == expected


# seed 001: "ToolUseBlocks() on non-assistant event: returns empty slice"
@pytest.mark.parametrize(
    "event",
    [WireEvent(INIT), WireEvent(RESULT), answered(RETURNED), answered(CALL)],
    ids=["system", "result", "user", "user that holds a call"],
)
def test_tool_use_blocks_of_a_line_that_is_not_the_assistants_are_empty(event: WireEvent) -> None:
    assert event.tool_use_blocks() == ()


# seed 001: "TextContent() on event with no text blocks: returns empty string"
def test_text_content_without_text_blocks_is_the_empty_string() -> None:
    assert said(CALL).text_content() == ""
    assert answered(RETURNED).text_content() == ""
    assert said({"type": "connector_text", "text": "Not mine."}).text_content() == ""


# seed 001: "InputString() with complex JSON input: returns formatted string"
# seed 001, acceptance: "ContentBlock.InputString() returns formatted tool input"
def test_input_string_is_the_input_as_indented_json() -> None:
    block = ContentBlock(CALL | {"input": {"edits": [{"old": "é", "all": True}], "none": None}})
    assert block.input_string() == (
        '{\n  "edits": [\n    {\n      "old": "é",\n      "all": true\n    }\n  ],\n'
        '  "none": null\n}'
    )


# What the model wrote as broken JSON is a mere string on the wire (2.1.197 s04_failing_tools).
def test_input_string_of_a_string_is_the_string_and_of_nothing_is_empty() -> None:
    assert ContentBlock(CALL | {"input": '{"file_path": '}).input_string() == '{"file_path": '
    assert ContentBlock(CALL | {"input": None}).input_string() == ""
    assert ContentBlock(TEXT).input_string() == ""
    assert ContentBlock(CALL | {"input": {}}).input_string() == "{}"
    assert ContentBlock(CALL | {"input": 0}).input_string() == "0"


# seed 001: "ContentString() with string content: returns the string"
# seed 001, acceptance: "ContentBlock.ContentString() returns tool result as string"
def test_content_string_of_a_string_is_the_string_and_of_nothing_is_empty() -> None:
    assert ContentBlock(RETURNED).content_string() == "print(1)\n"
    assert ContentBlock(RETURNED | {"content": ""}).content_string() == ""
    assert ContentBlock(RETURNED | {"content": None}).content_string() == ""
    assert ContentBlock(CALL).content_string() == ""


# seed 001: "ContentString() with structured content: returns JSON string"
def test_content_string_of_structured_content_is_json_in_one_line() -> None:
    block = ContentBlock(RETURNED | {"content": [TEXT, {"type": "image", "source": {"data": "é"}}]})
    words = block.content_string()
    assert "\n" not in words
    assert "é" in words
    assert json.loads(words) == block.content


# --- seed 001, round trip


# seed 001: "JSON round-trip: marshal then unmarshal preserves all fields"
# seed 001, acceptance: "All types serialize/deserialize with encoding/json round-trip"
@pytest.mark.parametrize(
    "view",
    [
        WireEvent(INIT),
        WireEvent(RESULT | {"modelUsage": {"m": {"costUSD": 0.5}}, "new in 9.0": [None, {}]}),
        said(TEXT, CALL, parent_tool_use_id=None, uuid="u-1"),
        answered(RETURNED),
        WireMessage({"role": "user", "content": "Go on.", "unheard_of": {"a": [1, 2.5]}}),
        ContentBlock(CALL | {"caller": {"type": "direct"}}),
        WireUsage(USAGE | {"service_tier": "standard"}),
    ],
    ids=lambda view: type(view).__name__,
)
def test_the_json_round_trip_preserves_all_fields_known_or_not(
    view: WireEvent | WireMessage | ContentBlock | WireUsage,
) -> None:
    back = type(view).from_json(view.to_json())
    assert back == view
    assert json.loads(back.to_json()) == view.data


json_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)


def json_objects(keys: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    values = st.recursive(
        json_scalars,
        lambda parts: st.lists(parts, max_size=3) | st.dictionaries(keys, parts, max_size=3),
        max_leaves=6,
    )
    return st.dictionaries(keys, values, max_size=5)


@settings(deadline=None)
@given(json_objects(st.text()))
def test_any_json_object_comes_back_equal_from_the_round_trip(data: dict[str, Any]) -> None:
    event = WireEvent(data)
    back = WireEvent.from_json(event.to_json())
    assert back == event
    assert json.dumps(back.data) == json.dumps(data)  # which tells 1, 1.0 and True apart
    assert read_all(event.to_json()) == [event]


def test_a_number_that_is_too_large_is_read_as_null() -> None:
    event = WireEvent.from_json(
        b'{"type":"result","num_turns":%b,"cost_usd":1e999}' % (b"9" * 5000)
    )
    assert event == WireEvent({"type": "result", "num_turns": None, "cost_usd": None})


def messages_in(line: bytes) -> list[Any] | None:
    """What a line holds by the standard library's reading, mended as is promised."""
    try:
        value = json.loads(
            line.decode("utf-8-sig", "replace"),
            strict=False,
            parse_int=lambda digits: int(digits) if len(digits) < 4000 else None,
        )
    except (ValueError, RecursionError):
        return None
    clean = re.sub("[\ud800-\udfff]", "\ufffd", json.dumps(value, ensure_ascii=False))
    value = json.loads(clean, parse_constant=lambda _: None)  # NaN and Infinity
    messages = value if isinstance(value, list) else [value]
    return messages if all(isinstance(message, dict) for message in messages) else None


@each("path", RECORDED, ids=lambda path: str(path.relative_to(HERE)))
def test_every_line_of_every_recorded_case_round_trips(path: Path) -> None:
    data = path.read_bytes()
    found = read_all(data)
    events = [item for item in found if isinstance(item, WireEvent)]
    markers = [item for item in found if isinstance(item, UnreadableLine)]
    written = [line for line in data.split(b"\n") if line.removeprefix(b"\xef\xbb\xbf").strip()]
    held = [messages_in(line) for line in written]
    assert [event.data for event in events] == [m for messages in held for m in messages or ()]
    assert [WireEvent.from_json(event.to_json()) for event in events] == events
    assert [data[marker.offset :][: marker.length] for marker in markers] == [
        line for line, messages in zip(written, held, strict=True) if messages is None
    ]


# --- seed 001, reading a stream


# seed 001, acceptance: "StreamDecoder.Next() reads one JSONL line and returns a typed StreamEvent"
def test_reading_gives_one_event_per_line_and_reads_no_further_than_asked() -> None:
    taken: list[str] = []

    def chunks() -> Iterator[bytes]:
        for message in (INIT, RESULT):
            taken.append(message["subtype"])  # type: ignore[arg-type]
            yield lines(message)

    events = iter(read(chunks()))
    assert next(events) == WireEvent(INIT)
    assert taken == ["init"]
    assert next(events) == WireEvent(RESULT)


# seed 001: "io.EOF at end of stream: Next() returns io.EOF"
# seed 001, acceptance: "StreamDecoder.Next() returns io.EOF when the reader is exhausted"
def test_the_iteration_ends_at_the_end_of_the_stream() -> None:
    events = iter(read([lines(INIT)]))
    next(events)
    with pytest.raises(StopIteration):
        next(events)
    with pytest.raises(StopIteration):
        next(events)


@both
def test_an_empty_stream_has_no_events(read_them: Any) -> None:
    assert read_them() == []
    assert read_them(b"", b"") == []


# seed 001: "Malformed JSON line: Next() returns error, not panic"
# seed 001, acceptance: "StreamDecoder.Next() returns an error for malformed JSON (caller can skip)"
@both
def test_a_malformed_line_gives_a_marker_and_not_an_exception(read_them: Any) -> None:
    assert read_them(b'\n{"type": oops}\n') == [
        UnreadableLine(offset=1, length=14, preview='{"type": oops}', reason="not_json")
    ]


def test_reading_one_malformed_line_by_itself_is_a_decode_error() -> None:
    with pytest.raises(msgspec.DecodeError, match=r"not a JSON object \(not_json\): oops"):
        WireEvent.from_json(b"oops")
    with pytest.raises(msgspec.DecodeError, match="not_an_object"):
        WireEvent.from_json("[1]")


# seed 001: "Decode() with malformed line in middle: skips bad line, delivers others"
# seed 001, acceptance: "StreamDecoder.Decode() skips malformed lines without aborting"
@both
def test_a_malformed_line_in_the_middle_is_skipped_and_the_others_are_delivered(
    read_them: Any,
) -> None:
    found = read_them(lines(INIT) + b"GET https://api: 200\n" + lines(TEXT, RESULT))
    assert [type(item) for item in found] == [WireEvent, UnreadableLine, WireEvent, WireEvent]
    assert [item for item in found if isinstance(item, WireEvent)] == [
        WireEvent(INIT),
        WireEvent(TEXT),
        WireEvent(RESULT),
    ]


# seed 001: "Empty line: Next() skips and reads next line"
# seed 001, edge: "Blank lines between events: skipped gracefully"
@both
def test_blank_lines_are_skipped(read_them: Any) -> None:
    stream = b"\n \t\n" + lines(INIT) + b"\n\r\n\n" + lines(RESULT) + b"\n\xef\xbb\xbf\n  "
    assert read_them(stream) == [WireEvent(INIT), WireEvent(RESULT)]


# seed 001: "Decode() with 3 events: channel receives all 3 then closes"
# seed 001, acceptance: "StreamDecoder.Decode() sends events to channel until reader exhausted"
@both
def test_three_events_all_arrive_and_then_the_stream_ends(read_them: Any) -> None:
    three = [WireEvent(INIT), said(TEXT), WireEvent(RESULT)]
    stream = b"".join(event.to_json() + b"\n" for event in three)
    assert read_them(stream) == three
    assert read_them(*(bytes([byte]) for byte in stream)) == three


# seed 001: "Decode() with context cancellation: stops and closes channel"
# seed 001, acceptance: "StreamDecoder.Decode() respects context cancellation"
def test_cancelling_stops_the_reading_and_closes_the_source() -> None:
    found: list[Found] = []
    closed: list[bool] = []

    async def source(waiting: asyncio.Event) -> AsyncIterator[bytes]:
        try:
            yield lines(INIT)
            waiting.set()
            await asyncio.Event().wait()
            yield lines(RESULT)
        finally:
            await asyncio.sleep(0)
            closed.append(True)

    async def collect(waiting: asyncio.Event) -> None:
        async for item in read_async(source(waiting)):
            found.append(item)

    async def main() -> None:
        waiting = asyncio.Event()
        task = asyncio.create_task(collect(waiting))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert closed == [True]

    asyncio.run(main())
    assert found == [WireEvent(INIT)]


class Pipe:
    """A source that is no generator: it is closed only if somebody closes it."""

    def __init__(self, *chunks: bytes, fault: Exception | None = None) -> None:
        self.chunks = list(chunks)
        self.fault = fault
        self.closed = 0

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        await asyncio.sleep(0)
        if self.chunks:
            return self.chunks.pop(0)
        raise self.fault or StopAsyncIteration

    async def aclose(self) -> None:
        await asyncio.sleep(0)
        self.closed += 1


# seed 001, acceptance: "StreamDecoder.Decode() closes the events channel when done"
def test_the_iteration_ends_and_the_source_is_closed_when_the_stream_has_ended() -> None:
    async def main() -> None:
        pipe = Pipe(lines(INIT))
        events = read_async(pipe)
        assert [found async for found in events] == [WireEvent(INIT)]
        assert pipe.closed == 1
        with pytest.raises(StopAsyncIteration):
            await anext(events)

    asyncio.run(main())


def test_the_source_is_closed_when_the_reader_leaves_early() -> None:
    async def main() -> None:
        pipe = Pipe(lines(INIT, RESULT), lines(RESULT))
        async with aclosing(read_async(pipe)) as events:
            assert await anext(events) == WireEvent(INIT)
            assert pipe.closed == 0
        assert pipe.closed == 1

    asyncio.run(main())


def test_the_source_is_closed_when_it_breaks_and_its_error_is_not_hidden() -> None:
    async def main() -> None:
        pipe = Pipe(lines(INIT), fault=ConnectionResetError("gone"))
        events = read_async(pipe)
        assert await anext(events) == WireEvent(INIT)
        with pytest.raises(ConnectionResetError, match="gone"):
            await anext(events)
        assert pipe.closed == 1

    asyncio.run(main())


def test_what_the_source_iterates_with_is_closed_before_the_source() -> None:
    closed: list[str] = []

    class Connection:
        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                yield lines(INIT)
                yield lines(RESULT)
            finally:
                closed.append("iterator")

        async def aclose(self) -> None:
            closed.append("source")

    async def main() -> None:
        async with aclosing(read_async(Connection())) as events:
            await anext(events)

    asyncio.run(main())
    assert closed == ["iterator", "source"]


def test_a_source_that_cannot_be_closed_is_read_all_the_same() -> None:
    class Plain:
        def __init__(self) -> None:
            self.left = [lines(INIT)]

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self

        async def __anext__(self) -> bytes:
            if self.left:
                return self.left.pop()
            raise StopAsyncIteration

    async def main() -> list[Found]:
        return [found async for found in read_async(Plain())]

    assert asyncio.run(main()) == [WireEvent(INIT)]


def test_an_open_file_is_read_and_left_open_to_its_owner() -> None:
    with SESSION.open("rb") as file:
        assert list(read(file)) == read_all(SESSION.read_bytes())
        assert not file.closed
    assert list(read(io.BytesIO(lines(INIT)))) == [WireEvent(INIT)]


@both
def test_a_last_line_without_newline_is_not_lost(read_them: Any) -> None:
    assert read_them(lines(INIT) + lines(RESULT)[:-1]) == [WireEvent(INIT), WireEvent(RESULT)]


@both
def test_a_last_line_that_was_cut_short_is_marked_as_truncated(read_them: Any) -> None:
    stream = lines(INIT) + b'{"type":"resu'
    assert read_them(stream)[1:] == [
        UnreadableLine(len(lines(INIT)), 13, '{"type":"resu', "truncated")
    ]
    assert read_them(b"Killed") == [UnreadableLine(0, 6, "Killed", "not_json")]
    assert [marker.reason for marker in read_them(b'\xef\xbb\xbf{"type"')] == ["truncated"]


# `--output-format json --verbose` writes one array of all messages (s30_formats/json_verbose).
@both
def test_an_array_of_objects_is_as_many_events(read_them: Any) -> None:
    assert read_them(lines([INIT, RESULT]) + lines(TEXT)) == [
        WireEvent(INIT),
        WireEvent(RESULT),
        WireEvent(TEXT),
    ]


@pytest.mark.parametrize("line", [b"1", b"null", b'"words"', b"[1, {}]", b"[[]]", b"true"])
def test_json_that_is_not_an_object_is_a_marker(line: bytes) -> None:
    assert read_all(line + b"\n") == [UnreadableLine(0, len(line), line.decode(), "not_an_object")]


def test_json_that_nests_too_deep_is_a_marker() -> None:
    line = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    (found,) = read_all(line + b"\n")
    assert found == UnreadableLine(0, len(line), ('{"a":' * 40), "too_deep")


@settings(deadline=None)
@given(st.binary(), st.binary(), st.integers(1, 8))
def test_any_bytes_cut_anywhere_are_read_alike_and_never_raise(
    data: bytes, more: bytes, size: int
) -> None:
    stream = data + lines(INIT) + more
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    assert read_all(*pieces) == read_all(stream)


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"{}", b"[", b"no", b"", b"7", b"\xff", b' {"a":"\xc3\xa9"} '])))
def test_every_marker_finds_its_line_in_the_stream(parts: list[bytes]) -> None:
    stream = b"\n".join(parts)
    marked = [item for item in read_all(stream) if isinstance(item, UnreadableLine)]
    places = [stream[item.offset : item.offset + item.length] for item in marked]
    assert places == [part for part in parts if part in (b"[", b"no", b"7", b"\xff")]


# --- seed 001, edge cases


# seed 001, edge: "Very long tool result content (>64KB): scanner buffer must be large enough"
# seed 001, acceptance: "Scanner buffer handles very long lines (>64KB tool results)"
@both
@pytest.mark.parametrize("size", [70_000, 5_000_000])
def test_a_very_long_line_is_read_whole(read_them: Any, size: int) -> None:
    event = answered(RETURNED | {"content": "x" * size})
    line = event.to_json() + b"\n"
    chunks = [line[start : start + 65_536] for start in range(0, len(line), 65_536)]
    assert read_them(*chunks, lines(RESULT)) == [event, WireEvent(RESULT)]


def test_a_line_over_the_cap_is_a_marker_and_the_next_is_read() -> None:
    stream = lines(RETURNED | {"content": "x" * 2000}) + lines(TEXT)
    size = stream.index(b"\n")
    preview = stream[:200].decode()
    assert list(read([stream], cap=1000)) == [
        UnreadableLine(0, size, preview, "oversized"),
        WireEvent(TEXT),
    ]
    assert list(read([stream[:100], stream[100:size]], cap=1000)) == [
        UnreadableLine(0, size, preview, "oversized")
    ]


# seed 001, edge: "Unicode in text content: preserved through decode"
@both
def test_unicode_is_preserved(read_them: Any) -> None:
    words = "naïve — 日本語 👩‍👩‍👧 \u0085 \u2028 \ufeff \x00 \x1b[0m"
    line = json.dumps(
        {"type": "assistant", "message": {"content": [{"type": "text", "text": words}]}},
        ensure_ascii=False,
    )
    (event,) = read_them(*(bytes([byte]) for byte in line.encode()), b"\n")
    assert event.text_content() == words
    assert WireEvent.from_json(event.to_json()).text_content() == words


def test_half_of_a_surrogate_pair_and_invalid_utf8_become_replacement_characters() -> None:
    (half,) = read_all(b'{"type":"text","text":"a\\ud83d!"}\n')
    (invalid,) = read_all(b'{"type":"text","text":"a\xff!"}\n')
    mended = WireEvent({"type": "text", "text": "a\ufffd!"})
    assert half == invalid == mended
    assert mended.to_json() == '{"type":"text","text":"a\ufffd!"}'.encode()


# seed 001, edge: "Nested JSON in tool input: preserved as json.RawMessage"
def test_nested_json_in_a_tool_input_is_preserved() -> None:
    deep = {"a": [{"b": {"c": [1, 2.5, None, True, {"d": '{"e": "\\n"}'}]}}], "f": {}, "g": []}
    (event,) = read_all(said(CALL | {"input": deep}).to_json())
    assert isinstance(event, WireEvent)
    (call,) = event.tool_use_blocks()
    assert call.input == deep
    assert json.loads(call.input_string()) == deep


# seed 001, edge: "Empty content array in message: helpers return zero values"
def test_an_empty_content_array_has_no_blocks() -> None:
    event = said()
    assert event.message is not None
    assert event.message.content == ()
    assert (event.text_content(), event.tool_use_blocks(), event.tool_result_blocks()) == (
        "",
        (),
        (),
    )


# seed 001, edge: "Nil message in event: helpers return zero values (no nil pointer panic)"
# seed 001, acceptance: "Empty/nil message in event returns empty results from helpers (no panic)"
@pytest.mark.parametrize("message", [None, {}, "words", 7, [], {"content": None}, {"content": [7]}])
def test_a_message_that_is_missing_null_or_strange_has_no_blocks(message: object) -> None:
    for event in (WireEvent({"type": "assistant", "message": message}), WireEvent({})):
        assert event.text_content() == ""
        assert event.tool_use_blocks() == ()
        assert event.tool_result_blocks() == ()


def test_a_missing_or_null_message_is_none() -> None:
    assert WireEvent({"type": "assistant"}).message is None
    assert WireEvent({"type": "assistant", "message": None}).message is None


# seed 001, edge: "Trailing whitespace on lines: handled by json.Unmarshal"
@both
@pytest.mark.parametrize("ending", [b" \t \n", b"\r\n", b"  \r\n", b"\n", b" ", b"\r"])
def test_trailing_whitespace_and_carriage_returns_are_ignored(
    read_them: Any, ending: bytes
) -> None:
    assert read_them(lines(INIT)[:-1] + ending) == [WireEvent(INIT)]


def test_a_byte_order_mark_before_the_first_line_is_ignored() -> None:
    assert read_all(b"\xef\xbb\xbf" + lines(INIT, RESULT)) == [WireEvent(INIT), WireEvent(RESULT)]


# --- seed 001, golden: "Full session JSONL fixture (system + assistant + user + result): decode
# --- all events and verify"


def shown(found: Found) -> str:
    """One line on what an event holds, from its properties alone."""
    assert isinstance(found, WireEvent)
    if found.type == "assistant":
        calls = [f"{call.name} {' '.join(call.input)}" for call in found.tool_use_blocks()]
        return f"assistant: {found.text_content() or ', '.join(calls)}"
    if found.type == "user":
        return "user: " + ", ".join(b.content_string()[:22] for b in found.tool_result_blocks())
    return f"{found.type}/{found.subtype}"


def test_a_whole_recorded_session_is_read_event_by_event() -> None:
    found = read_all(SESSION.read_bytes())
    assert [shown(item) for item in found] == [
        "system/init",
        "assistant: I will read the file.",
        "assistant: Read file_path",
        "user: 1\tprint('hello')\n2\tpri",
        "assistant: Edit replace_all file_path old_string new_string",
        "user: The file /home/dev/pro",
        "assistant: Write file_path content",
        "user: File created successfu",
        "assistant: Bash command description",
        "user: hello\nthere\noops",
        "assistant: Bash command description",
        "user: (Bash completed with n",
        "assistant: Edited and ran.",
        "result/success",
    ]


def test_the_ends_of_a_whole_recorded_session_report_session_cost_and_usage() -> None:
    events = [item for item in read_all(SESSION.read_bytes()) if isinstance(item, WireEvent)]
    init, *between, result = events
    assert init.model == "claude-sonnet-4-5-20250929"
    assert {"Task", "Bash", "Edit", "Read"} <= set(init.tools)
    assert init.mcp_servers == ()
    assert {event.session_id for event in events} == {"e44ff23a-adc5-491d-aa1c-0b1d05ce1939"}
    assert (result.cost_usd, result.is_error, result.result) == (
        0.0136152,
        False,
        "Edited and ran.",
    )
    assert result.num_turns == 6
    assert result.duration_api_ms == 1443
    assert result.usage is not None
    assert (result.usage.input_tokens, result.usage.output_tokens) == (66, 228)
    messages = [event.message for event in between if event.type == "assistant"]
    assert all(
        message and message.usage and message.usage.input_tokens == 11 for message in messages
    )
    calls = [call.id for event in between for call in event.tool_use_blocks()]
    results = [block.tool_use_id for event in between for block in event.tool_result_blocks()]
    assert calls == results


# --- what a view promises of any data


VIEWS = (WireEvent, WireMessage, ContentBlock, WireUsage)
KEYS = sorted(
    {name for view in VIEWS for name in vars(view) if not name.startswith("_")}
    | {"total_cost_usd", "cache_read_input_tokens", "cache_creation_input_tokens"}
)


@settings(deadline=None)
@given(json_objects(st.sampled_from(KEYS)))
def test_no_property_of_any_view_raises_or_changes_what_it_shows(data: dict[str, Any]) -> None:
    before = copy.deepcopy(data)
    for view in [view_of(data) for view_of in VIEWS]:
        for name in KEYS:
            part = getattr(view, name, None)
            if callable(part):
                part()
        assert repr(view).startswith(type(view).__name__)
    assert data == before


def test_invalid_names_are_left_out() -> None:
    event = WireEvent(
        {"tools": ["Read", 7, None, {"name": "Bash"}, {"status": "?"}], "mcp_servers": 7}
    )
    assert event.tools == ("Read", "Bash")
    assert event.mcp_servers == ()


def test_parts_that_are_missing_are_none_empty_or_false() -> None:
    event, message, block, usage = WireEvent({}), WireMessage({}), ContentBlock({}), WireUsage({})
    assert (event.type, event.tools, event.mcp_servers, event.is_error) == ("", (), (), False)
    assert {event.subtype, event.session_id, event.model, event.message, event.result} == {None}
    assert {event.duration_ms, event.duration_api_ms, event.num_turns, event.cost_usd} == {None}
    assert (message.type, message.content, message.usage) == ("", (), None)
    assert {message.id, message.role, message.model, message.stop_reason} == {None}
    assert (block.type, block.text, block.input, block.content) == ("", "", None, None)
    assert {block.id, block.name, block.tool_use_id} == {None}
    assert {usage.input_tokens, usage.output_tokens, usage.cache_read, usage.cache_create} == {None}


def test_views_are_equal_if_their_data_are_and_of_one_kind() -> None:
    assert WireEvent({"type": "user"}) == WireEvent({"type": "user"})
    assert WireEvent({"type": "user"}) != WireEvent({"type": "user", "uuid": "u-1"})
    message: object = WireMessage({"type": "user"})
    assert WireEvent({"type": "user"}) != message


def test_a_view_is_read_only() -> None:
    event = WireEvent({})
    with pytest.raises(AttributeError):
        event.data = {}  # type: ignore[misc]
    with pytest.raises(AttributeError):
        event.type = "user"  # type: ignore[misc]


def test_the_repr_shows_the_type_first_and_stays_short() -> None:
    assert repr(ContentBlock(TEXT)) == "ContentBlock({'type': 'text', 'text': 'I will look.'})"
    late = WireEvent({"duration_ms": 5, "usage": {}, "type": "result", "errors": []})
    assert repr(late) == (
        "WireEvent({'type': 'result', 'duration_ms': 5, 'usage': {}, 'errors': []})"
    )
    many = WireEvent({str(number): number for number in range(9)})
    assert repr(many) == "WireEvent({'0': 0, '1': 1, '2': 2, '3': 3, '4': 4, '5': 5, …})"
    deep = WireEvent({"a": {"b": {"c": {"d": {"e": {"f": {}}}, "g": [[1]]}}}})
    assert repr(deep) == "WireEvent({'a': {'b': {'c': {'d': {'e': {…}}, 'g': [[…]]}}}})"
    assert len(repr(answered(RETURNED | {"content": "x" * 1_000_000}))) < 300
