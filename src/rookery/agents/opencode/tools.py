"""OpenCode's tools: what kind each is, a title for a call, and what it did to files and plan."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from rookery.adapter import salvage
from rookery.adapter.titles import first_short_string
from rookery.agents.opencode import shapes
from rookery.agents.opencode.shapes import NOTHING, ToolState
from rookery.model.events import Change, Event, FileChanged, PlanChanged, PlanItem, ToolKind
from rookery.model.text import one_line

KINDS: Mapping[str, ToolKind] = {
    "read": "read",
    "list": "list",
    "glob": "search",
    "grep": "search",
    "lsp": "search",
    "codesearch": "search",
    "edit": "edit",
    "multiedit": "edit",
    "write": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "bash": "execute",
    "webfetch": "fetch",
    "websearch": "fetch",
    "task": "subagent",
    "todowrite": "plan",
    "todoread": "plan",
    "plan_enter": "plan",
    "plan_exit": "plan",
    "question": "ask",
    "skill": "skill",
}
"""The kind of each built-in tool; any other is `other`: a server's, or one of the user's own.

A server's tool is called SERVER_TOOL, and nothing says where the one ends and the other begins.
"""

CHANGING: frozenset[ToolKind] = frozenset({"edit", "plan"})
"""The kinds of tools that change files or the plan."""

_CHANGES: Mapping[str | None, Change] = {
    "add": "add",
    "update": "modify",
    "delete": "delete",
    "move": "move",
}
_REPORT = re.compile(r"<task_result>\n(.*)\n</task_result>", re.DOTALL)
_NOTE_END = "\n</shell_metadata>"
_NOTE = re.compile(rf"<shell_metadata>\n([^<]*){_NOTE_END}\s*$")
_LONGEST_TITLE = 1000
_SEEN_FROM_PROJECT = frozenset({"edit", "list", "read"})


_input_decoder = msgspec.json.Decoder(shapes.TellingInput)
_written_decoder = msgspec.json.Decoder(shapes.WrittenInput)


def title(kind: ToolKind, state: ToolState) -> str | None:
    """Say in one line what a call is about: its command, path, pattern or address.

    OpenCode gives a title of its own to most calls that worked; of files it is the path seen
    from the project.
    """
    files = state.metadata.files
    if files and kind == "edit":  # the title of a patch is all of its output
        return one_line(", ".join(f.relativePath or "" for f in files), _LONGEST_TITLE)
    if kind == "other":
        return None if state.input is NOTHING else first_short_string(state.input)
    if kind in _SEEN_FROM_PROJECT and state.title:
        return one_line(_seen_path(state.title, state), _LONGEST_TITLE)
    words = _words(state) or state.title
    return one_line(words, _LONGEST_TITLE) if words else None


def report(output: str | None) -> str | None:
    """What a subagent reported, without what is wrapped around it for the model."""
    found = _REPORT.search(output or "")
    return found[1] if found else output


def note(output: str | None) -> str | None:
    """Why a command did not end by itself, as the shell tool adds it to the output."""
    # The expression alone would look at every character of a long output.
    if not output or not output.rstrip().endswith(_NOTE_END):
        return None
    found = _NOTE.search(output)
    return found[1] if found else None


def consequences(name: str, id: str, state: ToolState) -> Iterator[Event]:
    """What a call that worked did to files and the plan."""
    told = state.metadata
    if told.todos is not None and name == "todowrite":
        items = (PlanItem(text=t.content, status=t.status) for t in told.todos if t.content)
        yield PlanChanged(items=tuple(items))
    elif told.filediff is not None and told.filediff.file:
        diff = told.filediff
        yield FileChanged(
            path=told.filediff.file,
            change="modify",
            added=diff.additions,
            removed=diff.deletions,
            tool_id=id,
        )
    elif told.filepath and name == "write":
        yield _written(told.filepath, id, state, new=told.exists is False)
    for file in told.files or () if KINDS.get(name) == "edit" else ():
        if file.filePath:
            yield FileChanged(
                path=file.movePath or file.filePath,
                change=_CHANGES.get(file.type),
                added=file.additions,
                removed=file.deletions,
                tool_id=id,
            )


def _written(path: str, id: str, state: ToolState, *, new: bool) -> FileChanged:
    """A file that was written whole; what it replaced is not told."""
    if not new:
        return FileChanged(path=path, change="modify", tool_id=id)
    input = None if state.input is NOTHING else salvage.decode_part(state.input, _written_decoder)
    text = input.content if input else None
    added = None
    if text is not None:
        added = text.count("\n") + (text != "" and not text.endswith("\n"))
    return FileChanged(path=path, change="add", added=added, removed=0, tool_id=id)


def _seen_path(title: str, state: ToolState) -> str:
    """The path of a file as OpenCode titles it, or whole if that only looks relative.

    Outside of a repository it is seen from the root.
    """
    told = state.metadata
    path = told.filediff.file if told.filediff else told.filepath
    return f"/{title}" if (path or _words(state)) == f"/{title}" else title


def _words(state: ToolState) -> str | None:
    known = None if state.input is NOTHING else salvage.decode_part(state.input, _input_decoder)
    return known.words if known else None
