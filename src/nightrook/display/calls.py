"""The tool calls of one stream: those that run and those that failed; lines that edits changed."""

from typing import NamedTuple

from nightrook.display import numbers, words
from nightrook.display.words import Call
from nightrook.model.events import FileChanged, ToolFinished, ToolStarted


class EndedCall(NamedTuple):
    """A call that has ended; `call` is None if its start was never seen."""

    finished: ToolFinished
    call: Call | None
    at: float | None
    changes: list[FileChanged]

    def counted(self) -> str:
        """The lines that it added and removed, in all files; empty if some were not counted."""
        return numbers.changed_in_all([(each.added, each.removed) for each in self.changes])

    def took(self, shortest: float) -> str:
        """How long it took; empty if that is unknown or shorter than so many seconds."""
        return words.took(self.call, self.at, shortest=shortest) or ""


class Calls:
    """Matches the ends of calls with their starts.

    An edit that has ended is held back until `release`, since the lines that it changed are
    reported after its end.
    """

    def __init__(self) -> None:
        self._open: dict[str, Call] = {}
        self._failed: dict[str, Call] = {}  # their turn's result may say that they were denied
        self._changes: dict[str, list[FileChanged]] = {}  # by call, until it ends
        self._held: EndedCall | None = None

    @property
    def is_holding(self) -> bool:
        """Whether an edit is held back."""
        return self._held is not None

    def start(self, event: ToolStarted, at: float | None, cwd: str | None) -> Call:
        """Note that a call runs."""
        call = self._open[event.id] = words.call(event, at, cwd)
        return call

    def finish(self, event: ToolFinished, at: float | None) -> EndedCall | None:
        """Note that a call has ended; None if it is held back."""
        call = self._open.pop(event.id, None)
        ended = EndedCall(event, call, at, self._changes.pop(event.id, []))
        if call and event.status in words.FAILED:
            self._failed[event.id] = call
        if call and call.kind == "edit" and event.status == "ok":
            self._held = ended
            return None
        return ended

    def count(self, change: FileChanged) -> None:
        """Note the lines that a call changed in one file."""
        id = change.tool_id
        if self._held is not None and id == self._held.finished.id:
            self._held.changes.append(change)
        elif id in self._open:
            self._changes.setdefault(id, []).append(change)

    def release(self) -> EndedCall | None:
        """The edit that is held back, if any; then none is."""
        held, self._held = self._held, None
        return held

    def find(self, id: str | None) -> Call | None:
        """A call that runs, or that failed in this turn."""
        return self._open.get(id or "") or self._failed.get(id or "")

    def end_turn(self) -> None:
        """Forget the calls that failed."""
        self._failed.clear()
