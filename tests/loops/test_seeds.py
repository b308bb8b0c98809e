"""What seeds 000 and 004 ask of a loop. Each `# seed` line quotes what the test under it proves."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import nightrook
from nightrook.loops.ceilings import Ceilings
from nightrook.loops.events import (
    AGENT_EVENTS,
    AgentThinking,
    Decision,
    IterationFinished,
    LoopEvent,
    SessionStats,
    ToolCompleted,
    ToolStarted,
    agent_events,
)
from nightrook.loops.plan import Goal
from nightrook.loops.start import new_loop
from nightrook.store.list import find_run
from tests.loops.playing import calls, install, plan, play

INIT = {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Read"]}
USAGE = {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 7}
RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "done",
    "total_cost_usd": 0.015,
    "num_turns": 3,
    "usage": USAGE,
    "session_id": "s",
}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "assistant", "message": {"id": "m1", "content": list(blocks)}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


CALL = assistant({"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a"}})
GIVEN = {
    "type": "user",
    "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "one"}]},
}


def heard(*messages: dict[str, Any]) -> list[LoopEvent]:
    """What a consumer of the loop hears of these messages of Claude's."""
    wire = "".join(json.dumps(message) + "\n" for message in messages).encode()
    told: list[LoopEvent] = []
    for record in nightrook.decode([wire], "claude"):
        told += agent_events(record.event, iteration=2, at=5.0)
    return told


def of(events: Sequence[LoopEvent], *kinds: type) -> list[LoopEvent]:
    return [event for event in events if isinstance(event, kinds)]


# Seed 004, part 3: the loop's runner tells what the agent inside does.


# seed 004: "Assistant event with tool_use block: EventToolStarted emitted with correct ToolName"
def test_a_call_of_a_tool_is_tool_started_with_its_name() -> None:
    assert heard(CALL)[:1] == [
        ToolStarted(at=5.0, iteration=2, tool_name="Read", message="Tool: Read")
    ]


# seed 004: "User event with tool_result block: EventToolCompleted emitted"
def test_a_result_of_a_tool_is_tool_completed_with_its_name() -> None:
    assert heard(CALL, GIVEN)[1:2] == [
        ToolCompleted(at=5.0, iteration=2, tool_name="Read", status="ok")
    ]


# seed 004: "Assistant event with text block: EventAgentThinking emitted with truncated text"
@pytest.mark.parametrize("length", [1, 200, 201, 10_000])
def test_text_is_agent_thinking_of_at_most_200_characters(length: int) -> None:
    (said,) = heard(assistant(text("x" * length)))
    assert isinstance(said, AgentThinking)
    assert said.message.startswith("x" * min(length, 190))
    assert len(said.message) <= 203  # with the three dots
    assert (said.message == "x" * length) == (length <= 200)


# seed 004: "Result event: EventSessionStats emitted with CostUSD and token counts"
def test_a_result_is_session_stats_with_cost_and_tokens() -> None:
    (stats,) = heard(RESULT)
    assert stats == SessionStats(
        at=5.0,
        iteration=2,
        cost_usd=0.015,
        tokens_in=120,
        tokens_out=7,
        turns=3,
        message="Cost: $0.0150, Turns: 3",
    )


def test_a_cost_that_is_not_told_is_not_zero() -> None:
    (stats,) = heard({"type": "result", "subtype": "success", "is_error": False, "result": "x"})
    assert isinstance(stats, SessionStats)
    assert (stats.cost_usd, stats.tokens_in, stats.tokens_out) == (None, None, None)
    assert stats.message == "Cost: unknown, Turns: unknown"


# seed 004: "Mixed event stream (system, assistant, user, result): correct LoopEvents in order"
def test_a_mixed_stream_is_told_in_order() -> None:
    told = heard(INIT, assistant(text("I'll look.")), CALL, GIVEN, RESULT)
    assert [type(event) for event in told] == [
        AgentThinking,
        ToolStarted,
        ToolCompleted,
        SessionStats,
    ]


# seed 004: "Empty stream (channel closed immediately): no events emitted, no panic"
def test_an_empty_stream_tells_nothing() -> None:
    assert heard() == []


