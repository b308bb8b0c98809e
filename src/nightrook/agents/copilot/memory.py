"""What is remembered about a stream of GitHub Copilot CLI, beside what every agent needs."""

from nightrook.adapter import memory
from nightrook.adapter.memory import forget_oldest
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import Error, Event, McpServer

_MOST_SUBAGENTS = 1024


class Memory(memory.Memory):
    """Everything that is remembered about one stream."""

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
        """Forget the pieces of a text: the whole text is known, or it is written again."""
        self.partial_id, self.pieces = None, []

    def add_subagent(self, agent: str, call: str) -> None:
        """Remember the call that a subagent works in."""
        self.subagents[agent] = call
        forget_oldest(self.subagents, _MOST_SUBAGENTS)

    def parent(self, agent: str | None, call: str | None) -> str | None:
        """The call in which a message's subagent works; None for the main agent."""
        return call or (self.subagents.get(agent) if agent is not None else None)
