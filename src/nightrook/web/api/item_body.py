"""The bulky parts of an item, read from the raw log when it is opened."""

import asyncio
import difflib
from collections.abc import Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nightrook import agents
from nightrook.adapter.agent import Replacement, no_replacements
from nightrook.model.events import ToolStarted
from nightrook.model.redaction.redactor import Redactor
from nightrook.model.text import encodable
from nightrook.model.timeline import Item
from nightrook.store.logs import Stream
from nightrook.story.item_bodies import Body, run_bodies
from nightrook.story.tail import log_size, read_at
from nightrook.web.api.parameters import choice, number, path_number
from nightrook.web.app_state import app_state
from nightrook.web.replies import ApiError, encoded, json_reply
from nightrook.web.shown_runs import ShownRun

_MOST = 65_536  # characters of a part, or bytes of plain text
_RAW = ("unknown", "unreadable")  # kinds of items that have nothing but their line
_LARGEST_RAW = 1 << 20
_PARTS = ("text", "input", "output", "error", "diff")

Parts = dict[str, str | None]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a part."""

    text: str
    size: int
    """Characters of the whole part."""

    offset: int = 0
    truncated: bool = False


async def body(request: Request) -> Response:
    """`GET /api/runs/R/items/ID/body`."""
    state = app_state(request)
    shown = await state.runs.get(request.path_params["run"])
    id = path_number(request, "item")
    await shown.caught_up(lambda: len(shown.timeline.items) > id)
    if id >= len(shown.timeline.items):
        raise ApiError(
            404, f"run {shown.name} has no item {id}: it has {len(shown.timeline.items)}"
        )
    item, offset = shown.timeline.items[id], number(request, "offset", 0)
    parts = await asyncio.to_thread(_read, shown, item, state.redactor)
    if "part" not in request.query_params:
        return json_reply(encoded({name: _piece(text) for name, text in parts.items()}))
    name = choice(request, "part", _PARTS, "text")
    text = parts.get(name)
    if text is None:
        raise ApiError(404, f"item {id} of run {shown.name} has no {name}: leave `part` out")
    return json_reply(encoded(_piece(text, offset)))


def _piece(text: str | None, offset: int = 0) -> Part | None:
    if text is None:
        return None
    piece = text[offset : offset + _MOST]
    rest = offset + len(piece) < len(text)
    return Part(text=piece, size=len(text), offset=offset, truncated=rest)


def _read(shown: ShownRun, item: Item, redactor: Redactor) -> Parts:
    """Read all parts of an item, without secrets: they are hidden before anything is cut."""
    agent = shown.story.agent
    if item.kind in _RAW:
        parts: Parts = {**dict.fromkeys(_PARTS), "text": _raw_line(shown, item)}
    else:
        parts = _parts(run_bodies(shown.folder.path, agent).read(item), _replacements(agent))
    return {  # guards: bodies-redacted
        name: None if text is None else redactor.text(encodable(text))
        for name, text in parts.items()
    }


def _parts(found: Body, replacements: Callable[[ToolStarted], tuple[Replacement, ...]]) -> Parts:
    start = found.start if isinstance(found.start, ToolStarted) else None
    input = None if start is None or start.input is None else bytes(start.input)
    edits = replacements(start) if start else ()
    return {
        "text": found.text,
        "input": None if input is None else input.decode("utf-8", "replace"),
        "output": found.result.output if found.result else None,
        "error": found.result.error if found.result else None,
        "diff": "\n".join(line for edit in edits for line in _compared(edit)) if edits else None,
    }


def _replacements(agent: str | None) -> Callable[[ToolStarted], tuple[Replacement, ...]]:
    return agents.agent(agent).replacements if agent else no_replacements


def _compared(edit: Replacement) -> list[str]:
    """A unified diff of an edit, without the names of files."""
    before, after = edit.before.split("\n"), edit.after.split("\n")
    if not edit.before:
        return [f"@@ -0,0 +1,{len(after)} @@", *(f"+{line}" for line in after)]
    return list(difflib.unified_diff(before, after, lineterm="", n=3))[2:]


def _raw_line(shown: ShownRun, item: Item) -> str | None:
    """The line that could not be read, as far as it is worth showing."""
    if item.place is None:
        return None
    size = min(item.place.length, _LARGEST_RAW)
    line = read_at(shown.folder.path, "stdout", item.place.offset, size)
    cut = item.place.length - len(line)
    note = f"\n… {cut} more bytes in stdout.raw, at byte {item.place.offset}" if cut > 0 else ""
    return line.decode("utf-8", "replace").rstrip("\n") + note


async def text(request: Request) -> Response:
    """`GET /api/runs/R/text`."""
    state = app_state(request)
    shown = await state.runs.get(request.path_params["run"])
    is_stdout = choice(request, "stream", ("stdout", "stderr"), "stderr") == "stdout"
    stream: Stream = "stdout" if is_stdout else "stderr"
    offset = number(request, "offset", 0)
    if is_stdout:
        await shown.caught_up()
        size = shown.story.feed.text_size
    else:
        size = log_size(shown.folder.path, "stderr")
    data = read_at(shown.folder.path, stream, offset, min(_MOST, max(0, size - offset)))
    end = offset + len(data)
    if end < size and (cut := data.rfind(b"\n") + 1):
        data, end = data[:cut], offset + cut
    words = state.redactor.text(data.decode("utf-8", "replace"))
    return json_reply(encoded({"text": words, "offset": offset, "next": end, "size": size}))


ROUTES = [
    Route("/api/runs/{run}/items/{item}/body", body),
    Route("/api/runs/{run}/text", text),
]
