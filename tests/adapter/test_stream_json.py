"""The wire that several agents share: an agent is its tools, and how its calls end."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from nightrook.adapter import stream_json
from nightrook.adapter.reader import Table, decoder_of
from nightrook.adapter.shapes import Shape
from nightrook.adapter.stream_json import (
    Block,
    BlockDelta,
    BlockStart,
    BlockStop,
    Counters,
    Memory,
    MessageStart,
    MessageStop,
    StreamJson,
    bound_pieces,
    session_started,
    usage_of,
)
from nightrook.adapter.tools import Tools
from nightrook.model.events import (
    Event,
    McpServer,
    SessionStarted,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolFinished,
    ToolInputDelta,
    ToolStarted,
    TurnStarted,
    Unknown,
    Usage,
    UsageReported,
    UserMessage,
)


class StreamEvent(Shape, tag="stream_event"):
    event: BlockDelta | BlockStart | BlockStop | MessageStart | MessageStop | None = None
    parent_tool_use_id: str | None = None


class Parrot(StreamJson):
    def finish(self, memory: Memory, block: Block, parent: str | None) -> Sequence[Event]:
        return memory.finish(block.tool_use_id or "", "ok", output=block.content)


class Silent(Parrot):
    """An agent that does not repeat the prompts of its user."""

    repeats_prompts = False


TOOLS = Tools(kinds={"Read": "read"}, titles={"read": ("path",)})


def decoded(*messages: Any, agent: StreamJson | None = None) -> list[Event]:
    """The events of messages, without those of the end of the stream."""
    parrot = agent or Parrot(TOOLS)
    table: Table[Any] = {
        stream_json.Assistant: parrot.assistant,
        stream_json.User: parrot.user,
        stream_json.System: lambda memory, message, line: session_started(memory, message),
        StreamEvent: parrot.stream_event,
    }
    decoder = decoder_of("parrot", table, lambda: Memory({}))()
    data = b"".join(msgspec.json.encode(message) + b"\n" for message in messages)
    return [record.event for record in decoder.feed(data)]


def assistant(*content: Any, id: str | None = "m", **fields: Any) -> Any:
    return {"type": "assistant", "message": {"id": id, "content": content, **fields}}


def piece(type: str, *, parent: str | None = None, **fields: Any) -> Any:
    event = {"type": type, **fields}
    return {"type": "stream_event", "event": event, "parent_tool_use_id": parent}


def text_piece(text: str, index: int = 0) -> Any:
    return piece("content_block_delta", index=index, delta={"type": "text_delta", "text": text})


START = piece("content_block_start", index=0, content_block={"type": "text"})


def test_cached_tokens_are_not_part_of_the_input() -> None:
    assert usage_of(Counters(1200, 34, 1000, 100, 7)) == Usage(
        input=100, output=34, cache_read=1000, cache_write_5m=100, reasoning=7
    )
    assert usage_of(Counters(output_tokens=3)) == Usage(output=3)


def test_an_answer_has_texts_thoughts_calls_and_tokens() -> None:
    hidden = {"type": "redacted_thinking"}
    thought, said = {"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Hi"}
    call = {"type": "tool_use", "id": "c", "name": "Read", "input": {"path": "a.py"}}
    usage = {"input_tokens": 5, "output_tokens": 2}
    turn, *events = decoded(
        assistant(thought, hidden, said, call, stop_reason="tool_use", model="large", usage=usage)
    )
    assert turn == TurnStarted(origin="prompt")
    assert events == [
        Thinking(id="m:0", text="Hm"),
        Thinking(id="m:1", redacted=True),
        Text(id="m:2", text="Hi"),
        ToolStarted(
            id="c",
            name="Read",
            kind="read",
            title="a.py",
            input=msgspec.Raw(b'{"path":"a.py"}'),
        ),
        UsageReported(
            message_id="m",
            model="large",
            stop_reason="tool_use",
            scope="message",
            semantics="final",
            input=5,
            output=2,
        ),
    ]


def test_tokens_of_zero_are_not_reported() -> None:
    _, *events = decoded(assistant(usage={"input_tokens": 0, "output_tokens": 0}))
    assert events == []


def test_messages_without_an_id_have_texts_with_one() -> None:
    said = {"type": "text", "text": "Hi"}
    _, *events = decoded(assistant(said, {"type": "text", "text": ""}, said, id=None))
    assert events == [Text(id="text-1", text="Hi"), Text(id="text-2", text="Hi")]


def test_a_users_text_is_a_prompt_or_written_by_the_agent() -> None:
    message = {"type": "user", "message": {"content": [{"type": "text", "text": "Go"}]}}
    assert decoded(message) == [TurnStarted(origin="prompt"), UserMessage(text="Go")]
    assert decoded(message, agent=Silent(TOOLS)) == [UserMessage(text="Go", synthetic=True)]


def test_a_result_ends_its_call() -> None:
    call = {"type": "tool_use", "id": "c", "name": "Read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "text"}
    *_, finished = decoded(assistant(call), {"type": "user", "message": {"content": [result]}})
    assert finished == ToolFinished(id="c", status="ok", name="Read", kind="read", output="text")


@pytest.mark.parametrize("type", ["assistant", "user"])
def test_a_block_of_an_unknown_type_is_kept(type: str) -> None:
    *_, unknown = decoded({"type": type, "message": {"content": [{"type": "dance"}]}})
    assert isinstance(unknown, Unknown)
    assert unknown.name == f"{type}/dance"


def test_a_block_has_the_id_of_its_pieces() -> None:
    said = {"type": "text", "text": "Hi you"}
    _, *events = decoded(
        piece("message_start"), START, text_piece("Hi "), text_piece("you"), assistant(said)
    )
    assert events == [
        TextDelta(id="block-1", text="Hi "),
        TextDelta(id="block-1", text="you"),
        Text(id="block-1", text="Hi you"),
    ]


def test_pieces_of_thoughts_and_inputs_are_of_their_blocks() -> None:
    thought = {"type": "thinking_delta", "thinking": "Hm"}
    input = {"type": "input_json_delta", "partial_json": "{}"}
    call = {"type": "tool_use", "id": "c"}
    events = decoded(
        piece("content_block_delta", index=0, delta=thought),
        piece("content_block_start", index=1, content_block=call),
        piece("content_block_delta", index=1, delta=input),
        piece("content_block_delta", index=1, delta={"type": "signature_delta"}),
        piece("content_block_stop", index=1),
    )
    assert events == [ThinkingDelta(id="block-1", text="Hm"), ToolInputDelta(id="c", json="{}")]


def test_a_text_that_is_never_complete_is_reported_at_the_end_of_its_message() -> None:
    *_, said = decoded(START, text_piece("Hi"), piece("message_stop"))
    assert said == Text(id="block-1", text="Hi")
    *_, again = decoded(START, text_piece("Hi"), START)
    assert again == said


def test_a_piece_of_an_unknown_type_is_kept() -> None:
    (unknown,) = decoded(piece("dance"))
    assert isinstance(unknown, Unknown)


def test_a_session_begins_once() -> None:
    init = {"type": "system", "subtype": "init", "session_id": "s", "model": "large"}
    servers = [{"name": "tiny", "status": "connected"}, {"status": "lost"}]
    assert decoded({**init, "mcp_servers": servers, "tools": ["Read"]}, init) == [
        SessionStarted(
            session="s",
            model="large",
            tools=("Read",),
            mcp_servers=(McpServer(name="tiny", status="connected"),),
        )
    ]


def test_pieces_that_are_too_many_are_forgotten() -> None:
    memory = Memory({})
    for index in range(3000):
        memory.open_block(None, index, "text")
    memory.trim()
    assert len(memory.blocks[None]) <= 1000
    memory.open_block("call", 0, "text")
    block = memory.block("call", 0)
    assert block is not None
    block.pieces += ["a" * 3_000_000, "b" * 3_000_000]
    bound_pieces(memory.blocks["call"])
    assert "".join(block.pieces).endswith("b")
    assert sum(map(len, block.pieces)) <= 4_000_000
