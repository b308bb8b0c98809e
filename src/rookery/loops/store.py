"""Loop folders: the plan, the state in one step, and every event, beside the runs."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from rookery.loops.events import LoopEvent
from rookery.loops.plan import LoopPlan
from rookery.loops.state import LoopState
from rookery.model.errors import DamagedRunError, RookeryError
from rookery.store.files import Folder
from rookery.store.names import check_name, is_name, new_names, pick

PREFIX = "loop-"
"""What the name of every loop begins with, so that it is never taken for a run's."""

_LOOPS = "loops"
_PLAN, _STATE, _EVENTS, _LOCK = "plan.json", "state.json", "events.jsonl", "lock"
_STOP = "stop"
_STOP_BYTES = 8

_encode = msgspec.json.Encoder().encode
_decode_plan = msgspec.json.Decoder(LoopPlan).decode
_decode_state = msgspec.json.Decoder(LoopState).decode
_decode_event = msgspec.json.Decoder(LoopEvent).decode


class LoopBusyError(RookeryError):
    """Somebody runs that loop already."""

    def __init__(self, name: str) -> None:
        super().__init__(f"loop {name!r} is being run: watch it with  rook show {name}")


class LoopFolder:
    """What one loop keeps."""

    def __init__(self, path: Path) -> None:
        check_name(path.name)
        self.path = path
        self._events: int | None = None

    @property
    def name(self) -> str:
        """What the loop is called."""
        return self.path.name

    @property
    def worktree(self) -> Path:
        """Where a loop works that has a worktree of its own."""
        return self.path / "worktree"

    @property
    def branch(self) -> str:
        """The branch of that worktree."""
        return f"rook/{self.name}"

    def plan(self) -> LoopPlan:
        """What was asked."""
        data = self._read(_PLAN)
        if data is None:
            raise DamagedRunError(str(self.path / _PLAN), "is missing")
        try:
            return _decode_plan(data)
        except msgspec.DecodeError as error:
            raise DamagedRunError(str(self.path / _PLAN), "does not say what it should") from error

    def replan(self, plan: LoopPlan) -> None:
        """Keep another plan, in one step and on disk."""
        with Folder.kept(self.path) as folder:
            folder.replace(_PLAN, _encode(plan) + b"\n")

    def state(self) -> LoopState | None:
        """What was done so far; None if the loop was not begun."""
        data = self._read(_STATE)
        try:
            return None if data is None else _decode_state(data)
        except msgspec.DecodeError as error:
            raise DamagedRunError(str(self.path / _STATE), "does not say what it should") from error

    def save(self, state: LoopState) -> None:
        """Keep the state, in one step and on disk."""
        with Folder.kept(self.path) as folder:
            folder.replace(_STATE, _encode(state) + b"\n")

    def tell(self, event: LoopEvent) -> None:
        """Keep an event, behind those before it."""
        if self._events is None:
            with Folder.kept(self.path) as folder:
                self._events = folder.append(_EVENTS)
        os.write(self._events, _encode(event) + b"\n")

    def events(self) -> Iterator[LoopEvent]:
        """Every event that was kept; one that a crash tore is left out."""
        for line in (self._read(_EVENTS) or b"").split(b"\n"):
            try:
                yield _decode_event(line)
            except msgspec.DecodeError:
                continue

    def close(self) -> None:
        """Let the log of events go."""
        if self._events is not None:
            os.close(self._events)
            self._events = None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Be the only one who runs this loop; a LoopBusyError says that somebody else does."""
        with Folder.kept(self.path) as folder, folder.lock(_LOCK) as is_ours:
            if not is_ours:
                raise LoopBusyError(self.name)
            yield

    @property
    def is_run(self) -> bool:
        """Whether somebody runs it now."""
        try:
            with self.locked():
                return False
        except LoopBusyError:
            return True

    def ask_to_stop(self) -> None:
        """Ask whoever runs it to end it; a RookeryError says that nobody does."""
        if not self.is_run:
            raise RookeryError(f"loop {self.name!r} is not going on: see  rook show {self.name}")
        with Folder.kept(self.path) as folder:
            folder.replace(_STOP, secrets.token_bytes(_STOP_BYTES))

    def stop_word(self) -> bytes | None:
        """Tells whether it was asked to stop: another each time it is."""
        return self._read(_STOP)

    def _read(self, name: str) -> bytes | None:
        with Folder.kept(self.path) as folder:
            return folder.read(name)


def create(home: Path, plan: LoopPlan) -> LoopFolder:
    """Make the folder of a new loop, under a new name."""
    path = Path(os.path.abspath(home))
    with Folder.made(path) as above, above.own(_LOOPS) as others:
        name = next(PREFIX + name for name in new_names() if others.make(PREFIX + name))
        with others.own(name) as folder:
            folder.replace(_PLAN, _encode(plan) + b"\n")
    return LoopFolder(path / _LOOPS / name)


def find(home: Path, name: str) -> LoopFolder:
    """The loop of that name, or the only one whose name begins so, with or without `loop-`."""
    path = Path(os.path.abspath(home))
    full = name if name.startswith(PREFIX) else PREFIX + name
    return LoopFolder(path / _LOOPS / pick(full, _names(path), what="loop"))


def loops(home: Path) -> list[LoopFolder]:
    """All loops, the newest first."""
    path = Path(os.path.abspath(home))
    return sorted(
        (LoopFolder(path / _LOOPS / name) for name in _names(path)), key=_began, reverse=True
    )


def _began(folder: LoopFolder) -> float:
    try:
        state = folder.state()
    except RookeryError:
        return 0.0
    return 0.0 if state is None else state.started_at


def _names(home: Path) -> list[str]:
    folder = Folder.at(home, _LOOPS)
    if folder is None:
        return []
    with folder:
        return [name for name in folder.folders() if is_name(name)]
