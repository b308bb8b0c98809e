"""Loop folders: the plan, the state, the events, the stop request and the worktree of each loop."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Generic, TypeVar

from nightrook.model.errors import DamagedRunError, NightrookError
from nightrook.model.text import suggested
from nightrook.store.files import explained
from nightrook.store.folders import LOOPS, NewLines, ProcessFolder

_PLAN, _STATE, _EVENTS = "plan.json", "state.json", "events.jsonl"
_WORKTREE, _SNAPSHOTS = "worktree", "git"

_Plan = TypeVar("_Plan")
_State = TypeVar("_State")
_Event = TypeVar("_Event")
_Value = TypeVar("_Value")


class LoopBusyError(NightrookError):
    """Another process runs the loop."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"loop {name!r} is already running: watch it with  {suggested('attach', name)}"
        )


@dataclass(frozen=True)
class Codec(Generic[_Value]):
    """Functions that encode a value for a file and decode it."""

    encode: Callable[[_Value], bytes]
    decode: Callable[[bytes], _Value]


@dataclass(frozen=True)
class LoopFolders(Generic[_Plan, _State, _Event]):
    """The loop folders of a home. They hold values whose types live above the store."""

    plan: Codec[_Plan]
    state: Codec[_State]
    event: Codec[_Event]

    def create(self, home: str | PathLike[str], plan: _Plan) -> "LoopFolder[_Plan, _State, _Event]":
        """Make the folder of a new loop, under a new name."""
        return LoopFolder(LOOPS.create(home, {_PLAN: self.plan.encode(plan) + b"\n"}), self)

    def find(self, home: str | PathLike[str], name: str) -> "LoopFolder[_Plan, _State, _Event]":
        """Find a loop by its name or the unique beginning of it, with or without `loop-`."""
        return self.at(LOOPS.find(home, name))

    def at(self, path: Path) -> "LoopFolder[_Plan, _State, _Event]":
        """The loop in a folder."""
        return LoopFolder(path, self)

    def all(self, home: str | PathLike[str]) -> "list[LoopFolder[_Plan, _State, _Event]]":
        """Return all loops, in no particular order."""
        return [self.at(path) for path in LOOPS.paths(home)]


class LoopFolder(ProcessFolder, Generic[_Plan, _State, _Event]):
    """The files of one loop."""

    def __init__(self, path: Path, codecs: LoopFolders[_Plan, _State, _Event]) -> None:
        super().__init__(path, "loop")
        self._codecs = codecs
        self._event_log: int | None = None

    @property
    def worktree(self) -> Path:
        """Working folder of the agent if the loop has its own worktree."""
        return self.path / _WORKTREE

    @property
    def branch(self) -> str:
        """The branch of that worktree."""
        return f"rook/{self.name}"

    @property
    def snapshots(self) -> Path:
        """Folder of the states of the working folder, which show what an iteration changed."""
        return self.path / _SNAPSHOTS

    def plan(self) -> _Plan:
        """Read the plan."""
        plan = self._files.load(_PLAN, self._codecs.plan.decode)
        if plan is None:
            raise DamagedRunError(str(self.path / _PLAN), "is missing")
        return plan

    def save_plan(self, plan: _Plan) -> None:
        """Replace the plan, in one step and synced to disk."""
        self._files.replace(_PLAN, self._codecs.plan.encode(plan) + b"\n")

    def state(self) -> _State | None:
        """Read the state; None if the loop was never started."""
        return self._files.load(_STATE, self._codecs.state.decode)

    def save_state(self, state: _State) -> None:
        """Replace the state, in one step and synced to disk."""
        self._files.replace(_STATE, self._codecs.state.encode(state) + b"\n")

    def add_event(self, event: _Event) -> None:
        """Append an event to the log; `close` closes that log."""
        if self._event_log is None:
            self._event_log = self._files.append(_EVENTS)
        with explained(self.path / _EVENTS):
            os.write(self._event_log, self._codecs.event.encode(event) + b"\n")

    def events(self) -> Iterator[_Event]:
        """Read all events; one that a crash cut short is left out."""
        return self._files.lines(_EVENTS, self._codecs.event.decode)

    def new_events(self) -> NewLines[_Event]:
        """A reader of the events from the first on, for a loop that is running."""
        return NewLines(self.path, _EVENTS, self._codecs.event.decode)

    def close(self) -> None:
        """Close the log of events."""
        if self._event_log is not None:
            os.close(self._event_log)
            self._event_log = None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock this loop for running it; raise a LoopBusyError if another process runs it."""
        with self._files.lock() as acquired:
            if not acquired:
                raise LoopBusyError(self.name)
            yield
