"""A run as a page: the prompt, every step with its diff, the answer."""

import difflib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

import msgspec

from nightrook.adapter.agent import Replacement
from nightrook.display import event_lines, numbers
from nightrook.display.console import Paint
from nightrook.display.decisions import decided_on
from nightrook.display.event_lines import Call, RunContext, ShownTexts
from nightrook.display.markdown_to_terminal import markdown_to_terminal
from nightrook.display.spending import TurnUse
from nightrook.display.terminal import Layout
from nightrook.model.events import (
    Error,
    Event,
    PermissionDenied,
    SessionStarted,
    Text,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    UserMessage,
)
from nightrook.model.records import Record
from nightrook.model.safe import safe, safe_line
from nightrook.model.snapshot import RunningTool
from nightrook.model.timeline import Item, ItemKind
from nightrook.store.decisions import denied_by_person
from nightrook.story.story import Story

_FOLDED_LINES = 8  # of a diff or a prompt; `full` shows all
_INDENT = "    "
_SIGNS = {"+": "added", "-": "removed", "@": "hunk"}


class Heading(msgspec.Struct, frozen=True, kw_only=True):
    """The heading of a page."""

    run: str
    """The name of the run or session."""

    kind: Literal["run", "session"] = "run"
    prompt: str | None = None
    started_at: float | None = None
    command: str | None = None
    progress: str | None = None
    """Duration and cost so far of a run that is running."""


class PageOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options for the length and detail of a page."""

    width: int
    verbose: bool = False
    full: bool = False
    """Whole texts, inputs and outputs."""

    home: str | None = None
    """The folder that is shown as `~`."""

    prompts: bool = False
    """True to show the user's messages: in a session, more than its first prompt."""

    now: float | None = None
    """The time, if the run is running: then a call without an end is running, too."""


