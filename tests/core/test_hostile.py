"""Any bytes are safe to decode: nothing raises, nothing is lost, and the lines add up."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rookery.agents import decoder
from rookery.agents.claude.fields import KNOWN_FIELDS
from rookery.core.events import (
    Event,
    StreamClosed,
    TaskFinished,
    TaskStarted,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    Unreadable,
)
from rookery.core.records import Record, dump, load
from tests.core.mutations import BOM, DISORDERS, MUTATIONS, VALUES, mutate_stream, pieces

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

CASES = Path(__file__).parents[1] / "agents" / "claude" / "cases"


def recorded() -> list[list[bytes]]:
    """The lines of every recorded stream that has any."""
    streams = [path.read_bytes() for path in sorted(CASES.glob("*/wire.jsonl"))]
    return [stream.removesuffix(b"\n").split(b"\n") for stream in streams if stream]


def decode(parts: Iterable[bytes]) -> list[Record]:
    reader = decoder("claude")
    records = [record for part in parts for record in reader.feed(part)]
    return records + reader.close()


def account(raw: bytes, records: list[Record]) -> Counter[str]:
    """Check that the records tell of every line of a stream, and count the lines by class."""
    assert [record.seq for record in records] == list(range(len(records)))
    end = records[-1]
    assert isinstance(end.event, StreamClosed)
    told: defaultdict[int, list[Event]] = defaultdict(list)
    for record in records:
        told[record.offset].append(record.event)
        assert record.length == (raw + b"\n").index(b"\n", record.offset) - record.offset
    at_close = told.pop(len(raw))
    assert not [event for event in at_close if isinstance(event, Unknown | Unreadable)]
    classes: Counter[str] = Counter()
    offset = 0
    for line in raw.removesuffix(b"\n").split(b"\n") if raw else []:
        classes[_class_of(line, told.pop(offset, []))] += 1
        offset += len(line) + 1
    assert not told  # every record is at the beginning of a line
    counted = end.event.lines, end.event.blank, end.event.silent
    assert counted == (classes.total(), classes["blank"], classes["silent"])
    _check_spans([record.event for record in records], at_close, end.event)
    _check_dumps(records)
    return classes


def _class_of(line: bytes, events: list[Event]) -> str:
    """The one class of a line: by its events, or by its looks if it has none."""
    if not events:
        return "silent" if line.removeprefix(BOM).strip() else "blank"
    bad = {type(event) for event in events if isinstance(event, Unknown | Unreadable)}
    assert Unreadable not in bad or len(events) == 1
    return next((kind.__name__.lower() for kind in bad), "understood")


def _check_spans(events: list[Event], at_close: list[Event], end: StreamClosed) -> None:
    """Check that what starts ends once, and that the stream's end counts what was open."""
    tools: defaultdict[str, list[type[Event]]] = defaultdict(list)
    tasks: defaultdict[str, list[type[Event]]] = defaultdict(list)
    turns = 0
    for event in events:
        if isinstance(event, ToolStarted | ToolFinished):
            tools[event.id].append(type(event))
        elif isinstance(event, TaskStarted | TaskFinished):
            tasks[event.id].append(type(event))
        elif isinstance(event, TurnStarted | TurnFinished):
            turns += 1 if isinstance(event, TurnStarted) else -1
            assert turns >= 0
    assert all(ends in ([ToolStarted, ToolFinished], [ToolFinished]) for ends in tools.values())
    assert all(ends == [TaskStarted, TaskFinished] * (len(ends) // 2) for ends in tasks.values())
    assert end.results == sum(isinstance(event, TurnFinished) for event in events)
    assert end.open_tools == sum(isinstance(event, ToolFinished) for event in at_close)


def _check_dumps(records: list[Record]) -> None:
    """Check that every record is one line of good JSON that reads back equal."""
    for record in records:
        line = dump(record)
        assert b"\n" not in line
        assert isinstance(json.loads(line.decode()), dict)
        assert load(line) == record


def run(seed: int, count: int) -> tuple[Counter[str], Counter[str]]:
    """Decode so many lines of broken streams; give the line classes and the mutations made."""
    random, streams = Random(seed), recorded()
    classes: Counter[str] = Counter()
    made: Counter[str] = Counter()
    while made["lines"] < count:
        raw, done = mutate_stream(random.choice(streams)[:80], random)
        made += done
        classes += account(raw, decode(pieces(raw, random)))
    return classes, made


def test_there_are_recorded_streams() -> None:
    assert sum(map(len, recorded())) > 500


def test_recorded_streams_add_up() -> None:
    for lines in recorded():
        raw = b"\n".join([*lines, b""])
        account(raw, decode([raw]))


@pytest.mark.parametrize("seed", range(10))
def test_mutated_lines_never_raise_and_add_up(seed: int) -> None:
    classes, made = run(seed, 1_000)
    assert {"understood", "silent", "unknown", "unreadable", "blank"} == classes.keys()
    assert made.keys() == {*MUTATIONS, *DISORDERS, "lines"}


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1_000, 1_100))
def test_a_million_mutated_lines_never_raise_and_add_up(seed: int) -> None:
    run(seed, 10_000)


def test_the_same_seed_does_the_same_harm() -> None:
    lines = [b'{"type":"user","message":{"content":"a"}}'] * 50
    assert mutate_stream(lines, Random(1)) == mutate_stream(lines, Random(1))


