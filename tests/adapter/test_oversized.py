"""A message that is too long to be kept is read from its ends, whatever is in its middle."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nightrook
from nightrook.adapter.lines import LineBuffer, Oversized
from nightrook.adapter.oversized import shortened
from nightrook.adapter.salvage import Repaired, parse
from nightrook.model.events import StreamClosed, Text, TurnFinished, Unreadable, UsageReported
from nightrook.model.fold import fold
from nightrook.model.verdict import judge
from tests.rules import each

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

MIB = 1024 * 1024
TRICKY = [
    '"',
    "\\",
    "\\\\",
    '\\"',
    "\n",
    "é",
    "\u2028",
    "🦆",
    "\ud83d",
    '","ok":false,"x":"',
    "}",
    "]",
]
texts = st.lists(st.sampled_from(TRICKY) | st.text(max_size=5), max_size=40).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def cut(line: bytes, cap: int) -> Oversized:
    (long,) = LineBuffer(cap).feed(line + b"\n")
    assert isinstance(long, Oversized)
    return long


def read(line: bytes, cap: int) -> Any:
    """The value of a line over the cap; None if it cannot be read."""
    short = shortened(cut(line, cap))
    repaired = None if short is None else parse(short)
    return repaired.value if isinstance(repaired, Repaired) else None


@steady
@given(texts, st.booleans(), st.integers(120, 200))
def test_every_other_field_is_read_whatever_a_long_text_holds(
    text: str, escaped: bool, cap: int
) -> None:
    message = {"type": "result", "text": (text or "x") * 400, "ok": True, "cost": 0.5}
    dumped = json.dumps(message, ensure_ascii=escaped).encode("utf-8", "replace")
    found = read(dumped, cap)
    assert {**found, "text": ""} == {**message, "text": ""}
    assert "bytes left out" in found["text"]


@steady
@given(st.lists(values, min_size=1, max_size=4), st.booleans(), st.integers(2, 300))
def test_fields_before_and_after_are_read_whatever_is_between_them(
    middle: list[Any], spaced: bool, cap: int
) -> None:
    message = {"type": "result", "nested": [middle] * 40, "deep": {"a": middle}, "z": 1}
    separators = (", ", ": ") if spaced else (",", ":")
    dumped = json.dumps(message, separators=separators).encode()
    if len(dumped) <= cap:
        return
    found = read(dumped, cap)
    if cap >= 60:
        assert isinstance(found, dict)
        assert (found["type"], found["z"]) == ("result", 1)
    else:
        assert found is None or isinstance(found, dict)


@steady
@given(st.binary(min_size=3, max_size=300), st.integers(1, 40))
def test_any_bytes_are_shortened_or_refused(data: bytes, cap: int) -> None:
    line = data.replace(b"\n", b"") + b"." * cap
    short = shortened(cut(line, cap))
    assert short is None or short.endswith((b"}", b"\r", b" ", b"\t", b"\x0b", b"\x0c", b"\n"))


@each("part", [b"[", b'{"a":', b'"', b"\\", b"\\\\", b'\\"', b",", b"{", b"}"])
def test_a_long_line_of_one_token_is_read_in_linear_time(part: bytes) -> None:
    line = b'{"type":"x","v":' + part * (2 * MIB // len(part)) + b"}"
    shortened(cut(line, MIB))  # a quadratic reader would need hours


@pytest.mark.parametrize("size", [20_000_000])
def test_the_end_of_a_turn_with_a_huge_answer_is_read(size: int) -> None:
    answer = 'He said "yes".\n' * (size // 15) + "DONE"
    model = {"inputTokens": 10, "outputTokens": 5_000_000, "costUSD": 75.0}
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": answer,
        "session_id": "s",
        "total_cost_usd": 75.0,
        "usage": {"input_tokens": 10, "output_tokens": 5_000_000},
        "modelUsage": {"claude-sonnet-4-5": model},
        "structured_output": {"a": 1},
        "num_turns": 1,
    }
    init = {"type": "system", "subtype": "init", "session_id": "s"}
    lines = [json.dumps(message).encode() + b"\n" for message in (init, result)]
    records = list(nightrook.decode(lines, agent="claude"))
    state = fold(records)
    assert (judge(state).status, state.ledger.cost.usd) == ("success", 75.0)
    (turn,) = state.results
    assert (turn.text or "").endswith("DONE")
    assert (turn.structured, turn.turns) == (None, 1)
    (warning,) = [record for record in records if isinstance(record.event, Unreadable)]
    assert (warning.offset, warning.length) == (len(lines[0]), len(lines[1]) - 1)


def test_a_long_last_line_without_newline_is_cut_only_if_its_end_is_missing() -> None:
    result = b'{"type":"result","subtype":"success","result":"' + b"x" * 200
    for end, truncated in ((b'"}', False), (b"", True)):
        last = list(nightrook.decode([result + end], agent="claude", cap=100))[-1]
        assert isinstance(last.event, StreamClosed)
        assert last.event.truncated is truncated


def test_a_huge_answer_in_a_nested_field_is_read() -> None:
    item = {"id": "i", "type": "agent_message", "text": "x" * 11 * MIB}
    usage = {"input_tokens": 7, "cached_input_tokens": 0, "output_tokens": 5}
    stream = [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": item},
        {"type": "turn.completed", "usage": usage},
    ]
    lines = [json.dumps(message).encode() + b"\n" for message in stream]
    events = [record.event for record in nightrook.decode(lines, agent="codex")]
    assert [type(event) for event in events if isinstance(event, (Text, TurnFinished))] == [
        Text,
        TurnFinished,
    ]
    assert any(isinstance(event, UsageReported) and event.input == 7 for event in events)
