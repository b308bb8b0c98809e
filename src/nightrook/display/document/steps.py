"""The steps of a document: the items of a timeline, with their input and output.

Everything in a step is text without secrets and control characters, but not escaped.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from nightrook.display import numbers
from nightrook.display.decisions import decided_on
from nightrook.display.event_lines import FAILED, PATHS, allowing_option, is_permission
from nightrook.display.page import compared, readable
from nightrook.display.reports.report import Report
from nightrook.display.spending import TurnUse
from nightrook.model.durations import duration, elapsed_s
from nightrook.model.events import ToolStarted
from nightrook.model.safe import safe, safe_line, uncoloured
from nightrook.model.text import cut, relative
from nightrook.model.timeline import Item, ItemKind
from nightrook.story.item_bodies import Body
from nightrook.story.story import Story

LONGEST_BLOCK = 100_000
"""Characters of one text, input or output; the rest is counted."""

MOST_TEXT = 48_000_000
"""Characters of all of them together."""

_LONGEST_TITLE = 400
_DEEPEST = 6
_SHORTEST_S = 0.1

State = Literal["good", "bad", "asks", "runs", "quiet"]
BlockKind = Literal["prose", "input", "output", "error", "change"]


class Block(NamedTuple):
    """A longer text that belongs to a step."""

    kind: BlockKind
    text: str
    left_out: int = 0
    """Number of characters missing at its end."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happened."""

    kind: ItemKind
    state: State = "quiet"
    label: str
    title: str = ""
    aside: tuple[str, ...] = ()
    """A few words each: what it changed, how it ended, how long it took."""

    at: float | None = None
    """Seconds after the first step."""

    blocks: tuple[Block, ...] = ()
    depth: int = 0
    inside: int = 0
    """Number of steps inside it; they follow, one level deeper."""


class Steps:
    """Makes the steps of a story for a document, one at a time.

    `redact` takes the secrets out of texts. `turns` are what each turn used, if turns are shown.
    """

    def __init__(
        self,
        story: Story,
        redact: Callable[[str], str],
        turns: Sequence[TurnUse] | None = None,
    ) -> None:
        self._story = story
        self._items = story.timeline.items
        self._redact = redact
        self._turns = turns
        self._decisions = story.decisions()
        self._left = MOST_TEXT
        self._began = next((item.begin for item in self._items if item.begin is not None), None)
        self._turn_numbers: dict[int, int] = {}
        self._changes: dict[int, list[tuple[int | None, int | None]]] = {}
        self._children: dict[int | None, list[int]] = {}
        self._sort()

    def __iter__(self) -> Iterator[Step]:
        """Yield each step before those that happened in it."""
        waiting = [(id, 0) for id in reversed(self._children.get(None, []))]
        while waiting:
            id, depth = waiting.pop()
            inside = self._children.get(id, [])
            deeper = depth + 1 if depth < _DEEPEST else depth  # guards: nesting-bounded
            waiting += [(child, deeper) for child in reversed(inside)]
            step = self._step(self._items[id])
            nested = len(inside) if deeper > depth else 0
            yield msgspec.structs.replace(step, depth=depth, inside=nested)

    def _sort(self) -> None:
        """Sort items by the one they happened in; a denied call is shown by its denial."""
        parents: dict[int, int | None] = {}
        denied: set[int] = set()
        for item in self._items:
            parent = item.parent if item.parent is not None and item.parent < item.id else None
            parents[item.id] = parent
            if item.kind == "turn" and self._turns is not None:
                self._turn_numbers[item.id] = len(self._turn_numbers)
            if item.kind == "denial" and parent is not None:
                denied.add(parent)
            elif item.kind == "file" and parent is not None:
                self._changes.setdefault(parent, []).append((item.added, item.removed))
        for item in self._items:
            parent = parents[item.id]
            while parent in denied:
                parent = parents[parent]
            is_shown = _is_shown(item) or item.id in self._turn_numbers
            if item.id not in denied and is_shown:
                self._children.setdefault(parent, []).append(item.id)

    def _step(self, item: Item) -> Step:
        label, state = _LABELS[item.kind]
        made = Step(
            kind=item.kind,
            state="bad" if item.status in FAILED or item.status == "error" else state,
            label=label,
            title=self._line(item.title or item.name or ""),
            at=elapsed_s(self._began, item.begin),
        )
        match item.kind:
            case "tool" | "subagent":
                return self._call(item, made)
            case "text" | "message" | "thinking":
                text = self._story.body(item).text or item.title or ""
                return _replaced(made, blocks=self._blocks(("prose", text)))
            case "turn" if item.id in self._turn_numbers:
                return self._counted_turn(item, made)
            case "denial":
                return self._denial(item, made)
            case "question":
                asked = next(decided_on(item.key, self._decisions), "")
                title = asked.removeprefix("asked: ") or item.title or ""
                return _replaced(made, title=self._line(title))
            case _:
                return _replaced(made, title=self._line(_words(item)), aside=_figures(item))

    def _counted_turn(self, item: Item, made: Step) -> Step:
        """Return a turn with its number, its usage, and its error if it failed."""
        number, uses = self._turn_numbers[item.id], self._turns or ()
        failed = item.status == "error"
        return _replaced(
            made,
            label=f"Turn {number + 1}" + (" failed" if failed else ""),
            state="bad" if failed else "quiet",
            title=self._line(_words(item)) if failed else "",
            aside=uses[number].words if number < len(uses) else (),
        )

    def _call(self, item: Item, made: Step) -> Step:
        title = item.title or ""
        body = self._story.body(item)
        if item.status == "ok":
            made = _replaced(made, state="good")
        elif item.status is None:
            made = _replaced(made, state="runs")
        return _replaced(
            made,
            label=self._line(item.name or "a tool"),
            title=self._line(relative(title, self._story.cwd) if item.tool in PATHS else title),
            aside=self._call_aside(item),
            blocks=self._blocks(*self._body(item, body)),
        )

    def _call_aside(self, item: Item) -> tuple[str, ...]:
        changed = numbers.changed_in_all(self._changes.get(item.id, []))
        code = None if item.exit_code in (None, 0) else f"exit {item.exit_code}"
        took = item.duration_s
        time = duration(took) if took is not None and took >= _SHORTEST_S else None
        how = {"orphaned": "cut off", None: "running"}.get(item.status)
        kind = self._line(item.subagent) if item.subagent else None
        return tuple(part for part in (kind, changed, code, how, time) if part)

    def _body(self, item: Item, body: Body) -> Iterator[tuple[BlockKind, str]]:
        started = body.start if isinstance(body.start, ToolStarted) else None
        edits = self._story.replacements(started) if started else ()
        for edit in edits:
            yield "change", "\n".join(compared(edit))
        if not edits and started and started.input is not None:
            yield "input", readable(started.input)
        if body.result is not None and item.status == "ok":
            yield "output", body.result.output or ""
        elif body.result is not None:
            yield "error", body.result.error or body.result.output or ""
        elif item.detail:
            yield "error", item.detail

    def _denial(self, item: Item, made: Step) -> Step:
        name, title = item.name or "a tool", item.title or ""
        how = item.detail or ""
        fix = f"allow it: {allowing_option(how)}" if how and not is_permission(how) else how
        words = f"{name}: {title}" if title and title != name else name
        return _replaced(made, title=self._line(words), aside=(self._line(fix),) if fix else ())

    def _line(self, text: str) -> str:
        # guards: document-lines-redacted
        return cut(safe_line(uncoloured(self._redact(text))).strip(), _LONGEST_TITLE)

    def _blocks(self, *found: tuple[BlockKind, str]) -> tuple[Block, ...]:
        """The texts as they are shown, cut where they or all of them are too long."""
        blocks = []
        for kind, text in found:
            # guards: document-texts-redacted
            clean = safe(uncoloured(self._redact(text))).expandtabs().strip("\n")
            if clean.strip():
                most = max(0, min(LONGEST_BLOCK, self._left))
                self._left -= min(len(clean), most)
                blocks.append(Block(kind, clean[:most], max(0, len(clean) - most)))
        return tuple(blocks)


