"""Reads items, in every format: texts, thoughts, tool calls, and their tokens."""

import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Raw

from nightrook.adapter import salvage
from nightrook.adapter.decoder import Events
from nightrook.adapter.tools import informing_string
from nightrook.adapter.usage import uncached
from nightrook.agents.codex import shapes, tools
from nightrook.agents.codex.app_server import shapes as app_server
from nightrook.agents.codex.memory import Memory
from nightrook.agents.codex.tools import SHELL, command_title
from nightrook.model.events import (
    Event,
    FileChanged,
    ModelChanged,
    Notice,
    PlanChanged,
    PlanItem,
    TaskFinished,
    TaskStarted,
    Text,
    Thinking,
    ToolFinished,
    ToolStarted,
    Usage,
)
from nightrook.model.text import one_line

_REROUTED = re.compile(r"model rerouted: (\S+) -> (\S+)(?: \((.*)\))?")
_LONGEST_TITLE = 1000

_dump = msgspec.json.Encoder().encode


def end_turn(memory: Memory, *, cut: bool) -> list[Event]:
    """End everything open at the end of a turn; with `cut`, commands were left running."""
    events = memory.begin_turn()
    if cut:
        events += memory.left_running()
    events += memory.abandon()
    memory.end_turn()
    return events


def usage_of(tokens: shapes.Usage | shapes.Tokens | app_server.Tokens) -> Usage:
    """The tokens of a request or of a thread."""
    read, written = tokens.cached_input_tokens, tokens.cache_write_input_tokens
    return Usage(
        input=uncached(tokens.input_tokens, read, written),
        output=tokens.output_tokens,
        cache_read=read,
        cache_write_5m=written,
        reasoning=tokens.reasoning_output_tokens,
    )


def agent_message(memory: Memory, item: shapes.AgentMessage, line: bytes) -> Events:
    """Read a text; a comment and the answer look the same."""
    memory.last_text = text = item.text or ""
    return Text(id=memory.item(item.id), text=text)


def reasoning(memory: Memory, item: shapes.Reasoning, line: bytes) -> Events:
    """Read the summary of a thought."""
    return Thinking(id=memory.item(item.id), text=item.text)


def error(memory: Memory, item: shapes.ErrorItem, line: bytes) -> Sequence[Event]:
    """Read a warning, which does not stop the turn."""
    message = item.message or ""
    if match := _REROUTED.fullmatch(message):
        before, after, reason = match.groups()
        return (ModelChanged(before=before, after=after, reason=reason),)
    return (Notice(level="warning", text=message),)


def todo_list(memory: Memory, item: shapes.TodoList, line: bytes) -> Sequence[Event]:
    """Read the whole plan; it is repeated at the end of the turn."""
    # The stream does not distinguish steps in progress from pending ones.
    plan = tuple(
        PlanItem(text=step.text or "", status="completed" if step.completed else "pending")
        for step in item.items or ()
    )
    if plan == memory.plan:
        return ()
    memory.plan = plan
    return (PlanChanged(items=plan),)


# Most lines are about commands: the next two functions avoid every unnecessary call.
def command_started(memory: Memory, item: shapes.CommandStarted, line: bytes) -> Events:
    """Read the start of a command."""
    id, command, running = item.id, item.command, memory.tools
    if not id or memory.processes > 1:
        id = memory.item(id)
    if id in running or id in memory.ended or id in memory.held:
        return ()
    running[id] = started = ToolStarted(
        id=id,
        name=SHELL,
        kind="execute",
        title=None if command is None else command_title(command),
        input=Raw(_dump({"command": command})),
    )
    return started


def command_completed(memory: Memory, item: shapes.CommandCompleted, line: bytes) -> Events:
    """Read the end of a command, with its output."""
    id, output = item.id, item.aggregated_output
    if not id or memory.processes > 1:
        id = memory.item(id)
    if id in memory.ended:
        return ()
    exit_code = item.exit_code
    if item.status == "completed":
        memory.end(id)
        return ToolFinished(
            id=id, status="ok", name=SHELL, kind="execute", output=output, exit_code=exit_code
        )
    status = tools.STATUSES.get(item.status, "error")
    refused = status == "error" and tools.is_blocked(output)
    return memory.finish(
        id,
        "denied" if refused else status,
        name=SHELL,
        kind="execute",
        error=output or None,
        exit_code=exit_code,
    )


def patch_started(memory: Memory, item: shapes.FileChange, line: bytes) -> Sequence[Event]:
    """Read the start of a change to files."""
    changes = item.changes or []
    return memory.start(
        ToolStarted(
            id=memory.item(item.id),
            name=tools.PATCH,
            kind="edit",
            title=tools.patch_title(changes),
            input=msgspec.Raw(_dump({"changes": changes})),
        )
    )


def patch_completed(memory: Memory, item: shapes.FileChange, line: bytes) -> Sequence[Event]:
    """Read the changed files; a failed change does not list those it reached."""
    id = memory.item(item.id)
    status = tools.STATUSES.get(item.status, "error")
    events = memory.finish(id, status, name=tools.PATCH, kind="edit")
    if not events or status != "ok":
        return events
    changes = [
        FileChanged(path=change.path, change=tools.CHANGES.get(change.kind), tool_id=id)
        for change in item.changes or ()
        if change.path
    ]
    return [*events, *changes]


