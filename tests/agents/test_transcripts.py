"""Every stored session of every agent, read as events, and compared with its live stream.

A transcript is a folder `<agent>/transcripts/<case>` that looks like the home of a user; what we
make of each of its files is in `<agent>/events/<case>/`. `UPDATE_CASES=1 pytest
tests/agents/test_transcripts.py` writes the events again; read the diff.

Where the stream of the same run was recorded with it, it is `stream.jsonl` in that folder, or
`<case>.stream.jsonl` beside a store; otherwise it is the case of the same name.
"""

import os
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

import nightrook
from nightrook import agents
from nightrook.model.events import (
    FileChanged,
    StreamClosed,
    Text,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    Unknown,
    Unreadable,
)
from nightrook.model.records import Record
from tests.adapter.mutations import mutate_stream
from tests.agents.stores import unpacked
from tests.recorded import cases, name_of, recordings
from tests.rules import each

HERE = Path(__file__).parent


class Stored(NamedTuple):
    """A stored file of a case, or a session in a SQLite store."""

    agent: str
    case: str
    name: str
    data: bytes
    parts: tuple[str, ...] = ()

    @property
    def events(self) -> Path:
        """What we make of it."""
        return HERE / self.agent / "events" / self.case / f"{self.name}.jsonl"

    def __str__(self) -> str:
        return f"{self.agent}-{self.case}-{self.name}"


def stored() -> Iterator[Stored]:
    for agent in agents.HISTORIES:
        for home in sorted((HERE / agent / "transcripts").glob("*")):
            for file in sorted(home.rglob("*.json*")):
                if file.name == "stream.jsonl":
                    continue
                data = file.read_bytes()
                if agents.detect_transcript(data) is not None:
                    parts = file.relative_to(home).parts
                    yield Stored(agent, home.name, file.stem, data, parts)
        for store in sorted((HERE / agent / "stores").glob("*.tar.xz")):
            yield from in_store(agent, store.name.removesuffix(".tar.xz"))


_FOLDER = (b"/home/dev/cap/w/others/work/", b"/home/dev/")
"""Where the recorded stores were made, and what stands for it in the events."""


def in_store(agent: str, case: str) -> Iterator[Stored]:
    """The sessions of a SQLite store, each as the lines that its query selects."""
    transcript = agents.transcript(agent)
    query = transcript.query
    assert query is not None
    with TemporaryDirectory() as folder:
        store = unpacked(agent, case, Path(folder))
        with closing(sqlite3.connect(store)) as connection:
            changes = transcript.changes or agents.history(agent).queries[0].changes
            for key, _ in sorted(connection.execute(changes)):
                lines = [str(line) for (line,) in connection.execute(query, {"key": key})]
                data = "".join(f"{line}\n" for line in lines).encode().replace(*_FOLDER)
                yield Stored(agent, case, str(key), data)


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
    found = [nightrook.dump(record) for record in records(file.agent, file.data)]
    if os.environ.get("UPDATE_CASES"):
        file.events.parent.mkdir(parents=True, exist_ok=True)
        file.events.write_bytes(b"".join(record + b"\n" for record in found))
    assert found == file.events.read_bytes().split(b"\n")[:-1]


@every_file
def test_where_the_bytes_are_cut_changes_nothing(file: Stored) -> None:
    data = file.data
    assert records(file.agent, data, any_sizes(str(file))) == records(file.agent, data)


@every_file
def test_nothing_is_unknown_and_every_call_starts_and_ends_once(file: Stored) -> None:
    events = [record.event for record in records(file.agent, file.data)]
    assert not [event for event in events if isinstance(event, Unknown | Unreadable)]
    started = Counter(event.id for event in events if isinstance(event, ToolStarted))
    ended = Counter(event.id for event in events if isinstance(event, ToolFinished))
    assert started == ended
    assert set(started.values()) <= {1}
    assert [type(event) for event in events].count(StreamClosed) == 1


def read_damaged(file: Stored, seeds: range) -> None:
    """Read a session with lines that were damaged in several ways."""
    data = file.data
    for seed in seeds:
        lines = data.split(b"\n")[:-1] or [data]
        damaged, _ = mutate_stream(lines, random.Random(f"{file} {seed}"))
        found = records(file.agent, damaged)
        assert [record.seq for record in found] == list(range(len(found)))
        assert isinstance(found[-1].event, StreamClosed)


@every_file
def test_damaged_lines_are_never_fatal(file: Stored) -> None:
    read_damaged(file, range(3))


@pytest.mark.soak
@every_file
def test_lines_damaged_in_more_ways_are_never_fatal(file: Stored) -> None:
    read_damaged(file, range(3, 60))


@every_file
def test_a_stored_session_is_detected_without_being_named(file: Stored) -> None:
    expected = None if agents.transcript(file.agent).query else agents.transcript(file.agent)
    assert agents.detect_transcript(file.data) is expected


def live(file: Stored) -> Path | None:
    """The stream of the run that left this session."""
    folder = HERE / file.agent
    recorded = (
        folder / "transcripts" / file.case / "stream.jsonl",
        folder / "stores" / f"{file.case}.stream.jsonl",
    )
    if file.agent not in agents.NAMES:
        return None  # what it writes is not decoded natively
    if own := next((path for path in recorded if path.exists()), None):
        return own
    both = (*cases(file.agent), *recordings(file.agent))
    names = (file.case, f"{file.case}-0.166.0")
    return next((path for path in both if name_of(path) in names), None)


_REPLACED = re.compile("\ufffd+")
"""What is not text: an agent may store it as bytes where its stream has an escape (s22_unicode)."""


def told(found: Iterable[Record]) -> dict[str, Sequence[object]]:
    """What both the stream and the session of a run must report."""
    events = [record.event for record in found]
    main = [event for event in events if getattr(event, "parent", None) is None]
    return {
        "tools": sorted((e.name or "", e.status) for e in main if isinstance(e, ToolFinished)),
        "texts": [_REPLACED.sub("\ufffd", e.text) for e in main if isinstance(e, Text)],
        "files": sorted((e.path, e.change or "") for e in main if isinstance(e, FileChanged)),
        "ends": [(event.ok, event.text) for event in events if isinstance(event, TurnFinished)],
    }


UNLIKE = {
    # Claude Code's resume writes the whole conversation into one file, its stream one turn.
    "claude-s24_resume",
    # The stream of `codex exec` leaves out what subagents and the calls about them do.
    "codex-collab_spawn_v2",
    # Killed by SIGINT: 2.1.325 stores nothing about the interruption.
    "claude-s23c_sigint_tool-2.1.325",
    # The stream of Kimi Code ends without a word after an error of the API.
    "kimi-api_401",
}


def comparable() -> list[Stored]:
    return [
        file
        for file in STORED
        if not file.parts or agents.transcript(file.agent).task_of(file.parts) is None
        if live(file) is not None
        if not any(str(file).startswith(case) for case in UNLIKE)
    ]


@each("file", comparable(), ids=str)
def test_the_stream_and_the_stored_session_of_a_run_report_the_same(file: Stored) -> None:
    stream = live(file)
    assert stream is not None
    assert told(records(file.agent, file.data)) == told(nightrook.decode(stream, agent=file.agent))
