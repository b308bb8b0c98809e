"""What all requests share: the runs, the bell, answers that were made, and what hides secrets."""

import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from nightrook.model.redaction.redactor import Redactor
from nightrook.store.list import NewestFirst
from nightrook.web.live.bell import Bell
from nightrook.web.live.follower import Follower
from nightrook.web.replies import encoded, json_reply, redactor
from nightrook.web.shown_runs import ShownRun, ShownRuns
from nightrook.web.views.cache import Answers

if TYPE_CHECKING:
    from nightrook.web.search.indexing import Indexing


@dataclass
class Site:
    """One server."""

    home: Path
    read_only: bool = False
    id: str = field(default_factory=lambda: token_hex(8))
    """Differs from that of every other server, and of the same one before a restart."""

    answers: Answers = field(default_factory=Answers)
    redactor: Redactor = field(default_factory=redactor)

    def __post_init__(self) -> None:
        self.used_at = time.monotonic()
        self.bell = Bell(self.redactor.data)
        self.runs = ShownRuns(self.home, self._changed)
        self.follower = Follower(self.runs, self.bell)

    def _changed(self, shown: ShownRun) -> None:
        self.bell.note(shown)
        if shown.is_complete:
            self.follower.ended(shown)

    @cached_property
    def indexing(self) -> "Indexing":
        """What fills the index of words."""
        from nightrook.web.search.indexing import Indexing  # it imports a lot, and few ask for it

        return Indexing(self.home)

    @property
    def idle_s(self) -> float:
        """How long no page has asked for anything, nor listened."""
        return 0.0 if self.bell.listeners else time.monotonic() - self.used_at

    def has_live_runs(self) -> bool:
        """Whether a run has no verdict yet."""
        return len(NewestFirst(self.home, only_unfinished=True)) > 0

    def hidden(self, value: Any) -> bytes:
        """Encode without secrets."""
        return self.redactor.data(encoded(value))  # guards: served-redacted

    def reply(self, value: Any, status: int = 200) -> Response:
        """Answer without secrets."""
        return json_reply(self.hidden(value), status)

    async def close(self) -> None:
        """End everything."""
        if "indexing" in self.__dict__:
            self.indexing.close()
        await self.follower.close()
        self.runs.close()


def site_of(request: Request) -> Site:
    """The site that a request belongs to."""
    site: Site = request.app.state.site
    site.used_at = time.monotonic()
    return site
