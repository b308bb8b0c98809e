"""What is remembered about a stream of Codex, in addition to what every agent needs."""

from collections.abc import Iterator, Mapping, Sequence

from nightrook.adapter import memory
from nightrook.model.events import Event, PlanItem, TaskStarted


class Memory(memory.Memory):
    """Everything that is remembered about one stream."""

    def __init__(self, known: Mapping[str, str]) -> None:
        super().__init__(known)
        self.last_text: str | None = None  # the agent's last message of this turn
        self.failure: str | None = None  # the last error that was reported
        self.plan: tuple[PlanItem, ...] | None = None
        self.processes = 0

    def begin_process(self) -> list[Event]:
        """Start a new process: it numbers its items from 0, and open calls are abandoned."""
        events = [] if self.processes == 0 else self.abandon()
        self.processes += 1
        self.in_turn = False
        self.last_text = None
        return events

    def item(self, id: str | None) -> str:
        """The id of an item, made unique: Codex's ids are unique only within a process."""
        if id and self.processes < 2:
            return id
        id = id or self.new_id("item")
        return f"{self.processes}:{id}" if self.processes > 1 else id

    def left_running(self) -> Iterator[Event]:
        """The commands that still run when the turn has ended; they stop when Codex exits."""
        for id, tool in [*self.tools.items()]:
            if tool.kind == "execute":
                task = TaskStarted(
                    id=id, kind="command", title=tool.title, tool_id=id, background=True
                )
                self.tasks[id] = task
                yield task

    def abandon(self) -> list[Event]:
        """End everything open as `orphaned`, and report the calls that were held back."""
        held = [*self.held.values()]
        self.tools.update(self.held)
        self.held.clear()
        return [*held, *super().abandon()]

    def close(self) -> tuple[Sequence[Event], int]:
        """End everything open; return the events and the number of open tool calls."""
        held = len(self.held)
        events, open_tools = super().close()
        return events, open_tools + held
