"""The event stream of `GET /api/bell`: notifies each browser of changes, and holds no data."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from nightrook.web.replies import encoded
from nightrook.web.run_rows import beat
from nightrook.web.shown_runs import ShownRun

_PAUSE_S = 0.025  # between two announcements to one browser
_FURTHER_S = 0.005  # longer for each further one: each asks for what has changed
_LONGEST_PAUSE_S = 0.1
_HEARTBEAT_S = 15.0
MOST_LISTENERS = 32

Hide = Callable[[bytes], bytes]


def pause_s(listeners: int) -> float:
    """Return the seconds between two announcements."""
    return min(_LONGEST_PAUSE_S, _PAUSE_S + _FURTHER_S * max(0, listeners - 1))


class Listener:
    """One browser, with the events it was not sent yet, of each run only the latest."""

    def __init__(self) -> None:
        self.pending: dict[str, bytes] = {}
        self.wake = asyncio.Event()
        self.is_over = False

    def put(self, key: str, event: bytes) -> None:
        """Send an event, in place of an earlier one about the same."""
        self.pending.pop(key, None)
        self.pending[key] = event
        self.wake.set()

    def end(self) -> None:
        """End the stream."""
        self.is_over = True
        self.wake.set()

    async def events(self) -> AsyncIterator[bytes]:
        """Yield the events, and a heartbeat while there are none."""
        while not self.is_over:
            try:
                async with asyncio.timeout(_HEARTBEAT_S):
                    await self.wake.wait()
            except TimeoutError:
                yield b":\n\n"
                continue
            self.wake.clear()
            pending, self.pending = self.pending, {}
            if pending:
                yield b"".join(pending.values())


class EventStream:
    """Announces changes to all listeners, at most so often, each encoded once."""

    def __init__(self, hide: Hide) -> None:
        self.list_number = 0
        self.questions: list[dict[str, Any]] = []
        self._hide = hide
        self._listeners: set[Listener] = set()
        self._changed: dict[str, ShownRun] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._last = 0.0
        self._number = 0

    @property
    def listeners(self) -> int:
        """Number of browsers that listen."""
        return len(self._listeners)

    def join(self) -> Listener:
        """Listen from now on."""
        listener = Listener()
        self._listeners.add(listener)
        return listener

    def leave(self, listener: Listener) -> None:
        """Remove a listener."""
        self._listeners.discard(listener)

    def note(self, shown: ShownRun) -> None:
        """Announce that a run has changed."""
        if not self._listeners:
            return
        self._changed[shown.name] = shown
        if self._timer is None:
            loop = asyncio.get_running_loop()
            wait_s = max(0.0, self._last + pause_s(self.listeners) - loop.time())
            self._timer = loop.call_later(wait_s, self._announce)

    def gone(self, name: str) -> None:
        """Announce that a run was removed."""
        self._changed.pop(name, None)
        self._send(f"run {name}", "gone", {"name": name})

    def list_changed(self) -> None:
        """Announce that the lists of runs, loops or batches have changed."""
        self.list_number += 1
        self._send("list", "list", {"list": self.list_number})

    def asked(self, questions: list[dict[str, Any]]) -> None:
        """Announce which questions are open, if that has changed."""
        if questions != self.questions:
            self.questions = questions
            self._send("questions", "questions", {"questions": questions})

    def state(self, listener: Listener, server: str, now: float, runs: Iterable[ShownRun]) -> None:
        """Send a new listener all that is true now."""
        state = {
            "server": server,
            "now": now,
            "list": self.list_number,
            "runs": [beat(shown) for shown in runs],
            "questions": self.questions,
        }
        listener.put("state", self._event("state", state))

    def close(self) -> None:
        """End all streams."""
        if self._timer is not None:
            self._timer.cancel()
        for listener in self._listeners:
            listener.end()

    def _announce(self) -> None:
        self._timer = None
        self._last = asyncio.get_running_loop().time()
        changed, self._changed = self._changed, {}
        for shown in changed.values():
            self._send(f"run {shown.name}", "run", beat(shown))

    def _send(self, key: str, kind: str, data: Any) -> None:
        event = self._event(kind, data)
        for listener in self._listeners:
            listener.put(key, event)

    def _event(self, kind: str, data: Any) -> bytes:
        self._number += 1
        return b"id: %d\nevent: %b\ndata: %b\n\n" % (
            self._number,
            kind.encode(),
            self._hide(encoded(data)),
        )
