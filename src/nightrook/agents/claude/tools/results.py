"""Reads tool results: text, status, exit code, and the file or plan that a call changed."""

import re

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.shapes import NOTHING
from nightrook.adapter.tools import first_of
from nightrook.agents.claude import shapes, tools
from nightrook.agents.claude.shapes import UseResult
from nightrook.model.events import Change, FileChanged, PlanItem, Status
from nightrook.model.text import one_line

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
    """How a tool call ended."""

    status: Status
    output: str | None = None
    error: str | None = None
    exit_code: int | None = None


class _Todo(msgspec.Struct):
    content: str | None = None
    status: str | None = None


class _TodoInput(msgspec.Struct):
    todos: list[_Todo] | None = None
    taskId: str | None = None
    subject: str | None = None


_todo_decoder = msgspec.json.Decoder(_TodoInput)


def text_of(content: str | list[shapes.Block] | shapes.Block | None) -> str | None:
    """The text of a content, with the type in brackets for each part that isn't text."""
    if content is None or isinstance(content, str):
        return content
    blocks = [content] if isinstance(content, shapes.Block) else content
    parts = (_part_text(block) for block in blocks)
    return "\n".join(part for part in parts if part)


def read(
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
    """Whether no rule would have allowed a denied call."""
    return refusal is not None and _FINAL.match(refusal) is not None


def report(result: UseResult | None) -> str | None:
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
        id = first_of(input, "taskId") if name in tools.ONE_STEP else None
        if id is None:
            return None
        item = self._items.get(id)
        step = first_of(input, "subject") or (item.text if item else "") or f"#{id}"
        step = one_line(step, tools.LONGEST_TITLE)
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
        id = result.taskId or asked.taskId or ""
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
