"""What is remembered about a stream of Gemini CLI, in addition to what every agent needs."""

from nightrook.adapter import memory
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import Event


class Memory(memory.Memory):
    """Everything that is remembered about one stream."""

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS["gemini"])
        self.failure: str | None = None  # the last error or warning
        self.stopped: str | None = None  # why Gemini CLI stopped the model

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is open."""
        if not self.in_turn:
            self.failure = self.stopped = None
        return super().begin_turn()
