"""The layout of a line on a terminal: prefix, bars of subagents, text, and the right side."""

import os
from collections.abc import Callable, Iterator

from rookery.display.console import cells
from rookery.display.console.paint import Paint
from rookery.display.words import Call, Line
from rookery.model.safe import safe_line

_WIDEST = 100  # the right side would be too far from its line
_GAP = 2
_SIGNS = {"+": "added", "−": "removed"}


class Layout:
    """Lays out the lines of one agent, under the subagents that they belong to."""

    def __init__(self, agent: str, columns: Callable[[], int], paint: Paint) -> None:
        self.cwd: str | None = None
        """The folder that paths are relative to."""
        self.subagents: dict[str, Call] = {}
        """The calls of subagents so far, by their ids."""
        self._agent = agent
        self._columns = columns
        self._paint = paint
        self._prefix = paint("prefix", f"[{agent}]") + " "
        self._latest_parent: str | None = None

    def render(
        self, line: Line, call: Call | None = None, *, parent: str | None = None
    ) -> Iterator[str]:
        """A line as it is on the screen: prefix, bars, text and the right side.

        Words that are too long for it go on below, under their beginning.
        """
        parent = call.parent if call else parent
        bars = "│ " * self._depth(parent)
        right = "  ".join(self._asides(line, parent))
        head, rest = safe_line(line.head), safe_line(line.rest)
        columns = self._columns()
        used = cells.width(f"[{self._agent}] {bars}")
        if not rest and not right and used + cells.width(head) > columns:
            head, *more = cells.wrap(head, columns - used)
        else:
            more = []
        painted = self._paint("aside", bars) + self._paint(line.role, head)
        painted += self._linked(rest, call if line.role == "tool" else None)
        if right:
            used += cells.width(head + rest) + cells.width(right)
            painted += " " * max(min(columns, _WIDEST) - used, _GAP) + self._beside(right, line)
        yield self._prefix + painted
        for part in more:
            yield " " * used + self._paint(line.role, part)

    def _asides(self, line: Line, parent: str | None) -> list[str]:
        """The text beside a line; if several subagents work, also which one it was."""
        aside = [safe_line(part) for part in line.aside]
        if parent is not None and parent != self._latest_parent and len(self.subagents) > 1:
            known = self.subagents.get(parent)
            aside.append(safe_line(known.about) if known else "")
        self._latest_parent = parent
        return [part for part in aside if part]

    def _linked(self, rest: str, call: Call | None) -> str:
        if call is None or call.path is None:
            return rest
        about = self._paint.link(safe_line(call.about), os.path.join(self.cwd or "", call.path))
        return f": {about}"

    def _beside(self, right: str, line: Line) -> str:
        """The right side, dimmed; added and removed lines have their colours."""
        if line.role != "tool":
            return right
        parts = (self._paint(_SIGNS.get(part[:1], "aside"), part) for part in right.split(" "))
        return " ".join(parts)

    def _depth(self, parent: str | None) -> int:
        """How many subagents deep a call is."""
        depth, seen = 0, parent
        while seen is not None and depth < 8:
            depth += 1
            call = self.subagents.get(seen)
            seen = call.parent if call else None
        return depth
