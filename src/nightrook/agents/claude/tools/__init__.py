"""Claude Code's tools: their kinds, titles of calls, and the rules that would allow them.

It has no `Tools`: a built-in tool called without its known inputs gets no title, where `Tools`
would take any field that informs, and the title of a question is inside a list.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.agent import Replacement
from nightrook.adapter.shapes import NOTHING
from nightrook.adapter.tools import first_of, informing_string, title_of
from nightrook.model.events import ToolKind, ToolStarted
from nightrook.model.text import one_line

KINDS: Mapping[str, ToolKind] = {
    "Read": "read",
    "NotebookRead": "read",
    "ReadMcpResource": "read",
    "LS": "list",
    "ListMcpResources": "list",
    "Glob": "search",
    "Grep": "search",
    "ToolSearch": "search",
    "LSP": "search",
    "Edit": "edit",
    "MultiEdit": "edit",
    "Write": "edit",
    "NotebookEdit": "edit",
    "Bash": "execute",
    "BashOutput": "execute",
    "KillShell": "execute",
    "KillBash": "execute",
    "PowerShell": "execute",
    "Monitor": "execute",
    "TaskOutput": "execute",
    "TaskStop": "execute",
    "WebFetch": "fetch",
    "WebSearch": "fetch",
    "web_fetch": "fetch",  # the API's own tools, run by the server
    "web_search": "fetch",
    "Agent": "subagent",
    "Task": "subagent",
    "SendMessage": "subagent",
    "TodoWrite": "plan",
    "TaskCreate": "plan",
    "TaskUpdate": "plan",
    "TaskList": "plan",
    "TaskGet": "plan",
    "AskUserQuestion": "ask",
    "Skill": "skill",
    "SlashCommand": "skill",
}
"""The kind of each built-in tool of 1.0 to 2.1; any other is `other`."""

PLAN_MODE = {"EnterPlanMode": "plan", "ExitPlanMode": None}
"""The tools that change the mode, with the mode they enter."""

ONE_STEP = frozenset({"TaskUpdate", "TaskGet"})
"""The tools that name one step of the plan by its id."""

TASK_OUTPUT = frozenset({"TaskOutput", "AgentOutputTool"})
"""The tools that ask for what a background task has done."""

RUNNING = frozenset({None, "running", "pending"})
"""The states of a background task that has not ended."""

_FOR_THE_USER = frozenset({"AskUserQuestion", "ExitPlanMode"})  # no rule answers for the user

LONGEST_TITLE = 1000


class _Replacing(msgspec.Struct, gc=False):
    old_string: str | None = None
    new_string: str | None = None


class _EditInput(_Replacing):
    edits: list[_Replacing] | None = None
    content: str | None = None
    new_source: str | None = None


class _Question(msgspec.Struct, gc=False):
    question: str | None = None


class _AskInput(msgspec.Struct, gc=False):
    questions: list[_Question] | None = None


_ask_decoder = msgspec.json.Decoder(_AskInput)
_edit_decoder = msgspec.json.Decoder(_EditInput)
_FILE = ("file_path", "notebook_path", "uri", "path")
_TITLE_FIELDS: Mapping[ToolKind, tuple[str, ...]] = {
    "read": _FILE,
    "edit": _FILE,
    "list": _FILE,
    "search": ("pattern", "query"),
    "execute": ("command", "description", "task_id", "bash_id", "shell_id"),
    "fetch": ("url", "query"),
    "subagent": ("description", "message"),
    "plan": ("subject", "status"),
    "skill": ("skill", "command"),
}
"""The inputs that make the title of a call, by kind of tool, best first."""


def kind(name: str) -> ToolKind:
    """Return the kind of a tool."""
    return KINDS.get(name, "other")


def title(kind: ToolKind, input: msgspec.Raw) -> str | None:
    """Return a one-line title for a call: its path, command, pattern or URL.

    For a tool whose inputs are unknown, it is the first field that is known to inform.
    """
    if kind == "ask":
        return _first_question(input)
    names = _TITLE_FIELDS.get(kind)
    return informing_string(input) if names is None else title_of(input, *names)


def subagent(input: msgspec.Raw) -> str | None:
    """The type of subagent that a call starts."""
    return first_of(input, "subagent_type")


def replacements(started: ToolStarted) -> tuple[Replacement, ...]:
    """The texts that a call of an editing tool replaces, and their replacements."""
    if started.kind != "edit" or started.input is None:
        return ()
    known = salvage.decode_part(started.input, _edit_decoder)
    if known is None:
        return ()
    pairs = [(known.old_string, known.new_string)]
    pairs += [(edit.old_string, edit.new_string) for edit in known.edits or ()]
    pairs.append((None, known.content if known.content is not None else known.new_source))
    return tuple(Replacement(old or "", new or "") for old, new in pairs if old or new)


def path_of(input: msgspec.Raw) -> str | None:
    """The file that a call of a file tool reads or changes."""
    return first_of(input, "file_path", "notebook_path")


def allow_rule(name: str, input: msgspec.Raw) -> str | None:
    """The permission rule (`--allowedTools`) that would allow exactly this call."""
    if name in _FOR_THE_USER:
        return None
    rule = _narrow_rule(name, input)
    return f"{rule[0]}({rule[1]})" if rule else name


def _narrow_rule(name: str, input: msgspec.Raw) -> tuple[str, str] | None:
    if name == "Bash":
        command = first_of(input, "command")
        return ("Bash", command) if command else None
    if name == "WebFetch":
        url = first_of(input, "url")
        host = _host(url) if url else None
        return ("WebFetch", f"domain:{host}") if host else None
    path = path_of(input)
    if path is None or kind(name) not in ("read", "edit"):
        return None
    # One rule covers all editing tools, and an absolute path starts with two slashes.
    return "Read" if kind(name) == "read" else "Edit", f"/{path}" if path[:1] == "/" else path


def _first_question(input: msgspec.Raw) -> str | None:
    asked = None if input is NOTHING else salvage.decode_part(input, _ask_decoder)
    for item in asked.questions or () if asked else ():
        if item.question:
            return one_line(item.question, LONGEST_TITLE)
    return None


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
