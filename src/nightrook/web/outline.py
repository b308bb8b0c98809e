"""The shape of a timeline: a letter and a parent for each item, to lay out rows without them."""

from array import array

import msgspec

from nightrook.model.timeline import Item, ItemKind, Timeline

LETTERS: dict[ItemKind, str] = {
    "session": "s",
    "turn": "t",
    "message": "m",
    "text": "x",
    "thinking": "h",
    "tool": "o",
    "subagent": "a",
    "file": "f",
    "task": "k",
    "retry": "r",
    "limit": "l",
    "denial": "d",
    "question": "q",
    "error": "e",
    "notice": "n",
    "compaction": "c",
    "model": "M",
    "mode": "p",
    "unknown": "u",
    "unreadable": "U",
}
_GOOD = ("ok", "completed", "allowed", "info", "success")
_SPANS = ("turn", "tool", "subagent", "task", "question", "retry")


class Shape(msgspec.Struct, frozen=True):
    """The items from a number on: what they are, how they stand, and in which they happened."""

    kinds: str
    states: str
    parents: list[int]


class Outline:
    """Follows a timeline, and reads each change of it once."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._revision = 0
        self._kinds = bytearray()
        self._states = bytearray()
        self._parents = array("i")

    def since(self, first: int) -> Shape:
        """The shape of the items from a number on, as they are now."""
        changed = self._timeline.changes(self._revision)
        self._revision = self._timeline.revision
        missing = len(self._timeline.items) - len(self._kinds)
        self._kinds += bytes(missing)
        self._states += bytes(missing)
        self._parents.extend([-1] * missing)
        for item in changed:
            self._kinds[item.id] = ord(LETTERS[item.kind])
            self._states[item.id] = ord(_state(item))
            self._parents[item.id] = -1 if item.parent is None else item.parent
        return Shape(
            self._kinds[first:].decode(),
            self._states[first:].decode(),
            self._parents[first:].tolist(),
        )


def _state(item: Item) -> str:
    """Return `-` for an open item, `!` for one that failed, `.` for the others."""
    if item.kind in ("denial", "error", "unreadable"):
        return "!"
    if item.kind not in _SPANS:
        return "."
    if item.status is None:
        return "-"
    return "." if item.status in _GOOD else "!"
