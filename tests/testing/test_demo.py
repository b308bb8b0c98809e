"""The demo: an invented session in real shapes, right in every figure."""

import json
import re
from typing import Any

import pytest

import nightrook
from nightrook.model.events import TextDelta, ToolFinished
from nightrook.model.fold import fold
from nightrook.model.ledger import Reconciliation
from nightrook.model.records import Record
from nightrook.model.state import RunState
from nightrook.model.timeline import Timeline
from nightrook.prices import PriceBook
from nightrook.testing import DEMO

LISTED = {"input": 3_000, "output": 15_000, "cache_read": 300, "cache_write": 3_750}
"""The model's list price in nano-dollars a token."""


@pytest.fixture(scope="module")
def messages() -> list[dict[str, Any]]:
    return [json.loads(line) for line in DEMO.read_bytes().split(b"\n")[:-1]]


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return list(nightrook.decode(DEMO))


@pytest.fixture(scope="module")
def state(records: list[Record]) -> RunState:
    return fold(records, PriceBook())


def test_everything_in_it_is_known_and_closed(state: RunState) -> None:
    assert state.closed is not None
    assert (state.unreadable, dict(state.unknown), state.closed.unknown_fields) == (0, {}, ())
    assert (state.closed.open_tools, state.open_tools, state.open_tasks) == (0, {}, {})
    assert (state.version, state.closed.results, state.closed.truncated) == ("2.1.325", 1, False)


def test_it_shows_what_a_session_can_hold(state: RunState, records: list[Record]) -> None:
    line = Timeline()
    line.take(records)
    tools = {item.name: item for item in line.items if item.kind in ("tool", "subagent")}
    assert {"Bash", "Read", "Edit", "Agent", "TaskCreate", "TaskUpdate"} <= set(tools)
    ends = [r.event for r in records if isinstance(r.event, ToolFinished) and r.event.exit_code]
    assert [(end.name, end.exit_code) for end in ends] == [("Bash", 1)]
    assert {file.added for file in state.files.values()} == {2}
    inside = [i.name for i in line.items if i.kind == "tool" and i.parent == tools["Agent"].id]
    assert inside == ["Bash", "Read", "Read"]
    assert [item.name for item in line.items if item.kind == "task"].count("subagent") == 1
    assert [denial.fix for denial in state.denials.values()] == ["Bash(git push origin main)"]
    assert [item.title for item in line.items if item.kind == "retry"] == ["overloaded (529)"]
    assert [item.status for item in state.plan] == ["completed"] * 3
    assert sum(isinstance(record.event, TextDelta) for record in records) > 30
    assert state.texts[-1] == state.results[0].text


def test_the_agent_s_own_cost_is_the_sum_of_its_messages(state: RunState) -> None:
    ledger = state.ledger
    assert (ledger.native_usd, f"${ledger.native_usd:.4f}") == (0.04150005, "$0.0415")
    assert ledger.seen.nano == ledger.native_nano == 41_500_050
    assert ledger.reconciliation == Reconciliation(0.04150005, 0.04150005)
    tokens = ledger.seen.tokens
    assert ledger.tokens == tokens
    assert sum(getattr(tokens, name) * price for name, price in LISTED.items()) == 41_500_050


def test_its_pace_is_that_of_a_minute(messages: list[dict[str, Any]]) -> None:
    pauses = [float(line) for line in DEMO.with_suffix(".delays").read_text().split()]
    assert len(pauses) == len(messages)
    assert 58 < sum(pauses) < 62
    assert max(pauses) < 6
    times = [message["timestamp"] for message in messages if "timestamp" in message]
    assert times == sorted(times)


def test_nothing_private_is_in_it() -> None:
    assert not re.search(rb"/work/|/root/|/tmp/tmp|sk-ant-|[Bb]earer ", DEMO.read_bytes())
