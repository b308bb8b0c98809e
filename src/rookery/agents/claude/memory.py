"""What must be remembered from one message to the next to tell what a stream means."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from rookery.adapter.bounded import forget_oldest
from rookery.adapter.drift import Drift
from rookery.adapter.memory import orphaned
from rookery.agents.claude.fields import CHECKED_VERSIONS, KNOWN_FIELDS
from rookery.agents.claude.outcomes import Plan
from rookery.agents.claude.shapes import Usage
from rookery.model.events import (
    Event,
    TaskFinished,
    TaskStarted,
    Text,
    Thinking,
    ToolFinished,
    ToolKind,
    TurnStarted,
    UsageReported,
)

T = TypeVar("T")

_MOST_MESSAGES = 256  # API messages that may still get another line
_MOST_CALLS = 4096  # ended tool calls of which more may be told
_LONGEST_REFUSAL = 2000  # what is longer is a tool's output


class OpenBlock(msgspec.Struct):
    """A content block of which only pieces have come."""

    id: str
    type: str
    tool_id: str | None
    pieces: list[str]


class ApiMessage(msgspec.Struct):
    """One message of the model, which comes as one line a block and as pieces before that."""

    id: str
    blocks: int = 0
    open: dict[int, OpenBlock] = {}
    usage: UsageReported | None = None
    told: Usage | None = None  # usage and stop reason as the last line had them
    told_stop: str | None = None
    superseded: bool = False  # another message came before the end of this one

    def whole(self, type: str, text: str | None = None, *, tool_id: str | None = None) -> str:
        """The id of a block that has come whole: that of its pieces if there were any."""
        alike = [index for index, block in self.open.items() if block.type == type]
        for index in alike if len(alike) > 1 else ():
            block = self.open[index]
            if block.tool_id == tool_id and "".join(block.pieces) == (text or ""):
                return self._close(index)
        if alike:
            return self._close(alike[0])
        self.blocks += 1
        return f"{self.id}:{self.blocks - 1}"

    def _close(self, index: int) -> str:
        self.blocks = max(self.blocks, index + 1)
        return self.open.pop(index).id


class OpenTool(msgspec.Struct):
    """A tool call without a result yet."""

    name: str
    kind: ToolKind
    input: msgspec.Raw
    parent: str | None


class Memory:
    """Everything that is remembered of one stream."""

    def __init__(self) -> None:
        self.results = 0
        self.drift = Drift(KNOWN_FIELDS)
        self.checked = False  # whether a version wrote this whose every field is known
        self.sessions: set[str | None] = set()
        self.model: str | None = None
        self.mode: str | None = None
        self.mode_before_plan: str | None = None
        self.open_turns = 0
        self.woken = False  # a background task ended, so the next turn is not a prompt's
        self.streaming: dict[str | None, ApiMessage] = {}  # by the call it happens in
        self.tools: dict[str, OpenTool] = {}
        self.mode_calls: dict[str, str] = {}  # open calls of the plan mode tools
        self.decisions: dict[str, bool] = {}  # whether a call was rejected, before its result
        self.fixes: dict[str, str | None] = {}  # what would let the denied calls pass
        self.limited = False  # the provider's limit stops the work
        self.tasks: dict[str, TaskStarted] = {}
        self.ended_task: TaskFinished | None = None  # held back: its summary may come next
        self.plan = Plan()
        self._messages: dict[str, ApiMessage] = {}
        self._ended: dict[str, str | None] = {}  # with what a failed call said
        self._unnamed = 0

    def new_version(self, version: str | None) -> None:
        """Learn which version writes the stream; 1.0 does not say."""
        self.checked = version is None or version in CHECKED_VERSIONS

    def begin_turn(self) -> TurnStarted:
        """Open a turn and tell what set it off."""
        self.open_turns += 1
        origin = "task" if self.woken else "prompt"
        self.woken = False
        return TurnStarted(origin=origin)

    def message(self, id: str | None) -> ApiMessage:
        """The API message with this id, or a new one."""
        id = id or self.new_id("message")
        found = self._messages.get(id)
        if found is None:
            forget_oldest(self._messages, _MOST_MESSAGES)
            found = self._messages[id] = ApiMessage(id)
        return found

    def new_id(self, kind: str) -> str:
        """A name for a thing that the agent left unnamed."""
        self._unnamed += 1
        return f"{kind}-{self._unnamed}"

    def end_tool(self, id: str, error: str | None) -> None:
        """Remember that a call has ended, and what it said if it failed."""
        short = error is not None and len(error) <= _LONGEST_REFUSAL
        _remember(self._ended, id, error if short else None)

    def has_ended(self, id: str) -> bool:
        """Whether a call has had its result."""
        return id in self._ended

    def error_of(self, id: str | None) -> str | None:
        """What a call said that failed."""
        return None if id is None else self._ended.get(id)

    def decide(self, id: str, *, rejected: bool) -> None:
        """Remember what a field says of a call whose result is still to come."""
        _remember(self.decisions, id, rejected)

    def deny(self, id: str, fix: str | None) -> None:
        """Remember that the denial of a call has been told, and what would let it pass."""
        _remember(self.fixes, id, fix)

    def release_task(self) -> Sequence[Event]:
        """Give the end of a task that was held back, if one is."""
        if self.ended_task is None:
            return ()
        event, self.ended_task = self.ended_task, None
        return (event,)

    def unfinished(self) -> list[Event]:
        """Give what was being written when the agent stopped: its whole will not come."""
        events: list[Event] = []
        for parent, message in self.streaming.items():
            for block in () if message.superseded else message.open.values():
                if text := "".join(block.pieces):
                    whole = Thinking if block.type == "thinking" else Text
                    events.append(whole(id=block.id, text=text, parent=parent))
        self.streaming.clear()
        return events

    def close(self) -> tuple[Sequence[Event], int]:
        """End all that is still open; tell how many tool calls were."""
        events: list[Event] = [*self.release_task(), *self.unfinished()]
        for id, tool in self.tools.items():
            events.append(
                ToolFinished(
                    id=id, status="orphaned", name=tool.name, kind=tool.kind, parent=tool.parent
                )
            )
        events += map(orphaned, self.tasks.values())
        return events, len(self.tools)


def _remember(calls: dict[str, T], id: str, what: T) -> None:
    calls[id] = what
    forget_oldest(calls, _MOST_CALLS)
