"""A run in one object, as `rook decode --summary` prints it."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import nightrook
from nightrook.model.events import (
    Event,
    PermissionDenied,
    SessionStarted,
    StreamClosed,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    UnknownField,
    Unreadable,
    UsageReported,
)
from nightrook.model.fold import fold
from nightrook.model.price import Price, Rates
from nightrook.model.records import Record
from nightrook.model.snapshot import TokenCounts, ToolCounts
from nightrook.model.state import RunState
from nightrook.runs.run_result import Summary, summarise
from tests.recorded import ALL, CASES, REAL, folded, name_of, results

CLOSED = StreamClosed(
    results=1,
    truncated=True,
    open_tools=1,
    lines=12,
    blank=0,
    silent=0,
    unknown_fields=(UnknownField(type="assistant", field="new", count=3),),
)
USED = UsageReported(
    message_id="m",
    model="known",
    scope="message",
    semantics="final",
    input=1000,
    output=100,
    cache_read=10,
    cache_write_5m=2,
    cache_write_1h=3,
)


def prices(model: str, at: float | None) -> Price | None:
    rates = Rates(
        input=1_000_000, output=1_000_000, cache_read=0, cache_write_5m=0, cache_write_1h=0
    )
    return Price(rates) if model == "known" else None


def summary(*events: Event) -> Summary:
    records = [Record(n, None, 0, 0, event) for n, event in enumerate(events)]
    return summarise(fold(records, prices), file="f", agent="claude")


def test_everything_is_told_of_a_run() -> None:
    call = {"name": "Bash", "kind": "execute"}
    started = [ToolStarted(id=id, name="Bash", kind="execute") for id in "abcde"]
    assert summary(
        SessionStarted(session="s", model="known", version="2.1.325"),
        TurnStarted(origin="prompt"),
        USED,
        *started,
        ToolFinished(id="a", status="ok"),
        ToolFinished(id="b", status="error"),
        ToolFinished(id="c", status="timed_out"),
        PermissionDenied(tool_id="d", name=call["name"]),
        ToolFinished(id="d", status="denied"),
        ToolFinished(id="lost", status="ok"),
        Unknown(name="dream"),
        Unknown(name="dream"),
        Unreadable(reason="not_json"),
        TurnFinished(ok=True, text="done", cost_usd=0.25, cost_semantics="cumulative"),
        ToolFinished(id="e", status="orphaned"),
        CLOSED,
    ) == Summary(
        file="f",
        agent="claude",
        version="2.1.325",
        model="known",
        ok=True,
        status="incomplete",  # its last line was cut off
        text="done",
        turns=1,
        cost_usd=0.25,
        spent_usd=0.25,
        cost_source="native",
        tokens=TokenCounts(input=1000, output=100, cache_read=10, cache_write=5),
        tools=ToolCounts(started=5, finished=6, failed=2, denied=1, orphaned=1),
        lines=12,
        unknown=2,
        unreadable=1,
        truncated=True,
    )


def test_nothing_is_told_of_nothing() -> None:
    assert summarise(RunState(), file="-", agent=None) == Summary(
        file="-",
        agent=None,
        version=None,
        model=None,
        ok=False,
        status="not_started",
        text=None,
        turns=0,
        cost_usd=None,
        spent_usd=None,
        cost_source="unknown",
        tokens=TokenCounts(input=None, output=None, cache_read=None, cache_write=None),
        tools=ToolCounts(started=0, finished=0, failed=0, denied=0, orphaned=0),
        lines=0,
        unknown=0,
        unreadable=0,
        truncated=False,
    )


def test_it_is_ok_if_its_last_turn_is() -> None:
    good, bad = TurnFinished(ok=True), TurnFinished(ok=False)
    assert summary(TurnStarted(), bad, TurnStarted(), good).ok
    assert not summary(TurnStarted(), good, TurnStarted(), bad).ok
    assert not summary(TurnStarted(), good, TurnStarted()).ok
    assert not summary(TurnStarted()).ok


def test_a_cost_is_the_agent_s_own_else_the_estimate_else_null() -> None:
    native = TurnFinished(ok=True, cost_usd=0.5, cost_semantics="cumulative")
    told = summary(TurnStarted(), USED, native)
    assert (told.cost_usd, told.spent_usd, told.cost_source) == (0.5, 0.5, "native")
    told = summary(TurnStarted(), USED, TurnFinished(ok=True))
    assert (told.cost_usd, told.spent_usd, told.cost_source) == (0.0011, 0.0011, "estimated")
    nobody = msgspec.structs.replace(USED, model="strange")
    told = summary(TurnStarted(), nobody, TurnFinished(ok=True))
    assert (told.cost_usd, told.spent_usd, told.cost_source) == (None, None, "unknown")


def test_the_agent_s_own_cost_stays_when_more_was_used_after_it() -> None:
    native = TurnFinished(ok=True, cost_usd=0.5, cost_semantics="cumulative")
    more = msgspec.structs.replace(USED, message_id="n")
    told = summary(TurnStarted(), USED, native, TurnStarted(), more)
    assert (told.cost_usd, told.spent_usd, told.cost_source) == (0.5, 0.5011, "native")


def test_its_json_has_these_fields_in_this_order() -> None:
    path = next(p for p in CASES if name_of(p) == "s02_read_edit_bash-2.1.197")
    told = json.loads(msgspec.json.encode(summarise(folded(path), file="f", agent="claude")))
    assert json.dumps(told) == json.dumps(
        {
            "file": "f",
            "agent": "claude",
            "version": "2.1.197",
            "model": "claude-sonnet-4-5-20250929",
            "ok": True,
            "status": "success",
            "text": "Edited and ran.",
            "turns": 1,
            "cost_usd": 0.0117633,
            "spent_usd": 0.0117633,
            "cost_source": "native",
            "tokens": {"input": 66, "output": 228, "cache_read": 12151, "cache_write": 1200},
            "tools": {"started": 5, "finished": 5, "failed": 0, "denied": 0, "orphaned": 0},
            "lines": 14,
            "unknown": 0,
            "unreadable": 0,
            "truncated": False,
        }
    )


@pytest.mark.parametrize("path", ALL, ids=name_of)
def test_a_recorded_stream_is_summed_up_as_its_messages_tell_it(path: Path) -> None:
    told = summarise(folded(path), file="f", agent="claude")
    raw, data = results(path), path.read_bytes()
    events = [record.event for record in nightrook.decode(path, agent="claude")]

    def count(kind: type[Any], **fields: Any) -> int:
        found = [event for event in events if isinstance(event, kind)]
        return sum(all(getattr(e, k) == v for k, v in fields.items()) for e in found)

    if raw and b'"costBasis":"unknown"' in data:  # the agent guessed
        assert (told.cost_usd, told.cost_source) == (None, "unknown")
    elif raw and path in REAL:
        assert (told.cost_usd, told.cost_source) == (raw[-1]["total_cost_usd"], "native")
    assert told.turns == count(TurnStarted)
    assert told.lines == data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
    assert (told.unknown, told.unreadable) == (count(Unknown), count(Unreadable))
    assert told.tools.started == count(ToolStarted)
    assert told.tools.finished == count(ToolFinished)
    assert told.tools.orphaned == count(ToolFinished, status="orphaned")
    assert told.tools.denied == len({e.tool_id for e in events if isinstance(e, PermissionDenied)})
    ended = told.tools.failed + told.tools.orphaned + count(ToolFinished, status="ok")
    assert ended <= told.tools.finished <= ended + told.tools.denied
