"""The state that all requests share: shown runs, event stream, cached replies, the redactor."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from nightrook.model.redaction.redactor import Redactor
from nightrook.store.list import NewestFirst
from nightrook.web.live.event_stream import EventStream
from nightrook.web.live.live_runs import LiveRuns
from nightrook.web.replies import encoded, json_reply, redactor
from nightrook.web.reply_cache import ReplyCache
from nightrook.web.search_indexing import Indexing
from nightrook.web.shown_runs import ShownRun, ShownRuns


@dataclass
class AppState:
    """State of one server."""

    home: Path
    read_only: bool = False
    id: str = field(default_factory=lambda: token_hex(8))
    """Differs from that of every other server, and of the same one before a restart."""

    replies: ReplyCache = field(default_factory=ReplyCache)
    redactor: Redactor = field(default_factory=redactor)

    def __post_init__(self) -> None:
        self.used_at = time.monotonic()
        self.events = EventStream(self.redactor.data)
        self.runs = ShownRuns(self.home, self._changed)
        self.live_runs = LiveRuns(self.runs, self.events)
        self.indexing = Indexing(self.home)

    def _changed(self, shown: ShownRun) -> None:
        self.events.note(shown)
        if shown.is_complete:
            self.live_runs.ended(shown)

    @property
    def idle_s(self) -> float:
        """Seconds since a page last asked for anything or listened."""
        return 0.0 if self.events.listeners else time.monotonic() - self.used_at

    def has_live_runs(self) -> bool:
        """True if a run has no verdict yet."""
        return len(NewestFirst(self.home, only_unfinished=True)) > 0

    def hidden(self, value: Any) -> bytes:
        """Encode a value without secrets."""
        return self.redactor.data(encoded(value))  # guards: served-redacted

    def reply(self, value: Any, status: int = 200) -> Response:
        """Answer with a value without secrets."""
        return json_reply(self.hidden(value), status)

    async def close(self) -> None:
        """End everything that runs in the background."""
        self.indexing.close()
        await self.live_runs.close()
        self.runs.close()


def app_state(request: Request) -> AppState:
    """The state that a request belongs to."""
    state: AppState = request.app.state.shared
    state.used_at = time.monotonic()
    return state
