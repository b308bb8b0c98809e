"""The state of a reader of a stream: the open turn, tool calls, tasks and partial text."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from nightrook.adapter.drift import Drift
from nightrook.model.bounded_memory import take_oldest
from nightrook.model.events import (
    Event,
    PermissionDenied,
    Status,
    TaskFinished,
    TaskStarted,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolFinished,
    ToolKind,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)

_MOST_CALLS = 4096  # finished calls to remember, as more messages about them may follow
_MOST_OPEN = 20_000  # calls and tasks without an end
_MOST_SESSIONS = 1000
_MOST_SIZE = 8_000_000  # characters and bytes of all open calls, and of all of their ids
LONGEST_TEXT = 4_000_000
"""The number of characters that are kept of a text that arrives in pieces."""


def forget_oldest(things: dict[Any, Any], most: int) -> None:
    """Keep only the last `most` items once there are twice as many.

    Deleting one at a time would be slow: a dict searches for its first key past all deleted ones.
    """
    if len(things) >= 2 * most:  # guards: memory-bounded
        for key in [*islice(things, len(things) - most)]:
            del things[key]


class Memory:
    """The state of one stream; an agent that needs more derives a class from it.

    `known` are the fields of each type of message, separated by spaces, for the report of unknown
    fields (`Drift`).
    """

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self.results = 0  # finished turns
        self.drift = Drift(known or {})
        self.sessions: set[str | None] = set()
        self.in_turn = False
        self.tools: dict[str, ToolStarted] = {}  # calls without a result yet
        self.held: dict[str, ToolStarted] = {}  # calls whose start is not reported yet
        self.ended: dict[str, None] = {}  # finished calls, the most recent ones
        self._ended_size = (0, 0)  # how many of them were measured, and the length of their ids
        self.tasks: dict[str, TaskStarted] = {}  # tasks that are still running
        self.partial_id: str | None = None  # the id of the text or thought that arrives in pieces
        self.pieces: list[str] = []  # its pieces so far
        self.answer: str | None = None  # the last complete text that arrived in pieces
        self.is_thinking = False  # whether the partial text is a thought
        self._parent: str | None = None  # the call in which it is written
        self._part: tuple[str | None, int] = (None, 0)  # the text that was split, and how often
        self._unnamed = 0

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is open."""
        if self.in_turn:
            return []
        self.in_turn = True
        self.answer = None
        return [TurnStarted(origin="prompt")]

    def end_turn(self) -> None:
        """Close the turn; another may follow."""
        self.in_turn = False
        self.results += 1

    def finish_turn(
        self,
        reason: str | None = None,
        message: str | None = None,
        *,
        duration_s: float | None = None,
        turns: int | None = None,
    ) -> TurnFinished:
        """Close the turn: `message` is its answer, or its error if there is a `reason` to fail."""
        self.end_turn()
        return TurnFinished(
            ok=reason is None,
            text=message if reason is None else None,
            reason=reason,
            errors=(message,) if message and reason is not None else None,
            duration_s=duration_s,
            turns=turns,
        )

    def new_id(self, kind: str) -> str:
        """Return an id for something that has none in the stream."""
        self._unnamed += 1
        return f"{kind}-{self._unnamed}"

    def add_delta(
        self, id: str, piece: str, *, thinking: bool = False, parent: str | None = None
    ) -> list[Event]:
        """Add a piece of a text or thought; a piece of another one completes the one before."""
        if self._part[0] == id:
            id = f"{id}+{self._part[1]}"
        events = [] if self.partial_id == id else self.end_text()
        self.partial_id, self.is_thinking, self._parent = id, thinking, parent
        self.pieces.append(piece)
        events.append((ThinkingDelta if thinking else TextDelta)(id=id, text=piece, parent=parent))
        return events

    def end_text(self) -> list[Event]:
        """Return the complete text or thought that arrived in pieces, if there is one."""
        if self.partial_id is None:
            return []
        id, text = self.partial_id, "".join(self.pieces)
        self.partial_id = None
        self.pieces = []
        if self.is_thinking:
            return [Thinking(id=id, text=text, parent=self._parent)]
        self.answer = text
        return [Text(id=id, text=text, parent=self._parent)]

    def advance(self) -> list[Event]:
        """Open a turn unless one is open, and complete the partial text."""
        if self.in_turn:
            return [] if self.partial_id is None else self.end_text()
        return [*self.begin_turn(), *self.end_text()]

    def read_text(self, line: bytes) -> Sequence[Event] | None:
        """Read a line that isn't JSON, but known: return its events, or None if it is unknown."""
        return None

    def has_started(self, id: str) -> bool:
        """True if a call is open, held back or finished."""
        return id in self.tools or id in self.ended or id in self.held

    def has_ended(self, id: str) -> bool:
        """True if a call is finished."""
        return id in self.ended

    def start(self, started: ToolStarted) -> list[Event]:
        """Record the start of a call, only once."""
        id = started.id
        # guards: call-starts-once
        if id in self.tools or id in self.ended or id in self.held:  # every call passes here
            return []
        self.tools[id] = started
        return [started]

    def finish(
        self,
        id: str,
        status: Status,
        *,
        name: str | None = None,
        kind: ToolKind | None = None,
        output: str | None = None,
        error: str | None = None,
        exit_code: int | None = None,
        fix: str | None = None,
        parent: str | None = None,
    ) -> list[Event]:
        """Record the end of a call, only once; what its result leaves out comes from its start.

        A denied call also gets a `PermissionDenied`, with the `fix` that would allow it.
        """
        if id in self.ended:
            return []
        if (started := self.end(id)) is not None:
            name, kind, parent = name or started.name, kind or started.kind, started.parent
        finished = ToolFinished(
            id=id,
            status=status,
            name=name,
            kind=kind,
            output=output,
            error=error,
            exit_code=exit_code,
            parent=parent,
        )
        if status != "denied":
            return [finished]
        input = started.input if started else None
        denied = PermissionDenied(tool_id=id, name=name, input=input, reason=error, fix=fix)
        return [denied, finished]

    def end(self, id: str) -> ToolStarted | None:
        """Remember that a call has ended, and return its start if there was one."""
        self.ended[id] = None  # trim() forgets the oldest
        return self.tools.pop(id, None)

    def abandon(self) -> list[Event]:
        """End everything open as `orphaned`: no message said how it ended."""
        events = self.end_text()
        for id in [*self.tools]:
            events += self.finish(id, "orphaned")
        events += map(orphaned, self.tasks.values())
        self.tasks.clear()
        return events

    def trim(self) -> list[Event]:
        """Drop the oldest state above the limits; the decoder calls this once per megabyte.

        A long text is completed and continues under another id. The oldest open calls lose their
        inputs; if there are still too many calls or tasks, the oldest end as `orphaned`.
        """
        events = self._split_text()
        if sum(map(_size, self.tools.values())) > _MOST_SIZE:
            for id in [*self.tools][:-1]:
                self.tools[id] = _slim(self.tools[id])
        for calls in (dict(self.tools), self.held):
            oldest = take_oldest(calls, _id_size, most=_MOST_OPEN, most_size=_MOST_SIZE)
            for id in oldest if calls is not self.held else ():
                events += self.finish(id, "orphaned")
        tasks = take_oldest(self.tasks, _task_size, most=_MOST_OPEN, most_size=_MOST_SIZE)
        events += map(orphaned, tasks.values())
        self._forget_ended()
        if len(self.sessions) > _MOST_SESSIONS:
            self.sessions.clear()
        return events

    def _forget_ended(self) -> None:
        """Forget the oldest finished calls if they are too many; measure only those that are new.

        There are thousands: measuring all of them for each megabyte would take a twentieth of the
        time that decoding short lines takes.
        """
        known, size = self._ended_size
        size += sum(map(len, islice(reversed(self.ended), len(self.ended) - known)))
        if len(self.ended) > 2 * _MOST_CALLS:  # guards: ended-calls-bounded
            self.ended = dict.fromkeys(islice(self.ended, len(self.ended) - _MOST_CALLS, None))
            size = sum(map(len, self.ended))
        if size > _MOST_SIZE:
            take_oldest(self.ended, _id_size, most=2 * _MOST_CALLS, most_size=_MOST_SIZE)
            size = sum(map(len, self.ended))
        self._ended_size = len(self.ended), size

    def _split_text(self) -> list[Event]:
        if self.partial_id is None or sum(map(len, self.pieces)) <= LONGEST_TEXT:
            return []
        first, parts = self.partial_id, 1
        if self._part[0] is not None and self.partial_id == f"{self._part[0]}+{self._part[1]}":
            first, parts = self._part[0], self._part[1] + 1
        self._part = (first, parts)
        return self.end_text()

    def close(self) -> tuple[Sequence[Event], int]:
        """End everything open; return the events and the number of open tool calls."""
        open_tools = len(self.tools)
        return self.abandon(), open_tools


def orphaned(task: TaskStarted) -> TaskFinished:
    """The end of a task for which no message reported one."""
    return TaskFinished(
        id=task.id, status="orphaned", kind=task.kind, title=task.title, tool_id=task.tool_id
    )


def _size(call: ToolStarted) -> int:
    return len(call.title or "") + (0 if call.input is None else memoryview(call.input).nbytes)


def _slim(call: ToolStarted) -> ToolStarted:
    """A call without its bulky parts."""
    if call.input is None and call.title is None:
        return call
    return ToolStarted(id=call.id, name=call.name, kind=call.kind, parent=call.parent)


def _id_size(id: str, call: ToolStarted | None) -> int:
    return len(id) + len(call.name if call else "")


def _task_size(id: str, task: TaskStarted) -> int:
    return len(id) + len(task.title or "")
