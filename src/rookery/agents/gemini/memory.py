"""What must be remembered of a stream of Gemini CLI beside what every stream needs."""

from rookery.adapter import memory
from rookery.agents.gemini.fields import KNOWN_FIELDS
from rookery.model.events import Event


class Memory(memory.Memory):
    """Everything that is remembered of one stream."""

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS)
        self.trouble: str | None = None  # the last error or warning
        self.gave_up: str | None = None  # why the program stopped the model

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is; nothing has gone wrong in it."""
        if not self.in_turn:
            self.trouble = self.gave_up = None
        return super().begin_turn()
