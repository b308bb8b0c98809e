"""What is remembered about a stream of Kimi Code, in addition to what every agent needs."""

from nightrook.adapter import memory
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import Event


class Memory(memory.Memory):
    """Everything that is remembered about one stream."""

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS["kimi"])
        self.version: str | None = None
        self.missed: tuple[str, str] | None = None  # why a goal was not reached: a word, a sentence

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is open."""
        if not self.in_turn:
            self.missed = None
        return super().begin_turn()
