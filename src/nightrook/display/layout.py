"""The layout of a line on a terminal: prefix, bars of subagents, text, and the right side."""

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from nightrook.display.console import cells
from nightrook.display.console.paint import Paint
from nightrook.display.words import Call, Line, Role
from nightrook.model.safe import safe_line

_WIDEST = 100  # the right side would be too far from its line
_GAP = 2
_SIGNS = {"+": "added", "−": "removed"}


class _Row(NamedTuple):
    """A row of a line: what has the line's colour, the rest, and what is beside it."""

    head: str
    rest: str
    right: str


class Layout:
    """Lays out the lines of one agent, under the subagents that they belong to."""

    def __init__(
        self,
        agent: str,
        columns: Callable[[], int],
        paint: Paint,
        redact: Callable[[str], str] = str,
    ) -> None:
        self.cwd: str | None = None
        """The folder that paths are relative to."""
        self.subagents: dict[str, Call] = {}
        """The calls of subagents so far, by their ids."""
        self._agent = agent
        self._columns = columns
        self._paint = paint
        self._redact = redact
        self._prefix = paint("prefix", f"[{agent}]") + " "
        self._latest_parent: str | None = None

    def render(
        self, line: Line, call: Call | None = None, *, parent: str | None = None
    ) -> Iterator[str]:
        """A line as it is on the screen: prefix, bars, text and the right side.

        What is too long for it continues below, under its beginning.
        """
        parent = call.parent if call else parent
        bars = "│ " * self._depth(parent)
        right = "  ".join(self._asides(line, parent))
        head, rest = safe_line(line.head), safe_line(line.rest)
        indent = cells.width(f"[{self._agent}] {bars}")
        room = self._columns() - indent
        if cells.width(head + rest) + (cells.width(right) + _GAP if right else 0) > room:
            first, *more = self._rows(head, rest, right, room)
        else:
            first, more = _Row(head, rest, right), []
        path = call.path if call and line.role == "tool" else None
        start = self._prefix + self._paint("aside", bars)
        yield start + self._painted(first, line.role, path, indent) if head else start.rstrip()
        for row in more:
            yield " " * indent + self._painted(row, line.role, path, indent)

    def _rows(self, head: str, rest: str, right: str, room: int) -> list["_Row"]:
        """The rows of a line that is too long; a short right side stays beside the first."""
        text = self._redact(head + rest)  # before a break can split a secret
        blank = len(text) - len(text.lstrip())
        is_short = cells.width(right) <= room // 3
        beside = cells.width(right) + _GAP if right and is_short else 0
        left = len(head) if rest else len(text)
        rows: list[_Row] = []
        for part in cells.wrap(text.lstrip(), room - beside - blank):
            row = " " * blank + part
            rows.append(_Row(row[:left], row[left:], right if is_short and not rows else ""))
            left = max(0, left - len(row) - 1)
        return rows if is_short else [*rows, _Row("", "", right)]

    def _painted(self, row: "_Row", role: Role, path: str | None, indent: int) -> str:
        """A row in colours, the path in it linked."""
        about = row.rest.removeprefix(": ")
        painted = self._paint(role, row.head) + row.rest[: len(row.rest) - len(about)]
        painted += self._paint.link(about, os.path.join(self.cwd or "", path)) if path else about
        if not row.right:
            return painted
        if used := cells.width(row.head + row.rest):
            used += indent + cells.width(row.right)
            painted += " " * max(min(self._columns(), _WIDEST) - used, _GAP)
        return painted + self._beside(row.right, role)

    def _asides(self, line: Line, parent: str | None) -> list[str]:
        """The text beside a line; if several subagents work, also which one it was."""
        aside = [safe_line(part) for part in line.aside]
        if parent is not None and parent != self._latest_parent and len(self.subagents) > 1:
            known = self.subagents.get(parent)
            aside.append(safe_line(known.about) if known else "")
        self._latest_parent = parent
        return [part for part in aside if part]

    def _beside(self, right: str, role: Role) -> str:
        """The right side, dimmed; added and removed lines have their colours."""
        if role != "tool":
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
