"""The state of reading a stream or a stored session, besides what every agent needs."""

from nightrook.adapter import memory, stored
from nightrook.adapter.history import Facts
from nightrook.adapter.memory import forget_oldest
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import Event

_MOST_MESSAGES = 20_000


class Memory(memory.Memory):
    """The state of reading a stream."""

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS["gemini"])
        self.failure: str | None = None  # the last error or warning
        self.stopped: str | None = None  # why Gemini CLI stopped the model

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is open."""
        if not self.in_turn:
            self.failure = self.stopped = None
        return super().begin_turn()


class SessionFacts(Facts):
    """The ledger's state between the lines of a stored session."""

    parent: str | None = None
    is_subagent: bool = False
    is_titled: bool = False


class SessionMemory(stored.SessionMemory):
    """The state of reading a stored session, or that of a subagent."""

    facts: SessionFacts

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, None] = {}  # messages whose text was reported
        self.session: str | None = None
        self.folder: str | None = None

    def is_new(self, id: str) -> bool:
        """True if a message was not read before."""
        if id in self.seen:
            return False
        self.seen[id] = None
        forget_oldest(self.seen, _MOST_MESSAGES)
        return True
