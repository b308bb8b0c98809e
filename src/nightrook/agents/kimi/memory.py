"""The state of reading a stream or a stored session, besides what every agent needs."""

import msgspec

from nightrook.adapter import memory, stored
from nightrook.adapter.history import Facts
from nightrook.agents.kimi.paths import MAIN
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import Event


class Memory(memory.Memory):
    """The state of reading a stream."""

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS["kimi"])
        self.version: str | None = None
        self.missed: tuple[str, str] | None = None  # why a goal was not reached: a word, a sentence

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is open."""
        if not self.in_turn:
            self.missed = None
        return super().begin_turn()


class SessionFacts(Facts):
    """The ledger's state between the lines of an agent's file."""

    agent: str = MAIN
    profile: str | None = None
    is_titled: bool = False
    models: dict[str, str] = msgspec.field(default_factory=dict)
    """The model of each alias, as the last request names it; "" is a request without one."""

    records: int = 0
    """The number of records of usage read so far: the place of the next one."""


class SessionMemory(stored.SessionMemory):
    """The state of reading the file of an agent of a session."""

    facts: SessionFacts
    steps = 0
