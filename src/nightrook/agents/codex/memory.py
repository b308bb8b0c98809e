"""The state of reading a stream or a rollout of Codex, besides what every agent needs."""

from collections.abc import Iterator, Mapping, Sequence

from nightrook.adapter import memory
from nightrook.adapter.history import Facts, Limit
from nightrook.adapter.stored import StoredMemory
from nightrook.agents.codex import shapes
from nightrook.model.events import Event, PlanItem, TaskStarted


class Memory(memory.Memory):
    """The state of reading a stream of `codex exec --json`."""

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


class RpcMemory(Memory):
    """The state of reading a stream of the app server, in which subagents write as well."""

    def __init__(self, known: Mapping[str, str]) -> None:
        super().__init__(known)
        self.thread: str | None = None  # ours; those of subagents write to the same stream
        self.goal: str | None = None  # what is left to reach
        self.totals: dict[str | None, object] = {}  # of each thread so far
        self._requests = 0

    def is_ours(self, thread: str | None) -> bool:
        """True if a message is about our thread."""
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


class RolloutFacts(Facts):
    """The ledger's state between the lines of a rollout."""

    is_named: bool = False
    """True if a line has named the session; what follows may name those that it forks."""

    total: shapes.Tokens | None = None
    """The thread's total tokens at the last count."""

    resets: int = 0
    """The number of times the total began again."""

    awaited_counts: int = 0
    """The records whose counts, which repeat them, are still to come."""

    is_titled: bool = False
    limits: tuple[Limit, ...] = ()


class RolloutMemory(RpcMemory, StoredMemory):
    """The state of reading a rollout."""

    facts: RolloutFacts

    def __init__(self) -> None:
        super().__init__({})
        self.has_items = False  # messages are reported as items: the other reports repeat them
