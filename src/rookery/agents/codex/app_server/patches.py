"""Reads changes to files, which the app server tells with their differences."""

from collections.abc import Iterator, Sequence

from rookery.agents.codex import tools
from rookery.agents.codex.app_server import shapes
from rookery.agents.codex.app_server.memory import Memory
from rookery.model.events import Event, FileChanged


def completed(memory: Memory, item: shapes.FileChange, line: bytes) -> Sequence[Event]:
    """Read which files were changed; of a change that failed nobody knows how far it came."""
    id = memory.item(item.id)
    status = tools.STATUSES.get(item.status, "error")
    events = memory.finish(id, status, name=tools.PATCH, kind="edit")
    if not events or status != "ok":
        return events
    return [*events, *(_changed(change, id) for change in item.changes or () if change.path)]


def changed_lines(change: shapes.Change) -> Iterator[str]:
    """The lines that a change adds (`+`) and takes away (`-`)."""
    kind = change.kind.type if change.kind else ""
    lines = (change.diff or "").removesuffix("\n").split("\n") if change.diff else []
    if kind in ("add", "delete"):  # then it is the whole text of the file
        mark = "+" if kind == "add" else "-"
        yield from (mark + line for line in lines)
        return
    hunk = False
    for line in lines:
        hunk = hunk or line.startswith("@@")
        if hunk and line[:1] in ("+", "-"):
            yield line


def _changed(change: shapes.Change, id: str) -> FileChanged:
    kind = change.kind or shapes.Kind()
    lines = [line[0] for line in changed_lines(change)]
    told = change.diff is not None
    return FileChanged(
        path=kind.move_path or change.path or "",
        change="move" if kind.move_path else tools.CHANGES.get(kind.type),
        added=lines.count("+") if told else None,
        removed=lines.count("-") if told else None,
        tool_id=id,
    )
