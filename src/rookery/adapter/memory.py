"""What must be remembered of any agent's stream: its turn, its calls, and what is being said."""

from collections.abc import Mapping, Sequence

from rookery.adapter.bounded import forget_oldest
from rookery.adapter.drift import Drift
from rookery.model.events import (
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

_MOST_CALLS = 4096  # so many ended calls are known, of which more may be told


class Memory:
    """What is remembered of one stream; an agent of which more must be remembered adds to it.

    `known` are the fields of each type of message, for the drift report.
    """

    def __init__(self, known: Mapping[str, frozenset[str]] | None = None) -> None:
        self.results = 0  # turns that have ended
        self.drift = Drift(known or {})
        self.sessions: set[str | None] = set()
        self.in_turn = False
        self.tools: dict[str, ToolStarted] = {}  # calls without a result yet
        self.held: dict[str, ToolStarted] = {}  # calls whose beginning is not reported yet
        self.ended: dict[str, None] = {}  # calls with a result, the last of many
        self.tasks: dict[str, TaskStarted] = {}  # tasks that are still at work
        self.writing: str | None = None  # the id of what is being said in pieces
        self.pieces: list[str] = []  # of that
        self.answer: str | None = None  # the last text that came in pieces
        self._thinking = False  # whether what is being said is a thought
        self._unnamed = 0

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is; nothing has been said in it."""
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
        words: str | None = None,
        *,
        duration_s: float | None = None,
        turns: int | None = None,
    ) -> TurnFinished:
        """Close the turn, with its answer in words; with a reason it failed, and they say why."""
        self.end_turn()
        return TurnFinished(
            ok=reason is None,
            text=words if reason is None else None,
            reason=reason,
            errors=(words,) if words and reason is not None else None,
            duration_s=duration_s,
            turns=turns,
        )

    def name(self, what: str) -> str:
        """A name for a thing that the agent left unnamed."""
        self._unnamed += 1
        return f"{what}-{self._unnamed}"

    def say(self, id: str, piece: str, *, thinking: bool = False) -> list[Event]:
        """Take a piece of a text or a thought; what was being said before is whole then."""
        events = [] if self.writing == id else self.end_words()
        self.writing, self._thinking = id, thinking
        self.pieces.append(piece)
        events.append((ThinkingDelta if thinking else TextDelta)(id=id, text=piece))
        return events

    def end_words(self) -> list[Event]:
        """Give the whole of what was being said, if something was."""
        if self.writing is None:
            return []
        id, words = self.writing, "".join(self.pieces)
        self.writing = None
        self.pieces = []
        if self._thinking:
            return [Thinking(id=id, text=words)]
        self.answer = words
        return [Text(id=id, text=words)]

    def go_on(self) -> list[Event]:
        """Come to something that is no words: begin a turn unless one is open, end the words."""
        if self.in_turn and self.writing is None:
            return []
        return [*self.begin_turn(), *self.end_words()]

    def has_begun(self, id: str) -> bool:
        """Whether a call is open, held back or has ended."""
        return id in self.tools or id in self.ended or id in self.held

    def has_ended(self, id: str) -> bool:
        """Whether a call has had its result."""
        return id in self.ended

    def start(self, started: ToolStarted) -> list[Event]:
        """Begin a call, but only once."""
        id = started.id
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
        """End a call, but only once; its beginning tells what its result does not.

        That it was denied is an event of its own, with what would let it pass.
        """
        if id in self.ended:
            return []
        begun = self.end(id)
        if begun is not None:
            name, kind, parent = name or begun.name, kind or begun.kind, begun.parent
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
        input = begun.input if begun else None
        denied = PermissionDenied(tool_id=id, name=name, input=input, reason=error, fix=fix)
        return [denied, finished]

    def end(self, id: str) -> ToolStarted | None:
        """Remember that a call has ended, and give its beginning if there was one."""
        self.ended[id] = None
        forget_oldest(self.ended, _MOST_CALLS)
        return self.tools.pop(id, None)

    def abandon(self) -> list[Event]:
        """End what is open though nobody said how it ended."""
        events = self.end_words()
        for id in [*self.tools]:
            events += self.finish(id, "orphaned")
        events += map(orphaned, self.tasks.values())
        self.tasks.clear()
        return events

    def close(self) -> tuple[Sequence[Event], int]:
        """End all that is still open; tell how many tool calls were."""
        open_tools = len(self.tools)
        return self.abandon(), open_tools


def orphaned(task: TaskStarted) -> TaskFinished:
    """The end of a task of which nobody said how it ended."""
    return TaskFinished(
        id=task.id, status="orphaned", kind=task.kind, title=task.title, tool_id=task.tool_id
    )
