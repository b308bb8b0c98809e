"""Checks that the records of a stream tell of all of it, whatever was done to its bytes."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from random import Random

from nightrook.agents import decoder
from nightrook.model.events import (
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
from nightrook.model.records import Record, dump, load
from tests.adapter.mutations import BOM, mutate_stream, pieces
from tests.recorded import cases


def recorded(agent: str) -> list[list[bytes]]:
    """The lines of every golden case of an agent that has any."""
    streams = [path.read_bytes() for path in cases(agent)]
    return [stream.removesuffix(b"\n").split(b"\n") for stream in streams if stream]


def decode(parts: Iterable[bytes], agent: str = "claude") -> list[Record]:
    """Decode a stream that comes in parts."""
    reader = decoder(agent)
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


def run(agent: str, seed: int, count: int) -> tuple[Counter[str], Counter[str]]:
    """Decode so many lines of broken streams; give the line classes and the mutations made."""
    random, streams = Random(seed), recorded(agent)
    classes: Counter[str] = Counter()
    made: Counter[str] = Counter()
    while made["lines"] < count:
        raw, done = mutate_stream(random.choice(streams)[:80], random)
        made += done
        classes += account(raw, decode(pieces(raw, random), agent))
    return classes, made
