"""The state of reading a stream or a stored session, in addition to what every agent needs."""

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from nightrook.adapter import memory
from nightrook.adapter.memory import forget_oldest
from nightrook.adapter.stored import TimedMemory
from nightrook.agents.claude import shapes
from nightrook.agents.claude.tools import Plan
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.bounded_memory import keep_end, take_oldest
from nightrook.model.events import (
    Event,
    SessionStarted,
    Status,
    TaskFinished,
    Text,
    Thinking,
    ToolInputDelta,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Usage,
    UsageReported,
)

T = TypeVar("T")

CHECKED_VERSIONS = ("1.0.128", "2.0.76", "2.1.197", "2.1.325")
"""The versions of which every field was checked."""

_MOST_MESSAGES = 256  # API messages that may still get another line
_MOST_CALLS = 4096  # finished tool calls that may be mentioned again
_MOST_BLOCKS = 1000  # of a message, that arrive in pieces at the same time
_MOST_SIZE = 8_000_000  # characters of all those pieces
_CHARACTERS_PER_TOKEN = 4  # about right for English and code
_LONGEST_REFUSAL = 2000  # a longer text is the output of a tool
_MOST_LINES = 4096  # of subagents, which later lines may follow


class OpenBlock(msgspec.Struct):
    """A content block of which only pieces have arrived."""

    id: str
    type: str
    tool_id: str | None
    pieces: list[str]


class ApiMessage(msgspec.Struct):
    """One message of the model: a line for each block, and pieces before that."""

    id: str
    blocks: int = 0
    open: dict[int, OpenBlock] = {}
    usage: UsageReported | None = None
    last_usage: shapes.Usage | None = None  # usage and stop reason in the last line
    last_stop_reason: str | None = None
    stop_reason: str | None = None  # of any of its lines or its last piece
    superseded: bool = False  # another message began before the end of this one
    sizes: dict[int, int] = {}  # characters of its whole blocks, by their hashes

    def whole(self, type: str, text: str | None = None, *, tool_id: str | None = None) -> str:
        """The id of a complete block: that of its pieces if there were any."""
        alike = [index for index, block in self.open.items() if block.type == type]
        for index in alike if len(alike) > 1 else ():
            block = self.open[index]
            if block.tool_id == tool_id and "".join(block.pieces) == (text or ""):
                return self._close(index)
        if alike:
            return self._close(alike[0])
        self.blocks += 1
        return f"{self.id}:{self.blocks - 1}"

    def measure(self, block: str | bytes) -> None:
        """Add the size of a whole block; a line that is repeated counts once."""
        self.sizes[hash(block)] = len(block)

    def _close(self, index: int) -> str:
        self.blocks = max(self.blocks, index + 1)
        return self.open.pop(index).id


class TurnSigns(msgspec.Struct):
    """Facts about the answer of a turn, besides its result."""

    last_message: ApiMessage | None = None
    """The last message that the model sent to the main agent."""

    ended_tokens: int = 0
    """The tokens of the main agent's messages for which a stop reason was reported."""

    blocked: str | None = None
    """The reason why a hook blocked the prompt."""

    command_output: str | None = None
    """The output of a local slash command, instead of the model's; None without one."""

    command_failed: bool = False