# seed 004: "Runner with nil events channel: streaming not activated"
def test_a_loop_that_nobody_listens_to_does_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no", "say=DONE"], monkeypatch)

    async def whole() -> tuple[str | None, int]:
        async with new_loop(plan(work)) as loop:
            await loop.wait()
        return loop.end, loop.state.iterations

    assert asyncio.run(whole()) == ("done", 2)


# seed 004: "Non-blocking channel send: if the channel is full, events are dropped (not blocked)"
def test_a_slow_listener_loses_only_what_the_agent_inside_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nightrook.loops.loop._MOST_UNREAD", 3)
    work = install(tmp_path, ["say=no", "say=DONE"], monkeypatch)

    async def whole() -> list[LoopEvent]:
        async with new_loop(plan(work)) as loop:
            await loop.wait()
            return [event async for event in loop]

    told = asyncio.run(whole())
    assert len(of(told, *AGENT_EVENTS)) <= 3
    assert len(of(told, IterationFinished)) == 2
    assert len(of(told, Decision)) == 2


# seed 004: "Loop runner with mock agent producing stream events -> verify LoopEvents emitted"
def test_a_loop_of_an_agent_tells_all_four_in_each_iteration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no", "say=DONE"], monkeypatch)
    loop, events = play(plan(work))
    for iteration in (1, 2):
        mine = [e for e in events if isinstance(e, AGENT_EVENTS) and e.iteration == iteration]
        assert {type(event) for event in mine} == set(AGENT_EVENTS)
    told = sum(event.cost_usd or 0.0 for event in events if isinstance(event, SessionStats))
    assert told == pytest.approx(loop.state.spent_usd)


# seed 004: "Agent exits with non-zero code mid-stream: partial events delivered, RunResult
# captures exit code"
def test_an_agent_that_dies_in_mid_stream_is_told_as_far_as_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["no-result exit-code=3"], monkeypatch)
    loop, events = play(plan(work, ceilings=Ceilings(iterations=1)))
    assert of(events, ToolStarted)
    assert not of(events, SessionStats)
    report = loop.state.attempts[0].report
    assert (report.status, "exited with code 3" in report.sentence) == ("incomplete", True)


# seed 004: "Agent produces zero stdout (empty stream): StreamEvents channel receives nothing"
def test_an_agent_that_says_nothing_tells_nothing_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["bad-flag"], monkeypatch)
    loop, events = play(plan(work))
    assert of(events, *AGENT_EVENTS) == []
    assert loop.end == "not_started"


# seed 004: "Ensure signal detection still works ... The signals would appear inside assistant text
# blocks."
def test_a_signal_in_the_agent_s_text_ends_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plays = [json.dumps({"say": said}) for said in ("not PHASE_COMPLETE yet", "ok\nPHASE_COMPLETE")]
    work = install(tmp_path, plays, monkeypatch)
    loop, _ = play(plan(work, goal=Goal(signals=("PHASE_COMPLETE",))))
    assert (loop.end, calls(tmp_path)) == ("done", 2)


# Seed 000: an agent is run again, with the same words, until its result is the one asked for.


# seed 000: "Completion detection via JSON `result` message type"
def test_a_result_that_equals_what_was_asked_for_ends_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=other", "say=done"], monkeypatch)
    loop, _ = play(plan(work, goal=Goal(until="done")))
    assert (loop.end, calls(tmp_path)) == ("done", 2)


# seed 000: "Copy args so we don't mutate settings across iterations."
def test_each_iteration_gets_the_same_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a", "say=b", "say=DONE"], monkeypatch)
    loop, _ = play(plan(work, args=("--verbose",)))
    infos = [find_run(tmp_path / "home", a.report.run or "").info() for a in loop.state.attempts]
    commands = [info.command for info in infos if info]
    assert len(commands) == 3
    # Only what is left of the ceilings changes from one to the next.
    assert len({tuple(w for w in each if not _is_number(w)) for each in commands}) == 1
    assert all(each.count("stream-json") == 1 for each in commands)


# seed 000: "Track cumulative cost throughout session"
def test_the_cost_adds_up_over_the_iterations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a", "say=DONE"], monkeypatch)
    loop, events = play(plan(work))
    each = [event.spent_usd or 0.0 for event in events if isinstance(event, IterationFinished)]
    assert min(each) > 0
    assert loop.state.spent_usd == pytest.approx(sum(each))


def _is_number(word: str) -> bool:
    return word.replace(".", "", 1).isdecimal()
