"""The story of a stored session, so that every viewer of runs can show it.

A session can have many files: its own, and one for each subagent. `SessionLog` reads them as one
stream: what a subagent did follows where it was called.
"""

from collections.abc import Iterator
from itertools import count

import msgspec

from nightrook import agents
from nightrook.adapter.history import Transcript
from nightrook.archive.sessions.reader import FileBytes, SessionBytes, StoredSession
from nightrook.model.events import (
    SessionStarted,
    StreamClosed,
    TaskFinished,
    TaskStarted,
    ToolFinished,
    TurnFinished,
    TurnStarted,
)
from nightrook.model.records import Record
from nightrook.store.logs import Stream
from nightrook.story.feed import ByteReader, StoredFeed
from nightrook.story.item_bodies import Bodies
from nightrook.story.story import Story
from nightrook.story.tail import Piece


def session_story(session: StoredSession) -> Story:
    """Read the story of a stored session."""
    transcript = agents.transcript(session.agent)

    def decode(data: bytes) -> list[Record]:
        decoder = transcript.decoder()
        return [*decoder.feed(data), *decoder.close()]

    feed = StoredFeed(
        session.agent,
        _no_text,
        label=session.agent,
        open_records=lambda: SessionLog(SessionBytes(session, transcript), transcript),
    )
    bodies = Bodies(SessionBytes(session, transcript).read_at, decode)
    return Story(feed, name=session.id, cwd=session.project, bodies=bodies)


class _NoText:
    """Text of a session: none besides its records."""

    def read(self) -> list[Piece]:
        return []

    def close(self) -> None:
        """Do nothing: no file is open."""


def _no_text(_: Stream) -> ByteReader:
    return _NoText()


OF_THE_SESSION = (SessionStarted, TurnStarted, TurnFinished, StreamClosed)
"""Events in a subagent's file that report on it as if it were a session."""


class SessionLog:
    """Reads all files of a session as one log, as a feed needs it."""

    def __init__(self, parts: SessionBytes, transcript: Transcript) -> None:
        self._parts = parts
        self._transcript = transcript
        self._batches = self._read_all()

    def read(self) -> list[Record] | None:
        """The next records; None at the end."""
        return next(self._batches, None)

    def end(self) -> list[Record]:
        """Return no records: the last of them end the session."""
        return []

    def close(self) -> None:
        """Close the files."""
        self._parts.close()

    def _read_all(self) -> Iterator[list[Record]]:
        main, subagents = [], {}
        for part in self._parts:
            if part.task is None:
                main.append(part)
            else:
                subagents[part.task] = part
        seq = count()
        last: Record | None = None
        for part in main:
            for records in self._with_subagents(part, None, subagents):
                kept = [r for r in records if not isinstance(r.event, StreamClosed)]
                last = next((r for r in records if isinstance(r.event, StreamClosed)), last)
                yield [_numbered(record, next(seq)) for record in kept]
        for task in list(subagents):
            records = self._uncalled(task, subagents)
            yield [_numbered(record, next(seq)) for record in records]
        if last is not None:
            yield [_numbered(last, next(seq))]

    def _with_subagents(
        self, part: FileBytes, parent: str | None, subagents: dict[str, FileBytes]
    ) -> Iterator[list[Record]]:
        """Decode a file; the records of its subagents come before the end of their calls."""
        decoder = self._transcript.decoder()
        for chunk in part.chunks():
            yield self._inserted(decoder.feed(chunk), part, parent, subagents)
        yield self._inserted(decoder.close(), part, parent, subagents)

    def _inserted(
        self,
        records: list[Record],
        part: FileBytes,
        parent: str | None,
        subagents: dict[str, FileBytes],
    ) -> list[Record]:
        result = [placed(record, part.base, parent) for record in records]
        for record in records:
            event = record.event
            if not isinstance(event, TaskStarted | ToolFinished) or event.id not in subagents:
                continue
            called = subagents.pop(event.id)
            call = event.tool_id if isinstance(event, TaskStarted) else None
            inner = self._of_subagent(called, call or event.id, subagents)
            at = _index_of_end(result, event.id, call or event.id)
            result[at:at] = inner
        return result

    def _of_subagent(
        self, part: FileBytes, parent: str, subagents: dict[str, FileBytes]
    ) -> list[Record]:
        return [
            record
            for records in self._with_subagents(part, parent, subagents)
            for record in records
            if not isinstance(record.event, OF_THE_SESSION)
        ]

    def _uncalled(self, task: str, subagents: dict[str, FileBytes]) -> list[Record]:
        """A subagent that no call names."""
        part = subagents.pop(task, None)
        records = self._of_subagent(part, task, subagents) if part else []
        if not records:
            return []
        first, last = records[0], records[-1]
        begin = Record(0, first.at, first.offset, 0, TaskStarted(id=task, kind="subagent"))
        ended = TaskFinished(id=task, kind="subagent", status="ok")
        return [begin, *records, Record(0, last.at, last.offset, 0, ended)]


def _index_of_end(records: list[Record], task: str, call: str) -> int:
    """Return the index at which a task's call ends; behind its start if it is still running."""
    started = len(records)
    for index, record in enumerate(records):
        event = record.event
        if isinstance(event, ToolFinished) and event.id == call:
            return index
        if isinstance(event, TaskStarted) and event.id == task:
            started = index + 1
    return started


def placed(record: Record, base: int, parent: str | None) -> Record:
    """A record of a subagent, at its offset in the session's log."""
    event = record.event
    if parent is not None and "parent" in event.__struct_fields__:
        event = msgspec.structs.replace(event, parent=getattr(event, "parent", None) or parent)
    return Record(record.seq, record.at, record.offset + base, record.length, event)


def _numbered(record: Record, seq: int) -> Record:
    return Record(seq, record.at, record.offset, record.length, record.event)