def diffs_completed(memory: Memory, item: app_server.FileChange, line: bytes) -> Sequence[Event]:
    """Read changes with their differences, which all but `exec --json` write."""
    id = memory.item(item.id)
    status = tools.STATUSES.get(item.status, "error")
    events = memory.finish(id, status, name=tools.PATCH, kind="edit")
    if not events or status != "ok":
        return events
    return [*events, *(_changed(change, id) for change in item.changes or () if change.path)]


def changed_lines(change: app_server.Change) -> Iterator[str]:
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


def _changed(change: app_server.Change, id: str) -> FileChanged:
    kind = change.kind or app_server.Kind()
    lines = [line[0] for line in changed_lines(change)]
    has_diff = change.diff is not None
    return FileChanged(
        path=kind.move_path or change.path or "",
        change="move" if kind.move_path else tools.CHANGES.get(kind.type),
        added=lines.count("+") if has_diff else None,
        removed=lines.count("-") if has_diff else None,
        tool_id=id,
    )


def mcp_started(memory: Memory, item: shapes.McpToolCall, line: bytes) -> Sequence[Event]:
    """Read the start of a call of an MCP server's tool."""
    arguments = item.arguments
    return memory.start(
        ToolStarted(
            id=memory.item(item.id),
            name=_mcp_name(item),
            kind="other",
            title=informing_string(arguments),
            input=salvage.raw_copy(arguments),
            server=item.server,
            tool=item.tool,
        )
    )


def mcp_completed(memory: Memory, item: shapes.McpToolCall, line: bytes) -> Sequence[Event]:
    """Read the result of an MCP server's tool."""
    status = tools.STATUSES.get(item.status, "error")
    text = None if item.result is None else tools.text_of(item.result.content or ())
    message = item.error.message if item.error else None
    return memory.finish(
        memory.item(item.id),
        status,
        name=_mcp_name(item),
        kind="other",
        output=text if status == "ok" else None,
        error=None if status == "ok" else message or text,
    )


def search_started(memory: Memory, item: shapes.WebSearch, line: bytes) -> Sequence[Event]:
    """Read the start of a web search; without a search term it is held back until the end."""
    id = memory.item(item.id)
    if memory.has_started(id):
        return ()
    if (title := tools.search_title(item)) is not None:
        return memory.start(_search(id, title))
    memory.held[id] = _search(id, None)  # the end includes the search term
    return ()


def search_completed(memory: Memory, item: shapes.WebSearch, line: bytes) -> Sequence[Event]:
    """Read the end of a web search; its results are not reported."""
    id = memory.item(item.id)
    held = memory.held.pop(id, None)
    events: Sequence[Event] = memory.finish(id, "ok", name=tools.SEARCH, kind="fetch")
    return events if held is None else [_search(id, tools.search_title(item)), *events]


def collab_started(memory: Memory, item: shapes.CollabToolCall, line: bytes) -> Sequence[Event]:
    """Read the start of a call that concerns subagents."""
    input = {"prompt": item.prompt, "receiver_thread_ids": item.receiver_thread_ids or None}
    return memory.start(
        ToolStarted(
            id=memory.item(item.id),
            name=item.tool or "collab",
            kind="subagent",
            title=one_line(item.prompt, _LONGEST_TITLE) if item.prompt else None,
            input=msgspec.Raw(_dump({key: value for key, value in input.items() if value})),
        )
    )


def collab_completed(memory: Memory, item: shapes.CollabToolCall, line: bytes) -> Sequence[Event]:
    """Read the end of such a call, and the start or end of subagents."""
    id = memory.item(item.id)
    states = item.agents_states or {}
    status = tools.STATUSES.get(item.status, "error")
    text = "\n".join(state.message for state in states.values() if state.message) or None
    events = memory.finish(
        id,
        status,
        name=item.tool or "collab",
        kind="subagent",
        output=text if status == "ok" else None,
        error=None if status == "ok" else text,
    )
    if not events:
        return ()
    if item.tool == "spawn_agent" and status == "ok":
        for thread in item.receiver_thread_ids or ():
            events += _begin_task(memory, thread, item, id)
    for thread, state in states.items():
        events += _end_task(memory, thread, state)
    return events


def _begin_task(
    memory: Memory, thread: str, item: shapes.CollabToolCall, tool_id: str
) -> Sequence[Event]:
    if thread in memory.tasks:
        return ()
    title = one_line(item.prompt, _LONGEST_TITLE) if item.prompt else None
    task = TaskStarted(id=thread, kind="subagent", title=title, tool_id=tool_id, background=True)
    memory.tasks[thread] = task
    return (task,)


def _end_task(memory: Memory, thread: str, state: shapes.AgentState) -> Sequence[Event]:
    status = tools.AGENT_ENDS.get(state.status)
    if status is None or thread not in memory.tasks:
        return ()
    task = memory.tasks.pop(thread)
    return (
        TaskFinished(
            id=thread,
            status=status,
            kind=task.kind,
            title=task.title,
            tool_id=task.tool_id,
            summary=state.message,
        ),
    )


def _search(id: str, title: str | None) -> ToolStarted:
    return ToolStarted(id=id, name=tools.SEARCH, kind="fetch", title=title)


def _mcp_name(item: shapes.McpToolCall) -> str:
    return f"mcp__{item.server or ''}__{item.tool or ''}"
