"""What must be remembered from one message to the next to tell what a stream means."""

from collections.abc import Iterator, Sequence

from rookery.agents.codex.fields import KNOWN_FIELDS
from rookery.core.drift import Drift
from rookery.core.events import (
    Event,
    PlanItem,
    TaskFinished,
    TaskStarted,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)

_MOST_CALLS = 4096  # ended calls of which more may be told


class Memory:
    """Everything that is remembered of one stream."""

    def __init__(self) -> None:
        self.results = 0
        self.drift = Drift(KNOWN_FIELDS)
        self.sessions: set[str | None] = set()
        self.in_turn = False
        self.said: str | None = None  # the agent's last message of this turn
        self.failure: str | None = None  # the last error that was told
        self.plan: tuple[PlanItem, ...] | None = None
        self.tools: dict[str, ToolStarted] = {}
        self.searches: dict[str, ToolStarted] = {}  # held back: their query comes when they end
        self.tasks: dict[str, TaskStarted] = {}
        self._ended: dict[str, None] = {}
        self._processes = 0
        self._unnamed = 0

    def begin_process(self) -> list[Event]:
        """A new process writes: it counts its items from 0 again, and what was open stays so."""
        events = [] if self._processes == 0 else [*self.orphans()]
        self._processes += 1
        self.in_turn = False
        self.said = None
        return events

    def begin_turn(self) -> TurnStarted:
        """Open a turn."""
        self.in_turn = True
        return TurnStarted(origin="prompt")

    def name(self, id: str | None) -> str:
        """The name of an item: its id is its own only among those of its process."""
        if id and self._processes < 2:
            return id
        if not id:
            self._unnamed += 1
            id = f"item-{self._unnamed}"
        return f"{self._processes}:{id}" if self._processes > 1 else id

    def has_begun(self, id: str) -> bool:
        """Whether a call is open or has ended."""
        return id in self.tools or id in self.searches or id in self._ended

    def has_ended(self, id: str) -> bool:
        """Whether a call has ended."""
        return id in self._ended

    def end(self, id: str) -> ToolStarted | None:
        """Remember that a call has ended, and give its beginning if there was one."""
        self._ended[id] = None
        if len(self._ended) > _MOST_CALLS:
            del self._ended[next(iter(self._ended))]
        return self.tools.pop(id, None)

    def left_running(self) -> Iterator[Event]:
        """The commands that run on though the turn is over: they are cut off when Codex ends."""
        for id, tool in [*self.tools.items()]:
            if tool.kind == "execute":
                task = TaskStarted(
                    id=id, kind="command", title=tool.title, tool_id=id, background=True
                )
                self.tasks[id] = task
                yield task

    def orphans(self) -> Iterator[Event]:
        """End everything that is open."""
        for search in self.searches.values():
            self.tools[search.id] = search
            yield search
        self.searches.clear()
        for id, tool in [*self.tools.items()]:
            self.end(id)
            yield ToolFinished(id=id, status="orphaned", name=tool.name, kind=tool.kind)
        for task in self.tasks.values():
            yield TaskFinished(
                id=task.id,
                status="orphaned",
                kind=task.kind,
                title=task.title,
                tool_id=task.tool_id,
            )
        self.tasks.clear()

    def close(self) -> tuple[Sequence[Event], int]:
        """End all that is still open; tell how many tool calls were."""
        open_tools = len(self.tools) + len(self.searches)
        return [*self.orphans()], open_tools