def _is_shown(item: Item) -> bool:
    if item.kind == "file":
        return item.parent is None
    if item.kind == "turn":
        return item.status == "error"
    if item.kind in ("text", "thinking", "message"):
        return bool((item.title or "").strip())
    return not (item.kind == "limit" and item.status == "allowed")


def _words(item: Item) -> str:
    """Return the text of an item of a rarer kind."""
    match item.kind:
        case "session":
            parts = (item.title, item.name and f"version {item.name}", item.detail)
            return " · ".join(part for part in parts if part)
        case "turn":
            return item.detail or "it did not say why"
        case "compaction":
            before, after = (_known(number) for number in (item.number, item.of))
            return f"{before} to {after} tokens"
        case "model":
            return f"{item.name or '?'} to {item.title or '?'}"
        case "limit":
            return f"{(item.name or 'the limit').replace('_', ' ')}: {item.status or 'reported'}"
        case _:
            return item.title or item.name or ""


def _figures(item: Item) -> tuple[str, ...]:
    match item.kind:
        case "retry":
            most = f" of {item.of}" if item.of is not None else ""
            return () if item.number is None else (f"attempt {item.number}{most}",)
        case "limit":
            return () if item.used is None else (f"{item.used:.0%} used",)
        case "file":
            changed = numbers.changed_lines(item.added, item.removed)
            return (changed,) if changed else ()
        case _:
            return ()


def _known(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _replaced(step: Step, **fields: object) -> Step:
    return msgspec.structs.replace(step, **fields)


_LABELS: Mapping[ItemKind, tuple[str, State]] = {
    "session": ("Session", "quiet"),
    "turn": ("Turn failed", "bad"),
    "message": ("Prompt", "quiet"),
    "text": ("", "quiet"),
    "thinking": ("Thinking", "quiet"),
    "tool": ("", "quiet"),
    "subagent": ("", "quiet"),
    "file": ("File changed", "quiet"),
    "task": ("Task", "quiet"),
    "retry": ("Retry", "asks"),
    "limit": ("Limit", "asks"),
    "denial": ("Denied", "bad"),
    "question": ("Asked", "asks"),
    "error": ("Error", "bad"),
    "notice": ("Note", "quiet"),
    "compaction": ("Context compacted", "quiet"),
    "model": ("Model changed", "quiet"),
    "mode": ("Mode", "quiet"),
    "unknown": ("Unknown message", "quiet"),
    "unreadable": ("Not readable", "quiet"),
}


def document_object(
    report: Report, steps: Iterable[Step], turns: Sequence[TurnUse]
) -> dict[str, Any]:
    """Return the object; texts are without secrets, as in every document."""
    return {
        **msgspec.to_builtins(report),
        "turns": [_turn(number, use) for number, use in enumerate(turns, 1)],
        "steps": [msgspec.to_builtins(step) | _blocks(step) for step in steps],
    }


def _turn(number: int, use: TurnUse) -> dict[str, Any]:
    return {
        "turn": number,
        "tokens": use.tokens,
        "cost_usd": use.cost.usd,
        "cost_source": use.cost.source,
    }


def _blocks(step: Step) -> dict[str, Any]:
    return {"blocks": [block._asdict() for block in step.blocks]}
