"""What is remembered between the lines of a rollout of Codex."""

from nightrook.adapter.stored import TimedMemory
from nightrook.agents.codex.app_server.memory import Memory
from nightrook.agents.codex.transcript.shapes import Tokens


class RolloutMemory(Memory, TimedMemory):
    """What a stream needs, and what only rollouts need."""

    def __init__(self) -> None:
        super().__init__()
        self.model: str | None = None
        self.counts_requests = False  # there are records of the tokens of each request
        self.total: Tokens | None = None  # the last total, in rollouts without such records
        self.has_items = False  # messages are reported as items: the other reports repeat them
