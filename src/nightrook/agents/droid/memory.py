"""The state of reading a stream or a stored session, besides what every agent needs."""

from collections.abc import Sequence

from nightrook.adapter import memory
from nightrook.adapter.history import Facts
from nightrook.adapter.stored import StoredMemory
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import Error, Event, SessionStarted


class Memory(memory.Memory):
    """The state of reading a stream."""

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS["droid"])
        self.failure: Error | None = None  # an error that no other message has followed yet
        self.thought: tuple[str | None, str | None] | None = None  # the last, with its id
        self.steps = 0  # messages of the model in this turn
        self._message: str | None = None  # the last of them

    def enter(self, started: SessionStarted) -> list[Event]:
        """Start a process; items that an earlier one left open are orphaned."""
        events = self.abandon()
        self.in_turn = False
        if started.session not in self.sessions:
            self.sessions.add(started.session)
            events.append(started)
        return events

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is open."""
        if not self.in_turn:
            self.failure = self.thought = self._message = None
            self.steps = 0
        return super().begin_turn()

    def step(self, message: str | None) -> None:
        """Count a message of the model, once."""
        self.failure = None
        if message != self._message or message is None:
            self._message = message
            self.steps += 1

    def close(self) -> tuple[Sequence[Event], int]:
        """End everything open; an error that nothing followed ends the turn."""
        events, open_tools = super().close()
        if self.failure is None or not self.in_turn:
            return events, open_tools
        ending = self.finish_turn("api_error", self.failure.message, turns=self.steps or None)
        return (*events, ending), open_tools


class SessionFacts(Facts):
    """The ledger's state of the session of a file."""

    has_sums: bool = False
    """True for the document with the sums, not the file with the messages."""


class SessionMemory(Memory, StoredMemory):
    """The state of reading a stored session."""

    facts: SessionFacts
    said: str | None = None
    """The last answer: a session repeats it nowhere."""
