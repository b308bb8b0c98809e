"""What is remembered of any stream: turns, calls and words each have one beginning and one end."""

import msgspec
import pytest

from nightrook.adapter.memory import Memory, forget_oldest
from nightrook.model.events import (
    PermissionDenied,
    TaskFinished,
    TaskStarted,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)

CALL = ToolStarted(
    id="c", name="shell", kind="execute", input=msgspec.Raw(b'{"a":1}'), parent="outer"
)


def test_a_turn_begins_once_and_may_be_followed_by_another() -> None:
    memory = Memory()
    assert memory.begin_turn() == [TurnStarted(origin="prompt")]
    assert memory.begin_turn() == []
    memory.end_turn()
    assert memory.begin_turn() == [TurnStarted(origin="prompt")]
    assert memory.results == 1


def test_a_turn_without_a_reason_to_fail_has_an_answer() -> None:
    memory = Memory()
    done = memory.finish_turn(None, "Done.", duration_s=2.5, turns=3)
    assert done == TurnFinished(ok=True, text="Done.", duration_s=2.5, turns=3)
    failed = TurnFinished(ok=False, reason="api_error", errors=("401",))
    assert memory.finish_turn("api_error", "401") == failed
    assert memory.finish_turn("api_error") == TurnFinished(ok=False, reason="api_error")
    assert memory.results == 3


def test_text_before_a_turn_is_not_its_answer() -> None:
    memory = Memory()
    memory.begin_turn()
    memory.add_delta("m", "One.")
    memory.end_text()
    assert memory.answer == "One."
    memory.end_turn()
    memory.begin_turn()
    assert memory.answer is None


def test_a_text_is_complete_when_another_starts() -> None:
    memory = Memory()
    assert memory.add_delta("t", "Let me ", thinking=True) == [
        ThinkingDelta(id="t", text="Let me ")
    ]
    assert memory.add_delta("t", "see", thinking=True) == [ThinkingDelta(id="t", text="see")]
    assert memory.add_delta("m", "Hel") == [
        Thinking(id="t", text="Let me see"),
        TextDelta(id="m", text="Hel"),
    ]
    memory.add_delta("m", "lo")
    assert memory.advance() == [TurnStarted(origin="prompt"), Text(id="m", text="Hello")]
    assert memory.answer == "Hello"
    assert memory.advance() == []


def test_a_thought_is_not_an_answer() -> None:
    memory = Memory()
    memory.add_delta("t", "Hm", thinking=True)
    memory.end_text()
    assert memory.answer is None


def test_a_call_starts_and_ends_once_and_its_end_is_completed_from_its_start() -> None:
    memory = Memory()
    assert memory.start(CALL) == [CALL]
    assert memory.start(CALL) == []
    ended = ToolFinished(
        id="c",
        status="ok",
        name="shell",
        kind="execute",
        output="one",
        exit_code=0,
        parent="outer",
    )
    assert memory.finish("c", "ok", output="one", exit_code=0) == [ended]
    assert memory.finish("c", "error", error="again") == []
    assert memory.start(CALL) == []
    assert memory.tools == {}


def test_a_result_whose_call_was_never_seen_is_reported_as_far_as_it_goes() -> None:
    told = Memory().finish("x", "ok", name="shell", kind="execute", parent="outer")
    assert told == [ToolFinished(id="x", status="ok", name="shell", kind="execute", parent="outer")]


def test_a_denial_is_reported_before_the_end_of_its_call() -> None:
    memory = Memory()
    memory.start(CALL)
    denied, ended = memory.finish("c", "denied", error="no", fix="--allow shell")
    assert denied == PermissionDenied(
        tool_id="c", name="shell", input=CALL.input, reason="no", fix="--allow shell"
    )
    assert isinstance(ended, ToolFinished)
    assert ended.status == "denied"


def test_at_the_end_all_that_is_open_is_ended() -> None:
    memory = Memory()
    memory.start(CALL)
    memory.add_delta("m", "Hel")
    memory.tasks["j"] = TaskStarted(id="j", kind="command", title="make", tool_id="c")
    events, open_tools = memory.close()
    assert open_tools == 1
    assert events == [
        Text(id="m", text="Hel"),
        ToolFinished(id="c", status="orphaned", name="shell", kind="execute", parent="outer"),
        TaskFinished(id="j", status="orphaned", kind="command", title="make", tool_id="c"),
    ]
    assert memory.close() == ([], 0)


def test_ended_calls_cost_a_bounded_memory() -> None:
    memory = Memory()
    for n in range(10_000):
        memory.finish(f"c{n}", "ok")
    memory.trim()
    assert memory.has_ended("c9999")
    assert not memory.has_ended("c0")


def test_ended_calls_with_long_ids_cost_a_bounded_memory() -> None:
    memory = Memory()
    for n in range(20):
        memory.finish(f"{n}{'x' * 1_000_000}", "ok")
        memory.trim()
    assert 0 < len(memory.ended) <= 8
    assert next(reversed(memory.ended)).startswith("19")


@pytest.mark.parametrize("most", [1, 2, 7])
def test_the_last_things_are_kept_and_never_twice_as_many(most: int) -> None:
    things: dict[int, None] = {}
    for n in range(100):
        things[n] = None
        forget_oldest(things, most)
        assert len(things) < 2 * most
        assert [*things][-most:] == [*range(max(0, n + 1 - most), n + 1)]