# Depths around the end of Python's stack: where one reader gives up and another does not.
@pytest.mark.parametrize("kind", ["system", "user", "news"])
def test_no_depth_raises(kind: str) -> None:
    for depth in range(800, 1010):
        inner = b"[" * depth + b"]" * depth
        line = b'{"type":"%b","subtype":"init","message":{"content":%b}}\n' % (kind.encode(), inner)
        records = decode([line])
        assert [record.seq for record in records] == list(range(len(records)))


def test_a_number_as_long_as_python_prints_never_raises() -> None:
    said = b'{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"x"}]}}\n'
    decode(
        [
            b'{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}\n',
            b'{"type":"stream_event","event":{"type":"content_block_start","index":%b,'
            b'"content_block":{"type":"text"}}}\n' % (b"9" * 4300),
            said,
            said,
        ]
    )


SNIPPETS = [
    *VALUES,
    b'{"type":"assistant","message":{"content":[',
    b'{"type":"result","subtype":"success"}',
    b'{"type":"system","subtype":"init"',
    b'{"type":"stream_event","event":{"type":"content_block_delta","index":0}}',
    b'{"type":"text","text":"',
    b"]}}",
    b'"}',
    b"\n",
    b"\r\n",
    b"\n\n",
    b",",
    BOM,
]


@steady
@given(
    st.lists(st.sampled_from(SNIPPETS) | st.binary(max_size=30)).map(b"".join),
    st.lists(st.integers(0, 500)),
)
def test_any_bytes_in_any_cuts_never_raise_and_add_up(raw: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    records = decode(raw[begin:end] for begin, end in pairwise(places))
    account(raw, records)
    assert records == decode([raw])


TYPES = sorted(KNOWN_FIELDS)
KEYS = sorted(
    {
        key
        for fields in KNOWN_FIELDS.values()
        for path in fields
        for key in path.replace("[]", "").split(".")
    }
)
WORDS = [
    "", "a", "b", "text", "thinking", "tool_use", "tool_result", "server_tool_use", "Bash", "Read",
    "TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "EnterPlanMode", "ExitPlanMode", "plan",
    "completed", "killed", "success", "rejected", "content_block_start", "content_block_delta",
    "content_block_stop", "message_start", "message_delta", "message_stop", "text_delta",
    "thinking_delta", "input_json_delta", "can_use_tool", "local_agent", "create", "\ud800",
]  # fmt: skip

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.integers()
    | st.floats()
    | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=12,
)


def message_of(type: str, fields: dict[str, Any]) -> dict[str, Any]:
    outer, _, inner = type.partition("/")
    return {**fields, "type": outer, **({"subtype": inner} if inner else {})}


messages = st.builds(
    message_of,
    st.sampled_from(TYPES),
    st.dictionaries(st.sampled_from(KEYS), anything, max_size=8),
)


@steady
@given(st.lists(messages, max_size=6))
def test_any_objects_of_known_types_never_raise_and_add_up(stream: list[dict[str, Any]]) -> None:
    raw = "".join(json.dumps(message) + "\n" for message in stream).encode()
    account(raw, decode([raw]))


# Talk about few things, so that calls, tasks and messages meet: ids are drawn from two.
ids = st.sampled_from(["a", "b", None, 5])
blocks = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["text", "tool_use", "tool_result", "thinking", "server_tool_use"]),
        "id": ids,
        "tool_use_id": ids,
        "name": st.sampled_from(["Bash", "EnterPlanMode", "ExitPlanMode", "TodoWrite", None]),
        "is_error": st.sampled_from([True, False, None]),
        "text": st.sampled_from(["x", None, 5]),
    }
)
talk = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["assistant", "user", "tool_result"]),
        "message": st.fixed_dictionaries(
            {"id": ids, "content": st.lists(blocks, max_size=3) | st.just("x")}
        ),
        "parent_tool_use_id": ids,
        "tool_use_id": ids,
    }
)
system = st.fixed_dictionaries(
    {
        "type": st.just("system"),
        "subtype": st.sampled_from(
            ["init", "task_started", "task_updated", "task_notification", "status", "dance"]
        ),
        "task_id": ids,
        "tool_use_id": ids,
        "session_id": ids,
        "status": st.sampled_from(["completed", "killed", None]),
        "patch": st.sampled_from([{"status": "completed"}, {"status": "killed"}, None, 5]),
        "claude_code_version": st.sampled_from(["2.1.197", "99.0", None]),
    }
)
others = st.sampled_from([{"type": "result"}, {"type": "news"}, {"type": "keep_alive"}, []])


@steady
@given(st.lists(talk | system | others, max_size=30))
def test_calls_and_tasks_end_once_however_they_are_told(stream: list[Any]) -> None:
    raw = "".join(json.dumps(message) + "\n" for message in stream).encode()
    account(raw, decode([raw]))


tasks = st.fixed_dictionaries(
    {
        "type": st.just("system"),
        "subtype": st.sampled_from(["task_started", "task_updated", "task_notification"]),
        "task_id": st.sampled_from(["a", "b"]),
        "patch": st.just({"status": "completed"}),
    }
)


@steady
@given(st.lists(tasks | others, max_size=8))
def test_tasks_end_once_however_they_are_told(stream: list[Any]) -> None:
    raw = "".join(json.dumps(message) + "\n" for message in stream).encode()
    account(raw, decode([raw]))
