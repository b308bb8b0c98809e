"""What must be remembered of a stream of Gemini CLI beside what every stream needs."""

from rookery.agents.gemini.fields import KNOWN_FIELDS
from rookery.core import memory
from rookery.core.events import Event


class Memory(memory.Memory):
    """Everything that is remembered of one stream."""

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS)
        self.trouble: str | None = None  # the last error or warning
        self.gave_up: str | None = None  # why the program stopped the model

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is; nothing has been said in it."""
        if not self.in_turn:
            self.answer = self.trouble = self.gave_up = None
        return super().begin_turn()

    def go_on(self) -> list[Event]:
        """Come to something that is no text: begin a turn unless one is open, end an open text."""
        if self.in_turn and self.writing is None:
            return []
        return [*self.begin_turn(), *self.end_words()]
