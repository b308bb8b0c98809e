"""Every stored session of every agent, read as events, and compared with its live stream.

A transcript is a folder `<agent>/transcripts/<case>` that looks like the home of a user; what we
make of each of its files is in `<agent>/events/<case>/`. `UPDATE_CASES=1 pytest
tests/agents/test_transcripts.py` writes the events again; read the diff.
"""

import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import rookery
from rookery import agents
from rookery.model.events import (
    FileChanged,
    StreamClosed,
    Text,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    Unknown,
    Unreadable,
)
from rookery.model.records import Record
from tests.adapter.mutations import mutate_stream
from tests.recorded import cases, name_of, recordings
from tests.rules import each

HERE = Path(__file__).parent


class Stored(NamedTuple):
    """A stored file of a case."""

    agent: str
    case: str
    file: Path

    @property
    def events(self) -> Path:
        """What we make of it."""
        name = self.file.with_suffix(".jsonl").name
        return HERE / self.agent / "events" / self.case / name

    @property
    def parts(self) -> tuple[str, ...]:
        return self.file.relative_to(HERE / self.agent / "transcripts" / self.case).parts

    def __str__(self) -> str:
        return f"{self.agent}-{self.case}-{self.file.stem}"


def stored() -> Iterator[Stored]:
    for agent in agents.TRANSCRIPTS:
        for home in sorted((HERE / agent / "transcripts").glob("*")):
            for file in sorted(home.rglob("*.jsonl")):
                if agents.detect_transcript(file.read_bytes()) is not None:
                    yield Stored(agent, home.name, file)


STORED = list(stored())
every_file = each("file", STORED, ids=str)


def records(agent: str, data: bytes, sizes: Iterator[int] | None = None) -> list[Record]:
    decoder, found, at = agents.transcript(agent).decoder(), [], 0
    while at < len(data):
        size = len(data) if sizes is None else next(sizes)
        found += decoder.feed(data[at : at + size])
        at += size
    return found + decoder.close()


def any_sizes(seed: str) -> Iterator[int]:
    chance = random.Random(seed)
    while True:
        yield chance.choice((1, 2, 7, 64, 1000, chance.randrange(1, 5000)))


@every_file
def test_a_stored_session_gives_the_events_that_were_read_by_a_person(file: Stored) -> None:
    found = [rookery.dump(record) for record in records(file.agent, file.file.read_bytes())]
    if os.environ.get("UPDATE_CASES"):
        file.events.parent.mkdir(parents=True, exist_ok=True)
        file.events.write_bytes(b"".join(record + b"\n" for record in found))
    assert found == file.events.read_bytes().split(b"\n")[:-1]


@every_file
def test_where_the_bytes_are_cut_changes_nothing(file: Stored) -> None:
    data = file.file.read_bytes()
    assert records(file.agent, data, any_sizes(str(file))) == records(file.agent, data)


@every_file
def test_nothing_is_unknown_and_every_call_starts_and_ends_once(file: Stored) -> None:
    events = [record.event for record in records(file.agent, file.file.read_bytes())]
    assert not [event for event in events if isinstance(event, Unknown | Unreadable)]
    started = Counter(event.id for event in events if isinstance(event, ToolStarted))
    ended = Counter(event.id for event in events if isinstance(event, ToolFinished))
    assert started == ended
    assert set(started.values()) <= {1}
    assert [type(event) for event in events].count(StreamClosed) == 1


@every_file
def test_damaged_lines_are_never_fatal(file: Stored) -> None:
    data = file.file.read_bytes()
    for seed in range(20):
        lines = data.split(b"\n")[:-1] or [data]
        damaged, _ = mutate_stream(lines, random.Random(f"{file} {seed}"))
        found = records(file.agent, damaged)
        assert [record.seq for record in found] == list(range(len(found)))
        assert isinstance(found[-1].event, StreamClosed)


@every_file
def test_a_stored_session_is_detected_without_being_named(file: Stored) -> None:
    found = agents.detect_transcript(file.file.read_bytes())
    assert found is agents.transcript(file.agent)


def live(file: Stored) -> Path | None:
    """The stream of the run that left this session."""
    both = (*cases(file.agent), *recordings(file.agent))
    return next((path for path in both if name_of(path) == file.case), None)


_REPLACED = re.compile("\ufffd+")
"""What is not text: an agent may store it as bytes where its stream has an escape (s22_unicode)."""


def told(found: Iterable[Record]) -> dict[str, Sequence[object]]:
    """What both the stream and the session of a run must report."""
    events = [record.event for record in found]
    main = [event for event in events if getattr(event, "parent", None) is None]
    return {
        "tools": sorted((e.name or "", e.status) for e in main if isinstance(e, ToolFinished)),
        "texts": [_REPLACED.sub("\ufffd", e.text) for e in main if isinstance(e, Text)],
        "files": [(e.path, e.change, e.added) for e in main if isinstance(e, FileChanged)],
        "ends": [(event.ok, event.text) for event in events if isinstance(event, TurnFinished)],
    }


UNLIKE = {
    # Claude Code's resume writes the whole conversation into one file, its stream one turn.
    "s24_resume",
    # Killed by SIGINT: 2.1.325 stores nothing about the interruption.
    "s23c_sigint_tool-2.1.325",
}


def comparable() -> list[Stored]:
    return [
        file
        for file in STORED
        if agents.transcript(file.agent).task_of(file.parts) is None
        if live(file) is not None
        if not any(file.case.startswith(case) for case in UNLIKE)
    ]


@each("file", comparable(), ids=str)
def test_the_stream_and_the_stored_session_of_a_run_report_the_same(file: Stored) -> None:
    stream = live(file)
    assert stream is not None
    assert told(records(file.agent, file.file.read_bytes())) == told(
        rookery.decode(stream, agent=file.agent)
    )
