"""The sessions that agents write on this machine, followed file by file."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nightrook import agents
from nightrook.adapter.history import History, Kind
from nightrook.archive.session_files import SearchedFolder
from nightrook.archive.sessions.reader import SessionFile, session_marks
from nightrook.archive.sessions.story import OF_THE_SESSION, placed
from nightrook.archive.watch.file_changes import FileChanges, FileStamp
from nightrook.archive.watch.growing_files import GrowingFile, Reading, RewrittenFile
from nightrook.archive.watch.watch_rows import Row
from nightrook.model.events import TaskStarted
from nightrook.model.ledger import Money
from nightrook.model.price import Prices
from nightrook.model.records import Record
from nightrook.model.snapshot import TokenCounts
from nightrook.model.state import RunState

_ID = 8  # characters of a session's id in lines


class WatchedSession:
    """A session as far as it was read."""

    def __init__(self, agent: str, id: str) -> None:
        self.agent = agent
        self.id = id
        self.changed_at = 0.0
        """Time of the last write, in seconds since 1970."""
        self._readings: dict[str | None, Reading] = {}  # by the task whose events they have
        self._tasks: dict[int, str | None] = {}  # the task of a reading, by its identity
        self._calls: dict[str, str] = {}  # in which a task happens

    @property
    def last_activity(self) -> float | None:
        """The time of its last message."""
        times = [reading.state.last_activity for reading in self._readings.values()]
        return max((at for at in times if at is not None), default=None)

    def add(self, reading: Reading, task: str | None) -> None:
        """Add a file of the session; `task` is the subagent whose events it has."""
        self._readings[task] = reading
        self._tasks[id(reading)] = task

    def placed(self, reading: Reading, records: Iterable[Record]) -> list[Record]:
        """The new records of one of its files, as the session has them."""
        task = self._tasks[id(reading)]
        if task is not None:
            call = self._calls.get(task, task)
            return [
                placed(record, 0, call)
                for record in records
                if not isinstance(record.event, OF_THE_SESSION)
            ]
        new = list(records)
        for record in new:
            event = record.event
            if isinstance(event, TaskStarted) and event.tool_id is not None:
                self._calls[event.id] = event.tool_id
        return new

    def row(self) -> Row:
        """Return its current row."""
        reading = self._readings.get(None) or next(iter(self._readings.values()))
        main = reading.state
        states = [reading.state for reading in self._readings.values()]
        return Row(
            kind="session",
            agent=self.agent,
            name=self.id,
            label=f"{self.agent} {self.id[:_ID]}",
            project=main.cwd,
            snapshot=main.snapshot(),
            tokens=_tokens(states),
            cost=_cost(states),
            turn_began=main.turns[-1].started_at if main.turns else main.started_at,
            changed_at=self.changed_at,
            is_answered=reading.is_answered,
        )


def _tokens(states: Iterable[RunState]) -> TokenCounts:
    """Return all tokens of a session and its subagents; None if none were reported."""
    known = [state.token_counts for state in states if state.ledger.has_usage]
    if not known:
        return TokenCounts()
    return TokenCounts(
        input=sum(each.input or 0 for each in known),
        output=sum(each.output or 0 for each in known),
        cache_read=sum(each.cache_read or 0 for each in known),
        cache_write=sum(each.cache_write or 0 for each in known),
    )


def _cost(states: Iterable[RunState]) -> Money:
    """Cost of a session and its subagents; a lower bound if it is not known of all."""
    costs = [state.ledger.cost for state in states if state.ledger.has_usage]
    known = [cost.usd for cost in costs if cost.usd is not None]
    if not known:
        return Money(None, "unknown")
    is_native = all(cost.source == "native" for cost in costs)
    is_part = len(known) < len(costs) or any(cost.at_least for cost in costs)
    return Money(sum(known), "native" if is_native else "estimated", is_part)


_WAL = "-wal"
_REST = 10  # times as long as it took to read a store or document, before it is read again
_NEWEST = 20  # sessions of a store that are looked into at the start: those added last
_NANO = 1e9


class _File(NamedTuple):
    """A file that has sessions."""

    history: History
    kind: Kind
    path: str
    below: str


class SessionChange(NamedTuple):
    """New records of a session; none if it was found active at the start."""

    session: WatchedSession
    records: list[Record]


class WatchedSessions:
    """Finds the sessions below some folders and reads what is appended to them."""

    def __init__(
        self, changes: FileChanges, folders: Sequence[SearchedFolder], prices: Prices
    ) -> None:
        self._changes = changes
        self._folders = folders
        self._prices = prices
        self._sizes: dict[str, int] = {}  # of the files that are not read, up to where they are old
        self._old: dict[tuple[str, str], float] = {}  # when others that are not read were old
        self._readings: dict[tuple[str, str], GrowingFile | RewrittenFile] = {}
        self._owners: dict[tuple[str, str], WatchedSession] = {}
        self._sessions: dict[tuple[str, str], WatchedSession] = {}
        self._marks: dict[str, dict[str, str]] = {}  # of the sessions of each store
        self._due: dict[str, float] = {}  # when a store or document may be read again
        self._pending: set[str] = set()

    def start(self, since: float) -> list[SessionChange]:
        """Follow all folders; return the sessions that were written to since a time."""
        found = [file for folder in self._folders for file in self._changes.add(folder.path)]
        active: list[SessionChange] = []
        for stamp in found:
            if (file := self._file(stamp.path)) is not None:
                is_recent = stamp.mtime_ns / _NANO >= since
                active += self._found_at_start(file, stamp, since if is_recent else None)
        return active

    def look(self, is_held: set[str]) -> list[SessionChange]:
        """Read the changes; those of the agents on hold are left for a later call."""
        missing = [folder for folder in self._folders if not self._changes.follows(folder.path)]
        for folder in missing:
            self._pending.update(file.path for file in self._changes.add(folder.path))
        changed = {path.removesuffix(_WAL) for path in self._changes.read()} | self._pending
        self._pending.clear()
        new: list[SessionChange] = []
        for path in sorted(changed):
            file = self._file(path)
            if file is None:
                continue
            if file.history.agent in is_held or time.monotonic() < self._due.get(path, 0.0):
                self._pending.add(path)
            else:
                new += self._read(file)
        return new

    def forget(self, before: float) -> list[WatchedSession]:
        """Drop the sessions that were not written to since a time, and return them."""
        old = [session for session in self._sessions.values() if session.changed_at < before]
        for session in old:
            del self._sessions[session.agent, session.id]
            for key in [key for key, owner in self._owners.items() if owner is session]:
                reading = self._readings.pop(key)
                del self._owners[key]
                if isinstance(reading, GrowingFile):
                    self._sizes[key[0]] = reading.position
                else:
                    self._old[key] = time.time()
        return old

    def _file(self, path: str) -> _File | None:
        """Return the session that a file belongs to; None if it cannot be read as events."""
        for folder in self._folders:
            if path.startswith(f"{folder.path}/"):
                below = path[len(folder.path) + 1 :]
                if (match := folder.match(below)) is not None:
                    file = _File(*match, path, below)
                    return file if _is_readable(file) else None
        return None

    def _found_at_start(
        self, file: _File, stamp: FileStamp, since: float | None
    ) -> Iterator[SessionChange]:
        """Record which part of a file is old; read the file if it was written to since a time."""
        keys = [""]
        if file.kind == "lines":
            self._sizes[file.path] = stamp.size
        elif file.kind == "sqlite":
            marks = self._marks[file.path] = dict(session_marks(file.history, file.path))
            keys = list(marks)
        now = time.time()
        self._old.update({(file.path, key): now for key in keys if file.kind != "lines"})
        for key in keys[-_NEWEST:] if since is not None else []:
            change = self._read_one(file, key)
            if change is not None and since is not None:
                last = change.session.last_activity
                if file.kind != "sqlite" or (last is not None and last >= since):
                    change.session.changed_at = last or stamp.mtime_ns / _NANO
                    yield change
                else:
                    change.session.changed_at = 0.0

    def _read(self, file: _File) -> Iterator[SessionChange]:
        began = time.monotonic()
        keys = self._changed_keys(file) if file.kind == "sqlite" else [""]
        for key in keys:
            change = self._read_one(file, key)
            if change is not None and change.records:
                change.session.changed_at = time.time()
                yield change
        if file.kind != "lines":
            now = time.monotonic()
            self._due[file.path] = now + _REST * (now - began)

    def _changed_keys(self, file: _File) -> list[str]:
        """The sessions of a store that have changed."""
        before = self._marks.setdefault(file.path, {})
        marks = dict(session_marks(file.history, file.path))
        changed = [key for key, mark in marks.items() if before.get(key) != mark]
        before.update(marks)
        return changed

    def _read_one(self, file: _File, key: str) -> SessionChange | None:
        """Read the new part of a file, or of a session of a store; None if it has nothing yet."""
        place = (file.path, key)
        reading = self._readings.get(place) or self._open(file, key)
        records = reading.read()
        if not reading.state.records:
            return None
        self._readings[place] = reading
        owner = self._owners.get(place) or self._owner(file, key, reading)
        self._owners[place] = owner
        return SessionChange(owner, owner.placed(reading, records))

    def _open(self, file: _File, key: str) -> GrowingFile | RewrittenFile:
        transcript = agents.transcript(file.history.agent)
        if file.kind == "lines":
            known = self._sizes.pop(file.path, 0)
            return GrowingFile(file.path, transcript, self._prices, known=known)
        session_file = SessionFile(file.path, file.kind, key)
        since = self._old.pop((file.path, key), None)
        return RewrittenFile(session_file, transcript, self._prices, since=since)

    def _owner(self, file: _File, key: str, reading: GrowingFile | RewrittenFile) -> WatchedSession:
        """The session that a file belongs to: as its path says, else as its lines report."""
        agent = file.history.agent
        transcript = agents.transcript(agent)
        parts = file.below.split("/")
        id = key or transcript.session_of(parts) or reading.state.session or parts[-1]
        session = self._sessions.get((agent, id))
        if session is None:
            session = self._sessions[agent, id] = WatchedSession(agent, id)
        session.add(reading, transcript.task_of(parts))
        return session


def _is_readable(file: _File) -> bool:
    """True if a file can be read as events: some agents keep other files next to their store."""
    agent = file.history.agent
    if agent not in agents.HISTORIES:
        return False
    transcript = agents.transcript(agent)
    if file.kind == "sqlite":
        return transcript.query is not None
    return transcript.query is None and (file.kind == "lines" or transcript.lines is not None)
