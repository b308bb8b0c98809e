"""Every recorded case of every agent: a folder with what it wrote and what we make of it.

`UPDATE_CASES=1 pytest tests/agents/test_cases.py` writes the events anew; read the diff.
"""

import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import nightrook
from nightrook.agents import NAMES, agent
from nightrook.model.events import (
    Event,
    SessionStarted,
    StreamClosed,
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
from tests.recorded import about, agent_of, cases, facts, full_name_of, name_of
from tests.rules import each

HERE = Path(__file__).parent
CASES = [path.parent for path in cases()]
TAGS = {str(event.__struct_config__.tag) for event in get_args(Event)}

PRIVATE = re.compile(
    rb"(?<!\w)/work/|/root/|/Users/|sk-ant-|[Bb]earer |[\w.]+@[\w-]+\.(?:com|org|net)"
)
"""What no recording may hold: paths of a real machine, keys, addresses."""


def decode(case: Path, sizes: Iterator[int] | None = None) -> list[nightrook.Record]:
    """Decode a case, whole or in pieces of the given sizes."""
    wire = (case / "wire.jsonl").read_bytes()
    decoder = nightrook.decoder(agent_of(case / "wire.jsonl"))
    records, at = [], 0
    while at < len(wire):
        size = len(wire) if sizes is None else next(sizes)
        records += decoder.feed(wire[at : at + size])
        at += size
    return records + decoder.close()


def dumped(records: list[nightrook.Record]) -> list[bytes]:
    return [nightrook.dump(record) for record in records]


def ones() -> Iterator[int]:
    while True:
        yield 1


def any_sizes(seed: str) -> Iterator[int]:
    chance = random.Random(seed)
    while True:
        yield chance.choice((1, 2, 7, 64, 1000, chance.randrange(1, 5000)))


every_case = each("case", CASES, ids=lambda case: full_name_of(case / "wire.jsonl"))


@every_case
def test_a_case_gives_the_events_that_were_read_by_a_person(case: Path) -> None:
    records, file = dumped(decode(case)), case / "events.jsonl"
    if os.environ.get("UPDATE_CASES"):
        file.write_bytes(b"".join(record + b"\n" for record in records))
    assert records == file.read_bytes().split(b"\n")[:-1]


@every_case
def test_what_was_dumped_is_read_back_equal(case: Path) -> None:
    records = dumped(decode(case))
    assert dumped([nightrook.load(record) for record in records]) == records


@every_case
def test_a_case_fed_byte_by_byte_gives_equal_records(case: Path) -> None:
    assert dumped(decode(case, ones())) == dumped(decode(case))


@every_case
def test_a_case_fed_in_random_cuts_gives_equal_records(case: Path) -> None:
    whole = dumped(decode(case))
    for seed in range(3):
        assert dumped(decode(case, any_sizes(f"{case.name} {seed}"))) == whole, seed


@every_case
def test_records_are_numbered_without_gap_and_end_with_one_stream_closed(case: Path) -> None:
    records = decode(case)
    assert [record.seq for record in records] == list(range(len(records)))
    assert [n for n, r in enumerate(records) if isinstance(r.event, StreamClosed)] == [
        len(records) - 1
    ]


@every_case
def test_records_point_at_their_lines(case: Path) -> None:
    wire = (case / "wire.jsonl").read_bytes()
    for record in decode(case):
        line = wire[record.offset : record.offset + record.length]
        assert b"\n" not in line
        assert record.offset == 0 or wire[record.offset - 1 : record.offset] == b"\n" or not line


@every_case
def test_every_span_that_begins_ends_exactly_once(case: Path) -> None:
    events = [record.event for record in decode(case)]
    for start, end in ((ToolStarted, ToolFinished), (TaskStarted, TaskFinished)):
        begun = Counter(event.id for event in events if isinstance(event, start))
        ended = Counter(event.id for event in events if isinstance(event, end))
        assert set(begun.values()) <= {1}
        assert set(ended.values()) <= {1}
        assert set(begun) <= set(ended)


@every_case
def test_no_turn_ends_before_it_starts(case: Path) -> None:
    begun = 0
    for record in decode(case):
        begun += isinstance(record.event, TurnStarted)
        begun -= isinstance(record.event, TurnFinished)
        assert begun >= 0


@every_case
def test_each_session_starts_once(case: Path) -> None:
    events = [record.event for record in decode(case)]
    sessions = Counter(event.session for event in events if isinstance(event, SessionStarted))
    assert set(sessions.values()) <= {1}


@every_case
def test_the_pieces_of_a_text_make_up_the_whole(case: Path) -> None:
    pieces: dict[str, str] = {}
    for record in decode(case):
        match record.event:
            case TextDelta(id=id, text=text) | ThinkingDelta(id=id, text=text):
                pieces[id] = pieces.get(id, "") + text
            case Text(id=id, text=text) | Thinking(id=id, text=text) if id in pieces:
                assert pieces.pop(id) == text


@every_case
def test_a_case_says_where_it_comes_from(case: Path) -> None:
    told = about(case / "wire.jsonl")
    assert told.startswith("# ")
    assert re.search(r"^- agent: .+$", told, re.MULTILINE)
    assert re.search(r"^- (recorded: \S+, real|invented)\b", told, re.MULTILINE)


def test_no_recording_holds_what_is_private() -> None:
    files = [path for path in HERE.glob("*/*/**/*") if path.suffix in {".jsonl", ".md"}]
    assert len(files) > len(CASES)
    assert [path for path in files if PRIVATE.search(path.read_bytes())] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_cases_show_every_event_that_the_agent_reports(name: str) -> None:
    streams = (decode(path.parent) for path in cases(name))
    seen = {type(r.event).__struct_config__.tag for records in streams for r in records}
    assert seen == TAGS - set(facts(name)["never"])


@pytest.mark.parametrize("name", NAMES)
def test_the_cases_come_from_every_checked_version(name: str) -> None:
    real = Counter(
        name_of(path).rpartition("-")[2] for path in cases(name) if ", real" in about(path)
    )
    assert set(real) == set(agent(name).checked_versions)
    if agent(name).evidence == "documentation":
        assert not real
    else:
        assert sum(real.values()) >= facts(name)["fewest"] >= 12
