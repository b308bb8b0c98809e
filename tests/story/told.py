"""A story that is made of events, for what shows stories."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from nightrook.adapter.agent import Replacement, no_replacements
from nightrook.model.events import Event, ToolFinished, ToolStarted
from nightrook.model.records import Record
from nightrook.model.snapshot import Snapshot
from nightrook.model.timeline import Item, Timeline
from nightrook.store.decisions import Decided
from nightrook.story.feed import Feed
from nightrook.story.item_bodies import Body
from nightrook.story.story import Story
from nightrook.story.tail import Tail


class ToldStory(Story):
    """What happened, as these records tell it; a body is what its item was made from."""

    def __init__(
        self,
        records: Iterable[Record],
        *,
        label: str = "agent",
        cwd: str | None = None,
        replacements: Callable[[ToolStarted], tuple[Replacement, ...]] = no_replacements,
        decisions: Mapping[str, Decided] | None = None,
        snapshot: Callable[[], Snapshot] = Snapshot,
    ) -> None:
        feed = Feed(None, partial(Tail, Path("/nonexistent")), label=label)
        super().__init__(feed, name="k7f3", cwd=cwd)
        self._replacements = replacements
        self._decisions = decisions or {}
        self._snapshot = snapshot
        self._events: list[Event] = []
        self._timeline = Timeline()
        for record in records:
            self._events.append(record.event)
            self._timeline.take([record])

    def body(self, item: Item) -> Body:
        """The event that began an item, and the one that ended it."""
        ends = (event for event in self._events if isinstance(event, ToolFinished))
        end = next((event for event in ends if event.id == item.key), None)
        return Body(self._events[item.seq], end)

    def replacements(self, call: ToolStarted) -> tuple[Replacement, ...]:
        """What a test says."""
        return self._replacements(call)

    def decisions(self) -> Mapping[str, Decided]:
        """What a test says."""
        return self._decisions

    def snapshot(self) -> Snapshot:
        """What a test says."""
        return self._snapshot()
