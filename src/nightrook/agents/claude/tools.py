"""Claude Code's tools: kinds, titles of calls, rules that would allow them, and their results.

It has no `Tools`: a built-in tool called without its known inputs gets no title, where `Tools`
would take any field that informs, and the title of a question is inside a list.
"""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.agent import Replacement
from nightrook.adapter.shapes import NOTHING
from nightrook.adapter.tools import first_of, informing_string, title_of
from nightrook.agents.claude import shapes
from nightrook.agents.claude.shapes import UseResult
from nightrook.model.events import (
    Change,
    FileChanged,
    PlanItem,
    Status,
    ToolKind,
    ToolStarted,
)
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


# Results

_EXIT_CODE = re.compile(r"Exit code (-?\d{1,9})(?:\n|$)")
# 1.0 writes no exit code, 2.1.197 that of the signal (s04_failing_tools).
_TIMED_OUT = re.compile(r"(?:Exit code 1(?:37|43)\n)?Command timed out after \S+")
_TOOL_USE_ERROR = re.compile(r"<tool_use_error>(.*)</tool_use_error>", re.DOTALL)

# Since 2.1.325 a field reports denials; before, only these sentences do until the result lists
# them (2.1.197 s05_permission_denied, s05b_deny_rule_dontask, s18c_hooks_blocking).
_DENIED = re.compile(
    r"Claude requested permissions to [^\n]+, but you haven't granted it yet\.$"
    r"|Permission to use [^\n]+ has been denied\.$"
    r"|Permission to use \S+ has been denied because Claude Code is running in don't ask mode\."
    r"|[^\n]+ was blocked\. For security, Claude Code may only "
    r"|PreToolUse:\S+ hook error: "
)
# An allow rule does not override a hook or a deny rule.
_FINAL = re.compile(
    r"PreToolUse:\S+ hook error: "
    r"|Permission to use [^\n]+ has been denied\.$"
    r"|File is in a directory that is denied by your permission settings\.$"
)
# An interrupt reads like a refusal, but the user was not asked (2.1.197 s23c_sigint_tool).
_INTERRUPTED = "The user doesn't want to proceed with this tool use."


class Outcome(msgspec.Struct, frozen=True):
    """The status, output and denial of an ended tool call."""

    status: Status
    output: str | None = None
    error: str | None = None
    exit_code: int | None = None


class _Todo(msgspec.Struct):
    content: str | None = None
    status: str | None = None


class _TodoInput(msgspec.Struct, rename="camel"):
    todos: list[_Todo] | None = None
    task_id: str | None = None
    subject: str | None = None


_todo_decoder = msgspec.json.Decoder(_TodoInput)


def text_of(content: str | list[shapes.Block] | shapes.Block | None) -> str | None:
    """The text of a content, with the type in brackets for each part that isn't text."""
    if content is None or isinstance(content, str):
        return content
    blocks = [content] if isinstance(content, shapes.Block) else content
    parts = (_part_text(block) for block in blocks)
    return "\n".join(part for part in parts if part)


def outcome_of(
    block: shapes.Block | shapes.ToolResult, name: str | None, *, denied: bool | None
) -> Outcome:
    """Return how a call ended; `denied` is the value of a field, None if there is no field."""
    output = text_of(block.content)
    if not _is_failed(block):
        return Outcome("ok", output=output)
    message = block.error or output
    exit_code = None
    status: Status = "error"
    if message is not None:
        if name in ("Bash", "PowerShell") and (match := _EXIT_CODE.match(message)):
            exit_code = int(match[1])
        status = _failed_status(message, denied)
        if wrapped := _TOOL_USE_ERROR.fullmatch(message.strip()):
            message = wrapped[1]
    elif denied:
        status = "denied"
    return Outcome(status, error=message, exit_code=exit_code)


def is_final(refusal: str | None) -> bool:
    """True if no rule would have allowed a denied call."""
    return refusal is not None and _FINAL.match(refusal) is not None


