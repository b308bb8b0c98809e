"""What must be remembered of a stream of the app server beside what every Codex stream needs."""

from rookery.agents.codex import memory
from rookery.agents.codex.app_server.fields import KNOWN_FIELDS
from rookery.agents.codex.app_server.shapes import Tokens
from rookery.model.events import Event


class Memory(memory.Memory):
    """Everything that is remembered of one stream."""

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS)
        self.thread: str | None = None  # ours; those of subagents speak on the same wire
        self.totals: dict[str | None, Tokens | None] = {}  # what threads have used so far
        self._requests = 0

    def is_ours(self, thread: str | None) -> bool:
        """Whether a message is about the thread that we talk with."""
        return thread is None or self.thread is None or thread == self.thread

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is; nothing has been said in it."""
        if not self.in_turn:
            self.said = self.failure = None
        return super().begin_turn()

    def next_request(self) -> str:
        """Name a request to the model; the stream has no name for it."""
        self._requests += 1
        return f"request-{self._requests}"
