"""The tools: their kinds, titles of calls, and their changes to files and plan.

There is no `Tools`: the agent makes the titles of most calls itself, and names do not show which
server a tool belongs to.
"""

import re
from collections.abc import Iterator, Mapping

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.shapes import NOTHING
from nightrook.adapter.tools import first_of, informing_string
from nightrook.agents.opencode import shapes
from nightrook.agents.opencode.shapes import ToolState
from nightrook.model.events import Change, Event, FileChanged, PlanChanged, PlanItem, ToolKind
from nightrook.model.text import one_line

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
"""The kind of each built-in tool; any other is `other`: an MCP server's, or the user's own.

A server's tool is called SERVER_TOOL, and both names may contain underscores.
"""

KILO_KINDS: Mapping[str, ToolKind] = {
    **KINDS,
    "background_process": "execute",
    "kilo_local_recall": "search",
    "semantic_search": "search",
    "goal": "plan",
}
"""The same for Kilo CLI's tools."""

_UNAVAILABLE = re.compile(r"Model tried to call unavailable tool '([^']+)'\. Available tools: (.*)")
_ALWAYS_OFFERED = frozenset({"bash", "glob", "grep", "read", "task", "todowrite", "webfetch"})
_EDITING = frozenset({"edit", "write"})  # offered to models that do not get `apply_patch`


def forbidden_tool(name: str | None, state: ToolState) -> str | None:
    """The tool that a model called though a rule forbids it; None if that is not what happened.

    Such a tool is not offered to the model, and the tool `invalid` answers (case tool_forbidden),
    or the call fails under its own name (case perm_denied_cfg).
    """
    answer = state.output if name == "invalid" else state.error
    match = _UNAVAILABLE.search(answer) if answer else None
    if match is None:
        return None
    tool, others = match[1], match[2].removesuffix(".").split(", ")
    offered = tool in _ALWAYS_OFFERED or (tool in _EDITING and "apply_patch" not in others)
    return tool if offered else None


CHANGING: frozenset[ToolKind] = frozenset({"edit", "plan"})
"""The kinds of tools that change files or the plan."""

_CHANGES: Mapping[str | None, Change] = {
    "add": "add",
    "update": "modify",
    "delete": "delete",
    "move": "move",
}
_REPORT, _REPORT_END = "<task_result>\n", "\n</task_result>"
_NOTE_END = "\n</shell_metadata>"
_NOTE = re.compile(rf"<shell_metadata>\n([^<]*){_NOTE_END}\s*$")
_LONGEST_TITLE = 1000
_RELATIVE = frozenset({"edit", "list", "read"})  # kinds whose titles are relative paths
_TITLE_FIELDS = (
    *("command", "filePath", "pattern", "url", "query"),
    *("description", "path", "name"),
)
_written_decoder = msgspec.json.Decoder(shapes.WrittenInput)


def title(kind: ToolKind, state: ToolState) -> str | None:
    """Return a one-line title for a call: its command, path, pattern or URL.

    The agent adds a title to most successful calls; for files it is the path relative to the
    project.
    """
    files = state.metadata.files
    if files and kind == "edit":  # the agent's title of a patch is its whole output
        return one_line(", ".join(f.relativePath or "" for f in files), _LONGEST_TITLE)
    if kind == "other":
        return informing_string(state.input)
    if kind in _RELATIVE and state.title:
        return one_line(_path(state.title, state), _LONGEST_TITLE)
    text = first_of(state.input, *_TITLE_FIELDS) or state.title
    return one_line(text, _LONGEST_TITLE) if text else None


def report(output: str | None) -> str | None:
    """A subagent's report, without the tags around it."""
    # A regular expression with `.*` would search to the end from each of many beginnings.
    _, found, rest = (output or "").partition(_REPORT)
    # guards: task-result-linear
    report, ended, _ = rest.rpartition(_REPORT_END)
    return report if found and ended else output


def note(output: str | None) -> str | None:
    """The reason why a command was stopped, as the shell tool adds it to the output."""
    # The regular expression alone would scan every character of a long output.
    if not output or not output.rstrip().endswith(_NOTE_END):
        return None
    match = _NOTE.search(output)
    return match[1] if match else None


def changes(name: str, id: str, state: ToolState) -> Iterator[Event]:
    """Yield the changes that a successful call made: to files or the plan."""
    metadata = state.metadata
    if metadata.todos is not None and name == "todowrite":
        items = (PlanItem(text=t.content, status=t.status) for t in metadata.todos if t.content)
        yield PlanChanged(items=tuple(items))
    elif metadata.filediff is not None and metadata.filediff.file:
        diff = metadata.filediff
        yield FileChanged(
            path=metadata.filediff.file,
            change="modify",
            added=diff.additions,
            removed=diff.deletions,
            tool_id=id,
        )
    elif metadata.filepath and name == "write":
        yield _written(metadata.filepath, id, state, new=metadata.exists is False)
    for file in metadata.files or () if KINDS.get(name) == "edit" else ():
        if file.filePath:
            yield FileChanged(
                path=file.movePath or file.filePath,
                change=_CHANGES.get(file.type),
                added=file.additions,
                removed=file.deletions,
                tool_id=id,
            )


def _written(path: str, id: str, state: ToolState, *, new: bool) -> FileChanged:
    """A file that was written as a whole; the replaced content is not reported."""
    if not new:
        return FileChanged(path=path, change="modify", tool_id=id)
    input = None if state.input is NOTHING else salvage.decode_part(state.input, _written_decoder)
    text = input.content if input else None
    added = None
    if text is not None:
        added = text.count("\n") + (text != "" and not text.endswith("\n"))
    return FileChanged(path=path, change="add", added=added, removed=0, tool_id=id)


def _path(title: str, state: ToolState) -> str:
    """The path in the agent's title of a call, made absolute if it only looks relative.

    Outside of a repository its paths are relative to the root folder.
    """
    metadata = state.metadata
    path = metadata.filediff.file if metadata.filediff else metadata.filepath
    path = path or first_of(state.input, *_TITLE_FIELDS)
    return f"/{title}" if path == f"/{title}" else title