def subagent_report(result: UseResult | None) -> str | None:
    """A subagent's report, without the lines that are only for the model."""
    return text_of(result.content) if result else None


def file_change(
    result: UseResult | None, *, name: str, path: str | None, tool_id: str
) -> FileChanged | None:
    """The change that a successful call of an editing tool made."""
    result = result or UseResult()
    path = result.filePath or result.notebook_path or path
    if path is None:
        return None
    if result.type == "create":
        text = result.content if isinstance(result.content, str) else ""
        added = text.count("\n") + (text != "" and not text.endswith("\n"))
        return FileChanged(path=path, change="add", added=added, removed=0, tool_id=tool_id)
    change: Change | None = None if name == "Write" and result.type is None else "modify"
    if result.structuredPatch is None:
        return FileChanged(path=path, change=change, tool_id=tool_id)
    marks = [line[:1] for hunk in result.structuredPatch for line in hunk.lines or ()]
    return FileChanged(
        path=path,
        change=change,
        added=marks.count("+"),
        removed=marks.count("-"),
        tool_id=tool_id,
    )


class Plan:
    """The agent's list of steps: TodoWrite replaces it, the Task tools change single steps."""

    def __init__(self) -> None:
        self._items: dict[str, PlanItem] = {}

    @property
    def items(self) -> tuple[PlanItem, ...]:
        """The steps, in order."""
        return tuple(self._items.values())

    def title(self, name: str, input: msgspec.Raw) -> str | None:
        """The step that a call of a tool for one step is about, and the status it sets."""
        id = first_of(input, "taskId") if name in ONE_STEP else None
        if id is None:
            return None
        item = self._items.get(id)
        step = first_of(input, "subject") or (item.text if item else "") or f"#{id}"
        step = one_line(step, LONGEST_TITLE)
        status = first_of(input, "status")
        return f"{step} → {status.replace('_', ' ')}" if status else step

    def apply(self, name: str, input: msgspec.Raw, result: UseResult | None) -> bool:
        """Apply a successful call of a planning tool; return whether the list changed."""
        before = dict(self._items)
        asked = (
            None if input is NOTHING else salvage.decode_part(input, _todo_decoder)
        ) or _TodoInput()
        result = result or UseResult()
        if name == "TodoWrite":
            todos = asked.todos or ()
            self._items = {str(n): _item(t.content, t.status) for n, t in enumerate(todos)}
        elif name == "TaskList" and result.tasks is not None:
            self._items = {task.id or "": _item(task.subject, task.status) for task in result.tasks}
        elif name == "TaskCreate" and result.task and result.task.id:
            self._items[result.task.id] = _item(result.task.subject, "pending")
        elif name == "TaskUpdate":
            self._update(asked, result)
        return self._items != before

    def _update(self, asked: _TodoInput, result: UseResult) -> None:
        id = result.taskId or asked.task_id or ""
        to = result.statusChange.to if result.statusChange else None
        if to == "deleted":
            self._items.pop(id, None)
        elif item := self._items.get(id):
            self._items[id] = _item(asked.subject or item.text, to or item.status)


def _is_failed(block: shapes.Block | shapes.ToolResult) -> bool:
    if block.is_error is None:
        # Tools that the API itself runs report an error by the type of their content.
        return isinstance(block.content, shapes.Block) and block.content.type.endswith("_error")
    return block.is_error is not False


def _failed_status(message: str, denied: bool | None) -> Status:
    if denied:
        return "denied"
    if message.startswith(_INTERRUPTED):
        return "cancelled"
    if _TIMED_OUT.match(message):
        return "timed_out"
    return "denied" if denied is None and _DENIED.match(message) else "error"


def _part_text(block: shapes.Block) -> str | None:
    if block.type == "text":
        return block.text
    if block.type == "tool_reference":
        return block.tool_name
    if block.url:
        return f"{block.title or ''} {block.url}".strip()
    if block.error_code:
        return block.error_code
    return f"[{block.type or 'part'}]"


def _item(text: str | None, status: str | None) -> PlanItem:
    return PlanItem(text=text or "", status=status)
