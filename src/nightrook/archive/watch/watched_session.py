"""One session that an agent writes: its own file and those of its subagents."""

from collections.abc import Iterable

from nightrook.archive.sessions.story import OF_THE_SESSION, placed
from nightrook.archive.watch.readings import Reading
from nightrook.archive.watch.watched import Row
from nightrook.model.events import TaskStarted
from nightrook.model.ledger import Money
from nightrook.model.records import Record
from nightrook.model.snapshot import TokenCounts
from nightrook.model.state import RunState

_ID = 8  # characters of a session's id in lines


class WatchedSession:
    """What a session did so far, and what is new of it."""

    def __init__(self, agent: str, id: str) -> None:
        self.agent = agent
        self.id = id
        self.changed_at = 0.0
        """When it was last written to, in seconds since 1970."""
        self._readings: dict[str | None, Reading] = {}  # by the task whose events they have
        self._tasks: dict[int, str | None] = {}  # the task of a reading, by its identity
        self._calls: dict[str, str] = {}  # in which a task happens

    @property
    def last_activity(self) -> float | None:
        """The time of its last message."""
        times = [reading.state.last_activity for reading in self._readings.values()]
        return max((at for at in times if at is not None), default=None)

    def add(self, reading: Reading, task: str | None) -> None:
        """Add a file of the session; `task` is the subagent whose events it has."""
        self._readings[task] = reading
        self._tasks[id(reading)] = task

    def placed(self, reading: Reading, records: Iterable[Record]) -> list[Record]:
        """The new records of one of its files, as the session has them."""
        task = self._tasks[id(reading)]
        if task is not None:
            call = self._calls.get(task, task)
            return [
                placed(record, 0, call)
                for record in records
                if not isinstance(record.event, OF_THE_SESSION)
            ]
        new = list(records)
        for record in new:
            event = record.event
            if isinstance(event, TaskStarted) and event.tool_id is not None:
                self._calls[event.id] = event.tool_id
        return new

    def row(self) -> Row:
        """What is true of it now."""
        reading = self._readings.get(None) or next(iter(self._readings.values()))
        main = reading.state
        states = [reading.state for reading in self._readings.values()]
        return Row(
            kind="session",
            agent=self.agent,
            name=self.id,
            label=f"{self.agent} {self.id[:_ID]}",
            project=main.cwd,
            snapshot=main.snapshot(),
            tokens=_tokens(states),
            cost=_cost(states),
            turn_began=main.turns[-1].started_at if main.turns else main.started_at,
            changed_at=self.changed_at,
            is_answered=reading.is_answered,
        )


def _tokens(states: Iterable[RunState]) -> TokenCounts:
    """All tokens of a session and its subagents; None if none were reported."""
    known = [state.token_counts for state in states if state.ledger.has_usage]
    if not known:
        return TokenCounts()
    return TokenCounts(
        input=sum(each.input or 0 for each in known),
        output=sum(each.output or 0 for each in known),
        cache_read=sum(each.cache_read or 0 for each in known),
        cache_write=sum(each.cache_write or 0 for each in known),
    )


def _cost(states: Iterable[RunState]) -> Money:
    """What a session and its subagents cost; at least that if it is not known of all."""
    costs = [state.ledger.cost for state in states if state.ledger.has_usage]
    known = [cost.usd for cost in costs if cost.usd is not None]
    if not known:
        return Money(None, "unknown")
    is_native = all(cost.source == "native" for cost in costs)
    is_part = len(known) < len(costs) or any(cost.at_least for cost in costs)
    return Money(sum(known), "native" if is_native else "estimated", is_part)