class Memory(memory.Memory):
    """The state of reading one stream.

    Text arrives in pieces of several messages at a time, one for each running subagent, so it
    is kept in `streaming` and not as the one partial text of other agents.
    """

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS["claude"])
        self.checked = False  # whether all fields of the version that writes it are known
        self.model: str | None = None
        self.mode: str | None = None
        self.mode_before_plan: str | None = None
        self.open_turns = 0
        self.woken = False  # a background task ended, so no prompt starts the next turn
        self.streaming: dict[str | None, ApiMessage] = {}  # by the call it happens in
        self.mode_calls: dict[str, str] = {}  # open calls of the plan mode tools
        self.decisions: dict[str, bool] = {}  # whether a call was rejected, before its result
        self.fixes: dict[str, str | None] = {}  # what would allow the denied calls
        self.limited = False  # the provider's limit stops the work
        self.error_reported = False  # a message of this turn reported an API failure
        self.signs = TurnSigns()
        self.announced: dict[str, ToolStarted] = {}  # calls whose input is being written
        self.names_stops = False  # the stream reports why messages of the model stopped
        self.wants_structure = False  # the answer must fit a schema
        self.reports_tasks = False  # the stream reports background tasks by themselves
        self.ended_task: TaskFinished | None = None  # held back: its summary may come next
        self.plan = Plan()
        self.uncounted: dict[str, ApiMessage] = {}  # only usage from their start is known
        self._messages: dict[str, ApiMessage] = {}
        self._errors: dict[str, str] = {}  # the short messages of failed calls

    def new_version(self, version: str | None) -> None:
        """Set the version that writes the stream; 1.0 does not name it."""
        self.checked = version is None or version in CHECKED_VERSIONS

    def begin_turn(self) -> list[Event]:
        """Open a turn, even if one is open: the end of a background task starts one as well."""
        self.open_turns += 1
        origin = "task" if self.woken else "prompt"
        self.woken = False
        return [TurnStarted(origin=origin)]

    def message(self, id: str | None) -> ApiMessage:
        """The API message with this id, or a new one."""
        id = id or self.new_id("message")
        known = self._messages.get(id)
        if known is None:
            forget_oldest(self._messages, _MOST_MESSAGES)
            known = self._messages[id] = ApiMessage(id)
        return known

    def stop(self, message: ApiMessage, reason: str | None, *, main: bool) -> None:
        """Remember the stop reason of a message of the model, if it is known."""
        if reason is None or message.stop_reason is not None:
            return
        message.stop_reason = reason
        self.names_stops = True
        if main and message.usage is not None:
            self.signs.ended_tokens += tokens_of(message.usage)

    def fail(self, id: str, error: str) -> None:
        """Remember the message of a failed call, unless it is too long for a refusal."""
        if len(error) <= _LONGEST_REFUSAL:
            _remember(self._errors, id, error)

    def error_of(self, id: str | None) -> str | None:
        """The message of a failed call."""
        return None if id is None else self._errors.get(id)

    def decide(self, id: str, *, rejected: bool) -> None:
        """Remember the decision about a call that has no result yet."""
        _remember(self.decisions, id, rejected)

    def deny(self, id: str, fix: str | None) -> None:
        """Remember that the denial of a call was reported, and the rule that would allow it."""
        _remember(self.fixes, id, fix)

    def release_task(self) -> Sequence[Event]:
        """Return the end of a task that was held back, if there is one."""
        if self.ended_task is None:
            return ()
        event, self.ended_task = self.ended_task, None
        return (event,)

    def count(self, message: ApiMessage, usage: UsageReported) -> None:
        """Remember the usage of a message, and whether it is the final one."""
        message.usage = usage
        if usage.semantics == "final":
            self.uncounted.pop(message.id, None)
        else:
            self.uncounted[message.id] = message
            forget_oldest(self.uncounted, _MOST_CALLS)

    def estimated(self) -> list[Event]:
        """Estimate the output of messages for which no final count will arrive."""
        events: list[Event] = []
        for message in self.uncounted.values():
            pieces = (piece for block in message.open.values() for piece in block.pieces)
            written = sum(message.sizes.values()) + sum(map(len, pieces))
            output = written // _CHARACTERS_PER_TOKEN
            if message.usage is not None and output > (message.usage.output or 0):
                events.append(msgspec.structs.replace(message.usage, output=output))
        return events

    def announce(self, started: ToolStarted) -> Sequence[Event]:
        """Report that the model started to write a call; its start follows with the input."""
        self.announced[started.id] = started
        forget_oldest(self.announced, _MOST_CALLS)
        return (ToolInputDelta(id=started.id, json="", name=started.name, parent=started.parent),)

    def drop_calls(self, status: Status, *, parent: str | None) -> list[Event]:
        """Start and end the calls of one agent whose input was never written to its end."""
        calls = [call for call in self.announced.values() if call.parent == parent]
        events: list[Event] = []
        for call in calls:
            del self.announced[call.id]
            events += [*self.start(call), *self.finish(call.id, status)]
        return events

    def unfinished(self) -> list[Event]:
        """Return the partial texts when the agent stopped: the complete ones won't arrive."""
        events: list[Event] = []
        for parent, message in self.streaming.items():
            for block in () if message.superseded else message.open.values():
                if text := "".join(block.pieces):
                    whole = Thinking if block.type == "thinking" else Text
                    events.append(whole(id=block.id, text=text, parent=parent))
        self.streaming.clear()
        return events

    def trim(self) -> list[Event]:
        """Keep the end of a text in pieces; the whole text follows."""
        take_oldest(self.streaming, _pieces_size, most=_MOST_MESSAGES, most_size=_MOST_SIZE)
        for message in self.streaming.values():
            take_oldest(message.open, _block_size, most=_MOST_BLOCKS, most_size=_MOST_SIZE)
            for block in message.open.values():
                keep_end(block.pieces, memory.LONGEST_TEXT)
        return super().trim()

    def close(self) -> tuple[Sequence[Event], int]:
        """End everything open; return the events and the number of open tool calls."""
        estimated = self.estimated()
        started = [event for call in self.announced.values() for event in self.start(call)]
        self.announced.clear()
        events, open_tools = super().close()
        partial = [*self.unfinished(), *started]
        return [*self.release_task(), *partial, *events, *estimated], open_tools


