"""The state and the events of a loop: written to disk first, then passed to its reader."""

import asyncio
from collections.abc import AsyncIterator, Callable

import msgspec

from nightrook.loops.events import AGENT_EVENTS, LoopEvent
from nightrook.loops.state import Attempt, LoopState
from nightrook.loops.storage import LoopFolder

_MOST_UNREAD = 10_000  # beyond it, events of the agent are only in the log


class Progress:
    """What a loop has done, and a queue of its events for one reader."""

    def __init__(self, folder: LoopFolder, state: LoopState, *, clock: Callable[[], float]) -> None:
        self.state = state
        self._folder = folder
        self._clock = clock
        self._unread: asyncio.Queue[LoopEvent | None] = asyncio.Queue()

    @property
    def elapsed_s(self) -> float:
        """How long the loop has run until now."""
        return self.state.elapsed_s(self._clock())

    def save(self, **changes: object) -> None:
        """Change the state and write it to disk."""
        self.state = msgspec.structs.replace(self.state, saved_at=self._clock(), **changes)
        self._folder.save_state(self.state)

    def add_attempt(self, attempt: Attempt) -> None:
        """Count a run that has ended; the decision about it saves the state."""
        attempts = (*self.state.attempts, attempt)
        self.state = msgspec.structs.replace(self.state, attempts=attempts, pending=None)

    def replace_last(self, attempt: Attempt) -> None:
        """Replace the last attempt; the decision about it saves the state."""
        self.state = self.state.with_last(attempt)

    def emit(self, event: LoopEvent) -> None:
        """Write an event to the log and pass it to the reader."""
        self._folder.add_event(event)
        if not isinstance(event, AGENT_EVENTS) or self._unread.qsize() < _MOST_UNREAD:
            self._unread.put_nowait(event)

    def close(self) -> None:
        """End the events."""
        self._unread.put_nowait(None)

    async def events(self) -> AsyncIterator[LoopEvent]:
        """Yield the events from the first on, for one reader."""
        while (event := await self._unread.get()) is not None:
            yield event