class Page:
    """Turns a story into the lines of a page, each safe to print.

    `redact` takes the secrets out of texts. `turns` are what each turn used, if that is shown.
    """

    def __init__(
        self,
        story: Story,
        options: PageOptions,
        *,
        paint: Paint,
        redact: Callable[[str], str],
        turns: Sequence[TurnUse] | None = None,
    ) -> None:
        folder = story.folder
        self._agent = safe_line(story.label or "raw")
        self._story = story
        self.options = options
        self.paint = paint
        self._context = RunContext(
            cwd=story.cwd,
            snapshot=story.snapshot,
            redact=redact,
            denied_by_person=partial(denied_by_person, folder) if folder else frozenset,
        )
        self._decisions = story.decisions()
        self._layout = Layout(self._agent, lambda: options.width, paint, self._context.redact)
        self._layout.cwd = self._context.cwd
        self._rook = paint("prefix", "[rook]") + " "
        self._has_head = False
        self._calls: dict[int, Call] = {}  # those that others refer to
        self._changes: dict[int, list[tuple[int | None, int | None]]] = {}
        self._turn: Item | None = None
        self._turns = turns
        self._ended_turns = 0

    def head(self, heading: Heading) -> Iterator[str]:
        """Yield the prompt, and when the run started."""
        moment = heading.started_at
        when = "" if moment is None else time.strftime("%a %d %b %Y %H:%M", time.localtime(moment))
        name = f"{heading.kind} {safe_line(heading.run)}"
        yield self.paint("strong", name) + (f" · {when}" if when else "")
        if heading.progress is not None:
            yield self._rook + self.paint("tool", heading.progress)
        if prompt := heading.prompt or heading.command:
            yield from self._block(prompt)
        yield self._rule()

    def say(self, words: str) -> str:
        """A line of rook's own."""
        return self._rook + words

    def lines(self) -> Iterator[str]:
        """Yield the lines of all items; inputs, outputs and long texts only in full."""
        denied, items = set(), self._story.timeline.items
        for item in items:
            if item.kind == "file" and item.parent is not None:
                self._changes.setdefault(item.parent, []).append((item.added, item.removed))
            elif item.kind == "denial" and item.parent is not None:
                denied.add(item.parent)
        for item in items:
            if item.id not in denied:
                yield from self._item(item)
            else:
                self._call(item)
        yield from self._end_turn(None)

    def answer(self, text: str | None) -> Iterator[str]:
        """Yield the agent's answer, formatted."""
        if text and text.strip():
            yield self._rule()
            width = self.options.width
            yield from markdown_to_terminal(text, width=width, colour=self.paint.colour).split("\n")
            yield self._rule()

    def _item(self, item: Item) -> Iterator[str]:
        match item.kind:
            case "session":
                yield from self._session(item)
            case "turn":
                yield from self._end_turn(item)
            case "tool" | "subagent":
                yield from self._tool(item)
            case "text" | "thinking":
                yield from self._said(item)
            case "message":
                yield from self._prompt(item)
            case "denial" | "error":
                yield from self._failure(item)
            case "question":
                yield from (self._rook + line for line in decided_on(item.key, self._decisions))
            case _:
                yield from self._note(item)

    def _failure(self, item: Item) -> Iterator[str]:
        event = _event(item)
        if isinstance(event, PermissionDenied):
            call = self._calls.get(-1 if item.parent is None else item.parent)
            by_person = self._context.is_by_person(event)
            yield from self._layout.render(
                event_lines.denied(event, call, by_person=by_person), call
            )
        elif isinstance(event, Error):
            yield from self._layout.render(event_lines.error(event))

    def _session(self, item: Item) -> Iterator[str]:
        self._layout.cwd = item.detail or self._layout.cwd
        if self._has_head:
            return
        self._has_head = True
        session = SessionStarted(version=item.name, model=item.title)
        cwd, home = self._layout.cwd, self.options.home
        heading = self._context.heading(session, self._agent, cwd=cwd, home=home)
        yield self._rook + safe_line(heading)

    def _end_turn(self, following: Item | None) -> Iterator[str]:
        """Yield how the last turn ended, before the next one."""
        ended, self._turn = self._turn, following
        if ended is not None and self._turns is not None:
            yield from self._turn_use(ended, self._turns)
        elif ended is not None and ended.status in ("ok", "error"):
            event = TurnFinished(
                ok=ended.status == "ok",
                errors=(ended.detail,) if ended.detail else None,
                cost_usd=ended.cost_usd,
            )
            yield from self._layout.render(event_lines.ending(event, self._context.cost))

    def _turn_use(self, turn: Item, uses: Sequence[TurnUse]) -> Iterator[str]:
        """Yield the reason why a turn failed, and its usage."""
        if turn.status == "error":
            failed = TurnFinished(ok=False, errors=(turn.detail,) if turn.detail else None)
            yield from self._layout.render(event_lines.ending(failed, self._context.cost))
        self._ended_turns += 1
        used = uses[self._ended_turns - 1].words if self._ended_turns <= len(uses) else ()
        if used:
            yield self._rook + self.paint("aside", f"turn {self._ended_turns}: {' · '.join(used)}")

    def _prompt(self, item: Item) -> Iterator[str]:
        """Yield the user's message; the input of a program or a subagent only in full."""
        full = self.options.full
        if not self.options.prompts or not (item.title or "").strip():
            return
        body = self._story.body(item)
        is_typed = not (isinstance(body.start, UserMessage) and body.start.synthetic)
        if not full and (item.parent is not None or not is_typed):
            return
        lines = _lines(self._context.redact(body.text or item.title or ""))
        most = len(lines) if full else _FOLDED_LINES
        for number, line in enumerate(lines[:most]):
            yield self.paint("strong", ("  " if number else "> ") + line)
        if len(lines) > most:
            yield self.paint("aside", f"  … {len(lines) - most} more (--full)")

    def _call(self, item: Item) -> Call:
        """Return what a call is about, and remember it for the items that refer to it."""
        tool = RunningTool(
            id=str(item.id),
            name=item.name,
            kind=item.tool,
            title=item.title,
            parent=None if item.parent is None else str(item.parent),
        )
        call = self._calls[item.id] = event_lines.call(tool, item.begin, self._layout.cwd)
        if item.kind == "subagent":
            self._layout.subagents[tool.id] = call
        return call

    def _tool(self, item: Item) -> Iterator[str]:
        call = self._call(item)
        ended = None if item.status is None else _event(item)
        if item.status == "cancelled" and isinstance(ended, ToolFinished):
            yield from self._layout.render(event_lines.cancelled(ended, call), call)
            return
        changed = numbers.changed_in_all(self._changes.get(item.id, []))
        aside = (item.subagent, changed, self._took(item, call))
        yield from self._layout.render(call.line(*filter(None, aside)), call)
        if item.status in event_lines.FAILED and isinstance(ended, ToolFinished):
            yield from self._layout.render(event_lines.failed(ended), call)
        yield from self._body(item, call)

    def _took(self, item: Item, call: Call) -> str | None:
        if item.status == "orphaned":
            return "cut off"
        if item.status is None and self.options.now is not None:
            return " ".join(filter(None, ("running", event_lines.took(call, self.options.now))))
        shortest = 0.1 if self.options.verbose else 1.0  # seconds; shorter times are left out
        return event_lines.took(call, item.end, shortest=shortest)

    def _body(self, item: Item, call: Call) -> Iterator[str]:
        """Yield the input and output of a call; folded, only its changes."""
        full, verbose = self.options.full, self.options.verbose
        if not full and not verbose and item.tool != "edit":
            return
        body = self._story.body(item)
        started = body.start if isinstance(body.start, ToolStarted) else None
        edits = self._story.replacements(started) if started else ()
        if edits and (full or item.status == "ok"):
            yield from self._difference(edits)
        elif full and started and started.input is not None:
            yield from self._block(readable(started.input))
        result = body.result
        if full and result is not None:
            yield from self._output((result.output if item.status == "ok" else result.error) or "")
        elif result is not None and item.status == "ok":
            line = event_lines.output(result) if verbose else None
            yield from self._layout.render(line, call) if line else ()

    def _said(self, item: Item) -> Iterator[str]:
        if not (item.title or "").strip():
            return
        event = _event(item)
        if self.options.full:
            style = "text" if item.kind == "text" else "aside"
            for line in _lines(self._story.body(item).text or item.title or ""):
                yield self.paint(style, line)
        elif isinstance(event, Text):
            parent = None if item.parent is None else str(item.parent)
            texts = ShownTexts(verbose=self.options.verbose)
            whole = self._story.body(item).text if self.options.verbose else None
            for part in texts.lines(whole or event.text, self._context.redact):
                yield from self._layout.render(part, parent=parent)
        else:
            yield from self._note(item)

    def _note(self, item: Item) -> Iterator[str]:
        """Yield a line that only --verbose shows, except for notices for every user."""
        event = _event(item)
        if event is None:
            return
        place = item.place
        offset, length = (place.offset, place.length) if place else (0, 0)
        record = Record(item.seq, item.begin, offset, length, event)
        if warning := event_lines.warning(record):
            yield self._rook + self.paint("error", f"WARNING: {warning}")
            return
        for line in event_lines.details(record, verbose=self.options.verbose):
            yield from self._layout.render(line)

    def _difference(self, edits: tuple[Replacement, ...]) -> Iterator[str]:
        lines = [line for edit in edits for line in compared(edit)]
        most = len(lines) if self.options.full else _FOLDED_LINES
        for line in lines[:most]:
            yield _INDENT + self.paint(_SIGNS.get(line[:1], "text"), safe(line).expandtabs())
        if left := len(lines) - most if len(lines) > most else 0:
            yield _INDENT + self.paint("aside", f"… {left} more (--full)")

    def _output(self, said: str) -> Iterator[str]:
        if not said.strip():
            return
        lines = _lines(said)
        is_difference = any(line.startswith("@@ -") for line in lines)
        for line in lines:
            style = _SIGNS.get(line[:1], "aside") if is_difference else "aside"
            yield _INDENT + self.paint(style, line)

    def _block(self, text: str) -> Iterator[str]:
        for line in _lines(text):
            yield _INDENT + line

    def _rule(self) -> str:
        return self.paint("aside", "─" * self.options.width)


