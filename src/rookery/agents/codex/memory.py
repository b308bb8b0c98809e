"""What must be remembered of a stream of Codex beside what every stream needs."""

from collections.abc import Iterator, Mapping, Sequence

from rookery.adapter import memory
from rookery.model.events import Event, PlanItem, TaskStarted


class Memory(memory.Memory):
    """Everything that is remembered of one stream."""

    def __init__(self, known: Mapping[str, frozenset[str]]) -> None:
        super().__init__(known)
        self.said: str | None = None  # the agent's last message of this turn
        self.failure: str | None = None  # the last error that was told
        self.plan: tuple[PlanItem, ...] | None = None
        self.processes = 0

    def begin_process(self) -> list[Event]:
        """A new process writes: it counts its items from 0 again, and what was open stays so."""
        events = [] if self.processes == 0 else self.abandon()
        self.processes += 1
        self.in_turn = False
        self.said = None
        return events

    def item(self, id: str | None) -> str:
        """The name of an item: its id is its own only among those of its process."""
        if id and self.processes < 2:
            return id
        id = id or self.new_id("item")
        return f"{self.processes}:{id}" if self.processes > 1 else id

    def left_running(self) -> Iterator[Event]:
        """The commands that run on though the turn is over: they are cut off when Codex ends."""
        for id, tool in [*self.tools.items()]:
            if tool.kind == "execute":
                task = TaskStarted(
                    id=id, kind="command", title=tool.title, tool_id=id, background=True
                )
                self.tasks[id] = task
                yield task

    def abandon(self) -> list[Event]:
        """End what is open though nobody said how it ended; what was held back is reported."""
        held = [*self.held.values()]
        self.tools.update(self.held)
        self.held.clear()
        return [*held, *super().abandon()]

    def close(self) -> tuple[Sequence[Event], int]:
        """End all that is still open; tell how many tool calls were."""
        held = len(self.held)
        events, open_tools = super().close()
        return events, open_tools + held
