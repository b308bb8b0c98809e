"""What is remembered about a stream of the app server, in addition to other Codex streams."""

from nightrook.agents.codex import memory
from nightrook.agents.codex.app_server.shapes import Tokens
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import Event


class Memory(memory.Memory):
    """Everything that is remembered about one stream."""

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS["codex/app_server"])
        self.thread: str | None = None  # ours; those of subagents write to the same stream
        self.totals: dict[str | None, Tokens | None] = {}  # the tokens of each thread so far
        self._requests = 0

    def is_ours(self, thread: str | None) -> bool:
        """Whether a message is about our thread."""
        return thread is None or self.thread is None or thread == self.thread

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is open."""
        if not self.in_turn:
            self.last_text = self.failure = None
        return super().begin_turn()

    def next_request(self) -> str:
        """Return an id for a request to the model, which has none in the stream."""
        self._requests += 1
        return f"request-{self._requests}"