def _lines(text: str) -> list[str]:
    """The lines of an agent's text, each safe to print."""
    return safe(text).expandtabs().strip("\n").split("\n")


def compared(edit: Replacement) -> Iterator[str]:
    """The changed lines of a diff, without its headers."""
    before, after = edit.before.split("\n"), edit.after.split("\n")
    if not edit.before:
        yield from (f"+{line}" for line in after)
        return
    for line in difflib.unified_diff(before, after, lineterm="", n=2):
        if not line.startswith(("---", "+++", "@@")):
            yield line


def readable(input: msgspec.Raw) -> str:
    """A tool's input for people: one name per line, texts as they are."""
    try:
        value = json.loads(bytes(input))
    except (ValueError, RecursionError):
        return bytes(input).decode("utf-8", "replace")
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "\n".join(f"{name}: {_value(item)}" for name, item in value.items())


def _value(item: object) -> str:
    if isinstance(item, str):
        return item if "\n" not in item else "\n" + item
    return json.dumps(item, ensure_ascii=False)


def _event(item: Item) -> Event | None:
    """The event that an item was made from, as far as a line needs it."""
    fields = _FIELDS.get(item.kind)
    if fields is None:
        return None
    known = {name: getattr(item, source) for name, source in fields.items()}
    event = {"type": _TYPES[item.kind], "id": "", **known}
    made: Event = msgspec.convert({k: v for k, v in event.items() if v is not None}, Event)
    return made


_TYPES: Mapping[ItemKind, str] = {
    "tool": "tool_finished",
    "subagent": "tool_finished",
    "text": "text",
    "thinking": "thinking",
    "denial": "permission_denied",
    "error": "error",
    "retry": "retrying",
    "limit": "limit_reported",
    "compaction": "context_compacted",
    "model": "model_changed",
    "notice": "notice",
    "unknown": "unknown",
    "unreadable": "unreadable",
}
_TOOL = {"status": "status", "error": "detail", "exit_code": "exit_code", "name": "name"}
_FIELDS: Mapping[ItemKind, Mapping[str, str]] = {
    "tool": _TOOL,
    "subagent": _TOOL,
    "text": {"text": "title"},
    "thinking": {"text": "title"},
    "denial": {"tool_id": "key", "name": "name", "fix": "detail"},
    "error": {"kind": "name", "message": "title"},
    "retry": {"attempt": "number", "max_attempts": "of", "reason": "title"},
    "limit": {"window": "name", "status": "status", "used": "used"},
    "compaction": {"before_tokens": "number", "after_tokens": "of"},
    "model": {"before": "name", "after": "title", "reason": "detail"},
    "notice": {"level": "name", "text": "title"},
    "unknown": {"name": "title"},
    "unreadable": {"reason": "name", "preview": "title"},
}
"""Fields of each kind's event, and the fields of the item that hold them."""
