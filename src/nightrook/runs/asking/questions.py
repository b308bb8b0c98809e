"""The open questions of a run, and those who watch them; the first decision on each counts."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nightrook.model.questions import ClosedQuestion, Decision, OpenQuestion
from nightrook.runs.asking.protocol import Changes, Closed, Listed, Opened

MOST_OPEN = 256
"""An agent that asks more at once is denied the rest."""

_MOST_CLOSED = 256
_MOST_WAITING = 1024  # changes that a watcher has not read

Watcher = asyncio.Queue[Changes | None]
"""The changes that a watcher reads; None when there is nothing more to read."""


class Questions:
    """The questions that an agent waits for; each is decided once, or withdrawn."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[OpenQuestion, Callable[[Decision], None]]] = {}
        self._closed: dict[str, ClosedQuestion] = {}
        self._watchers: set[Watcher] = set()

    @property
    def open(self) -> tuple[OpenQuestion, ...]:
        """The undecided questions, in the order in which they were asked."""
        return tuple(question for question, _ in self._open.values())

    @property
    def is_full(self) -> bool:
        """True if as many questions are open as allowed."""
        return len(self._open) >= MOST_OPEN

    def closed(self, id: str) -> ClosedQuestion | None:
        """Return how a question was closed; None if it is open, or not one of the latest."""
        return self._closed.get(id)

    def ask(self, question: OpenQuestion, decided: Callable[[Decision], None]) -> None:
        """Add a question; `decided` is called with the first decision on it."""
        self._open[question.id] = question, decided
        self._report(Opened(question=question))

    def decide(self, id: str, decision: Decision) -> bool:
        """Decide on an open question; False if it is not open, and nothing happens."""
        if id not in self._open:
            return False
        _, decided = self._open.pop(id)  # guards: first-decision-counts
        decided(decision)
        self._close(id, decision)
        return True

    def withdraw(self, id: str) -> None:
        """Close a question without a decision: the agent no longer asks."""
        if self._open.pop(id, None) is not None:
            self._close(id, None)

    @contextmanager
    def watched(self) -> Iterator[Watcher]:
        """Yield a queue of every change while the block lasts, after the questions open now."""
        watcher: Watcher = asyncio.Queue()
        watcher.put_nowait(Listed(questions=self.open))
        self._watchers.add(watcher)
        try:
            yield watcher
        finally:
            self._watchers.discard(watcher)

    def end(self) -> None:
        """There are no more questions: withdraw those that are open, and end every watcher."""
        for question in self.open:
            self.withdraw(question.id)
        for watcher in self._watchers:
            watcher.put_nowait(None)

    def _close(self, id: str, decision: Decision | None) -> None:
        closed = ClosedQuestion(id=id, decision=decision, closed_at=time.time())
        self._closed[id] = closed
        while len(self._closed) > _MOST_CLOSED:
            del self._closed[next(iter(self._closed))]
        self._report(Closed(question=closed))

    def _report(self, change: Changes) -> None:
        for watcher in [*self._watchers]:
            if watcher.qsize() < _MOST_WAITING:
                watcher.put_nowait(change)
            else:  # it does not read: it has to start again
                self._watchers.discard(watcher)
                watcher.put_nowait(None)