def tokens_of(usage: UsageReported | Usage) -> int:
    """All tokens that a message or a turn reports."""
    written = (usage.cache_write_5m, usage.cache_write_1h)
    parts = (usage.input, usage.output, usage.cache_read, *written)
    return sum(part or 0 for part in parts)


def _remember(calls: dict[str, T], id: str, value: T) -> None:
    calls[id] = value
    forget_oldest(calls, _MOST_CALLS)


def _pieces_size(_: str | None, message: ApiMessage) -> int:
    return sum(_block_size(index, block) for index, block in message.open.items())


def _block_size(_: int, block: OpenBlock) -> int:
    return sum(map(len, block.pieces))


class Turn(msgspec.Struct):
    """The state of the turn that is open."""

    text: str | None = None
    stop_reason: str | None = None
    is_answered: bool = False
    """True if the last message of the model was an answer and nothing followed it."""

    error: str | None = None


class SessionMemory(Memory, TimedMemory):
    """The state of a stream, and that of stored sessions: times, subagents, ends of turns."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = Turn()
        self.prompts: dict[str, str] = {}  # the calls of subagents, by what they were asked
        self.chains: dict[str, str] = {}  # the call that a subagent's line happened in, by its id

    def open_session(self, line: shapes.StoredLine) -> list[Event]:
        """Report the session of a line, if it is the first one of it."""
        id = line.sessionId
        if id is None or id in self.sessions or line.version is None:
            return []
        self.sessions.add(id)
        self.new_version(line.version)
        return [SessionStarted(session=id, cwd=line.cwd, version=line.version)]

    def parent_of(self, line: shapes.StoredLine, prompt: str | None = None) -> str | None:
        """The call in which a line happened, for the subagents that share the file (1.0.128).

        Their first line is what they were asked, and every other follows a line of theirs.
        """
        if not line.isSidechain or line.agentId is not None:
            return None
        parent = self.chains.get(line.parentUuid or "") or self.prompts.get(prompt or "")
        if parent is not None and line.uuid is not None:
            self.chains[line.uuid] = parent
            forget_oldest(self.chains, _MOST_LINES)
        return parent

    def settle_turn(self, *, reason: str | None = None) -> list[Event]:
        """Report the end of the open turn, as far as the session shows that it ended."""
        turn, self.turn = self.turn, Turn()
        ended = turn.is_answered or turn.error is not None or reason is not None
        if not self.open_turns or not ended:
            return []
        self.open_turns -= 1
        self.results += 1
        return [
            TurnFinished(
                ok=turn.error is None and reason is None,
                text=turn.error or (None if reason else turn.text),
                stop_reason=turn.stop_reason,
                reason=reason or ("api_error" if turn.error is not None else None),
                errors=None if turn.error is None else (turn.error,),
            )
        ]

    def close(self) -> tuple[Sequence[Event], int]:
        """End the turn if it was answered, and everything else that is open."""
        ended = self.settle_turn()
        events, open_tools = super().close()
        return [*ended, *events], open_tools
