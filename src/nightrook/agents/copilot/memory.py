"""The state of reading a stream or a stored session, besides what every agent needs."""

from collections.abc import Sequence

import msgspec

from nightrook.adapter import memory
from nightrook.adapter.history import Facts
from nightrook.adapter.memory import forget_oldest
from nightrook.adapter.stored import StoredMemory
from nightrook.agents.copilot import shapes
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import Error, Event, McpServer

_MOST_SUBAGENTS = 1024
_LIMIT = "autopilot reached its limit of continuations"


class Memory(memory.Memory):
    """The state of reading a stream."""

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS["copilot"])
        self.model: str | None = None
        self.servers: tuple[McpServer, ...] = ()
        self.subagents: dict[str, str] = {}  # the call that each subagent works in
        self.thought: str | None = None  # the last thought that came in pieces
        self.has_thought = False  # thoughts of the next message were reported on their own
        self.status: int | None = None  # of the request that failed last
        self.attempt: int | None = None
        self.failure: Error | None = None  # the error that ends the run
        self.stopped: str | None = None  # why autopilot stopped
        self.aborted = False

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is open."""
        if not self.in_turn:
            self.failure = self.stopped = None
            self.aborted = False
        return super().begin_turn()

    def drop_partial(self) -> None:
        """Drop the pieces of a text: the whole text is known, or it is written again."""
        self.partial_id, self.pieces = None, []

    def add_subagent(self, agent: str, call: str) -> None:
        """Remember the call that a subagent works in."""
        self.subagents[agent] = call
        forget_oldest(self.subagents, _MOST_SUBAGENTS)

    def parent(self, agent: str | None, call: str | None) -> str | None:
        """The call in which a message's subagent works; None for the main agent."""
        return call or (self.subagents.get(agent) if agent is not None else None)

    def ending(self, code: int | None) -> tuple[str | None, str | None]:
        """The reason why a turn failed, if it did, and its answer or error."""
        if self.failure is not None:
            return "api_error", self.failure.message
        if self.stopped == "cap_reached":
            return "max_turns", _LIMIT
        if code:
            return "error", f"copilot reports the exit code {code}"
        return None, self.answer


class SessionFacts(Facts):
    """The ledger's state between the lines of a stored session."""

    version: str | None = None
    subagents: dict[str, str] = msgspec.field(default_factory=dict)
    """The names of the subagents, by their ids."""

    is_titled: bool = False
    has_records: bool = False
    """True if the usage of single requests was recorded."""

    ends: int = 0
    """The number of processes that have ended in the session."""

    totals: dict[str, shapes.Tokens] = msgspec.field(default_factory=dict)
    """The totals of all processes so far, as the last end reported them, by model."""


class SessionMemory(Memory, StoredMemory):
    """The state of reading a stored session."""

    facts: SessionFacts

    def settle_turn(self) -> list[Event]:
        """Report the end of the open turn, as far as the session shows that it ended."""
        has_ended = self.answer is not None or self.failure is not None or self.stopped is not None
        if not self.in_turn or not has_ended:
            return []
        return [self.finish_turn(*self.ending(None))]

    def close(self) -> tuple[Sequence[Event], int]:
        """End the turn if it was answered, and everything else that is open."""
        ended = self.settle_turn()
        events, open_tools = super().close()
        return [*ended, *events], open_tools
