"""Stored sessions are found by their id and read through the feed that runs have."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nightrook.archive.importer import bring_up_to_date
from nightrook.archive.ledger.ledger import Ledger
from nightrook.archive.sessions.find import UnknownSessionError, find_session
from nightrook.archive.sessions.reader import SessionFile, StoredSession
from nightrook.archive.sessions.story import session_story
from nightrook.model.events import (
    StreamClosed,
    TaskStarted,
    Text,
    ToolFinished,
    ToolStarted,
    UserMessage,
)
from nightrook.model.records import Record
from nightrook.model.timeline import Timeline
from nightrook.story.feed import iterate
from nightrook.testing import histories
from tests.archive.folders import unchanged

TRANSCRIPTS = Path(__file__).parents[2] / "agents" / "claude" / "transcripts"
BACKGROUND = TRANSCRIPTS / "s08c_subagent_background-2.1.325"
WARMED_UP = TRANSCRIPTS / "s24_resume-2.0.76"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    path = tmp_path / "ledger.db"
    homes = [BACKGROUND, TRANSCRIPTS / "s01_plain_text-2.1.325", WARMED_UP]
    bring_up_to_date(path, homes, names=["claude"])
    with Ledger.open(path) as opened:
        yield opened


def found(ledger: Ledger, id: str, home: Path) -> StoredSession:
    return find_session(ledger, [home], id)


def records(session: StoredSession) -> list[Record]:
    return list(iterate(session_story(session).feed.since(0)))


def test_a_session_is_found_by_the_beginning_of_its_id(ledger: Ledger) -> None:
    session = found(ledger, "5a035b45", BACKGROUND)
    assert (session.agent, session.id) == ("claude", "5a035b45-e8d1-4713-8f00-0412774e642d")
    assert [Path(file.path).name for file in session.files] == [
        "5a035b45-e8d1-4713-8f00-0412774e642d.jsonl",
        "agent-ab19b9b5d7b95a512.jsonl",
    ]


def test_what_a_subagent_did_follows_its_call(ledger: Ledger) -> None:
    read = records(found(ledger, "5a035b45", BACKGROUND))
    assert [record.seq for record in read] == list(range(len(read)))
    events = [record.event for record in read]
    task = next(event for event in events if isinstance(event, TaskStarted))
    ended = next(i for i, e in enumerate(events) if isinstance(e, ToolFinished))
    inner = [
        (type(event), getattr(event, "text", None) or getattr(event, "name", None))
        for event in events
        if getattr(event, "parent", None) == task.tool_id
        and isinstance(event, Text | ToolStarted | UserMessage)
    ]
    assert inner == [
        (UserMessage, "SUBMARK1 read a.txt"),
        (Text, "Subagent looks."),
        (ToolStarted, "Read"),
        (ToolStarted, "Bash"),
        (Text, "Subagent 1 report."),
    ]
    last = max(i for i, e in enumerate(events) if getattr(e, "parent", None) == task.tool_id)
    own_end = next(
        i for i, e in enumerate(events) if isinstance(e, ToolFinished) and e.id == task.tool_id
    )
    assert ended <= last < own_end
    assert [type(event) for event in events].count(StreamClosed) == 1
    assert isinstance(events[-1], StreamClosed)


def test_subagents_that_no_call_names_are_shown_as_tasks(ledger: Ledger) -> None:
    session = found(ledger, "22222222-2222-4333-8444-555555555555", WARMED_UP)
    assert not [e for e in (r.event for r in records(session)) if isinstance(e, TaskStarted)]
    everything = StoredSession(
        agent="claude",
        id=session.id,
        files=(*session.files, *_warm_ups()),
    )
    tasks = [e.id for e in (r.event for r in records(everything)) if isinstance(e, TaskStarted)]
    assert tasks == ["a0de0fd", "a1ee968"]


def _warm_ups() -> Iterator[SessionFile]:
    for path in sorted(WARMED_UP.rglob("agent-*.jsonl"))[:2]:
        yield SessionFile(str(path), "lines", "", path.stem.removeprefix("agent-"))


def test_the_bodies_of_a_session_are_read_from_its_files(ledger: Ledger) -> None:
    session = found(ledger, "5a035b45", BACKGROUND)
    timeline = Timeline()
    timeline.take(records(session))
    story = session_story(session)
    texts = [story.body(item).text for item in timeline.items if item.kind == "text"]
    assert texts == [
        "Subagent looks.",
        "Subagent 1 report.",
        "Launched in the background.",
        "Background agent reported back.",
    ]
    bash = next(item for item in timeline.items if item.name == "Bash")
    result = story.body(bash).result
    assert result is not None
    assert result.output == "from-sub"


def test_reading_changes_nothing_in_the_agents_folder(ledger: Ledger) -> None:
    session = found(ledger, "5a035b45", BACKGROUND)
    with unchanged(Path(session.files[1].path).parent):
        records(session)


def test_a_session_whose_files_are_gone_has_no_records(ledger: Ledger, tmp_path: Path) -> None:
    session = found(ledger, "5a035b45", tmp_path)
    assert session.files == ()
    assert records(session) == []


def test_an_unknown_or_ambiguous_id_says_what_to_do(ledger: Ledger) -> None:
    with pytest.raises(UnknownSessionError, match="rook runs --sessions"):
        found(ledger, "nowhere", BACKGROUND)
    with pytest.raises(UnknownSessionError, match="rook runs --sessions"):
        found(ledger, "", BACKGROUND)
    with pytest.raises(UnknownSessionError, match="write more of it"):
        found(ledger, "5a", BACKGROUND)


@pytest.mark.parametrize("agent", histories.AGENTS)
def test_a_made_up_session_is_read_as_it_was_written(tmp_path: Path, agent: str) -> None:
    months = histories.month_of_work(1_790_000_000.0)
    script = next(one for one in months if one.agent == agent and not one.inherited)
    histories.write(tmp_path, script)
    path = tmp_path / "ledger.db"
    bring_up_to_date(path, [tmp_path], names=[agent])
    with Ledger.open(path) as opened:
        read = records(find_session(opened, [tmp_path], script.id))
    events = [one.event for one in read if getattr(one.event, "parent", None) is None]
    ended = [event for event in events if isinstance(event, ToolFinished)]
    prompts = [event.text for event in events if isinstance(event, UserMessage)]
    assert prompts[:1] == [script.title]
    assert {event.text for event in events if isinstance(event, Text)} >= {
        call.text for call in script.calls
    }
    assert len([event for event in ended if event.kind == "execute"]) == sum(
        call.command is not None for call in script.calls
    )
