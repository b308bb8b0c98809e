"""The state of reading a stream of Cline, in addition to what every agent needs."""

from collections.abc import Sequence

import msgspec

from nightrook.adapter import memory
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import Error, Event, UsageReported

_MOST_SUBAGENTS = 1000


class Memory(memory.Memory):
    """The state of reading one stream.

    What an agent used so far is reported as one figure that grows, because the model that prices it
    is known only at the end.
    """

    def __init__(self) -> None:
        super().__init__(KNOWN_FIELDS["cline"])
        self.callers: list[str] = []  # the calls of the subagents at work, the last that began last
        self.main_calls = False  # whether the next calls are those of the main agent
        self.mixed: set[str] = set()  # those of them that work side by side
        self.used: dict[str | None, UsageReported] = {}  # by each agent, so far
        self.failure: Error | None = None  # an error from which the agent doesn't recover
        self.thought: str | None = None  # the id of a thought whose end is not yet reported

    @property
    def parent(self) -> str | None:
        """The call of the agent that is at work; None is the main agent."""
        return self.callers[-1] if self.callers else None

    def enter(self, call: str) -> None:
        """Start a subagent, which may run at the same time as others."""
        self.callers.append(call)
        if len(self.callers) > 1:
            self.mixed.update(self.callers)

    def leave(self, call: str) -> bool:
        """End a subagent, and return whether its events were mixed with those of others."""
        if call in self.callers:
            self.callers.remove(call)
        was_mixed = call in self.mixed
        self.mixed.discard(call)
        return was_mixed

    def count(self, used: UsageReported) -> UsageReported:
        """Remember the usage of an agent so far."""
        self.used[used.parent] = used
        if len(self.used) > _MOST_SUBAGENTS:
            del self.used[next(parent for parent in self.used if parent is not None)]
        return used

    def settle(self, model: str | None) -> list[Event]:
        """Report the usage of each agent, with the model."""
        final = [
            msgspec.structs.replace(used, model=model, semantics="final")
            for used in self.used.values()
        ]
        self.used.clear()
        return [*final]

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is open."""
        if not self.in_turn:
            self.main_calls = False
            self.callers.clear()
            self.mixed.clear()
            self.used.clear()
            self.failure = self.thought = None
        return super().begin_turn()

    def close(self) -> tuple[Sequence[Event], int]:
        """End everything open; a fatal error without a result ends the turn."""
        events, open_tools = super().close()
        if self.failure is None or not self.in_turn:
            return events, open_tools
        return (*events, self.finish_turn("api_error", self.failure.message)), open_tools
