"""Reads changes to files, which the app server reports with their diffs."""

from collections.abc import Iterator, Sequence

from nightrook.agents.codex import tools
from nightrook.agents.codex.app_server import shapes
from nightrook.agents.codex.app_server.memory import Memory
from nightrook.model.events import Event, FileChanged


def completed(memory: Memory, item: shapes.FileChange, line: bytes) -> Sequence[Event]:
    """Read which files were changed; a failed change does not say which ones it reached."""
    id = memory.item(item.id)
    status = tools.STATUSES.get(item.status, "error")
    events = memory.finish(id, status, name=tools.PATCH, kind="edit")
    if not events or status != "ok":
        return events
    return [*events, *(_changed(change, id) for change in item.changes or () if change.path)]


def changed_lines(change: shapes.Change) -> Iterator[str]:
    """The lines that a change adds (`+`) and removes (`-`)."""
    kind = change.kind.type if change.kind else ""
    lines = (change.diff or "").removesuffix("\n").split("\n") if change.diff else []
    if kind in ("add", "delete"):  # the diff is the whole text of the file
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
    has_diff = change.diff is not None
    return FileChanged(
        path=kind.move_path or change.path or "",
        change="move" if kind.move_path else tools.CHANGES.get(kind.type),
        added=lines.count("+") if has_diff else None,
        removed=lines.count("-") if has_diff else None,
        tool_id=id,
    )
