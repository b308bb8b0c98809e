"""Any bytes are safe to decode: nothing raises, nothing is lost, and the lines add up."""

import json
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from nightrook.agents import NAMES
from nightrook.agents.known_fields import KNOWN_FIELDS
from tests.adapter.mutations import BOM, DISORDERS, MUTATIONS, VALUES, mutate_stream
from tests.model.adding_up import account, decode, recorded, run
from tests.rules import each

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("agent", NAMES)
def test_there_are_recorded_streams(agent: str) -> None:
    assert sum(map(len, recorded(agent))) > 50


@pytest.mark.parametrize("agent", NAMES)
def test_recorded_streams_add_up(agent: str) -> None:
    for lines in recorded(agent):
        raw = b"\n".join([*lines, b""])
        account(raw, decode([raw], agent))


@pytest.mark.slow
@pytest.mark.parametrize("agent", NAMES)
@each("seed", range(4))
def test_mutated_lines_never_raise_and_add_up(agent: str, seed: int) -> None:
    classes, made = run(agent, seed, 1_000)
    # Not every agent writes what has nothing to tell.
    assert {"understood", "unknown", "unreadable", "blank"} == classes.keys() - {"silent"}
    assert made.keys() == {*MUTATIONS, *DISORDERS, "lines"}


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1_000, 1_100))
@pytest.mark.parametrize("agent", NAMES)
def test_a_million_mutated_lines_never_raise_and_add_up(agent: str, seed: int) -> None:
    run(agent, seed, 10_000)


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


KNOWN = KNOWN_FIELDS["claude"]
TYPES = sorted(KNOWN)
KEYS = sorted(
    {
        key
        for fields in KNOWN.values()
        for path in fields.split()
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


@pytest.mark.slow
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


def _call(name: str) -> dict[str, Any]:
    block = {"type": "tool_use", "id": "b", "name": name}
    return {"type": "assistant", "message": {"id": "a", "content": [block]}}


_RESULT = {
    "type": "user",
    "message": {"content": [{"type": "tool_result", "tool_use_id": "b", "content": "x"}]},
}


@steady
@example([_call("EnterPlanMode"), _call("Bash"), _RESULT])  # the id of a mode call, used again
@given(st.lists(talk | system | others, max_size=30))
def test_calls_and_tasks_end_once_however_they_are_reported(stream: list[Any]) -> None:
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
def test_tasks_end_once_however_they_are_reported(stream: list[Any]) -> None:
    raw = "".join(json.dumps(message) + "\n" for message in stream).encode()
    account(raw, decode([raw]))
