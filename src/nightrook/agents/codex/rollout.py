"""Reads the lines of rollouts, the files in which Codex keeps its threads.

What happened is read with the functions that read Codex's streams. What was used is read from the
records of requests (since 0.166), or else from the totals of the thread, which have grown then.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import astuple

from nightrook.adapter import salvage
from nightrook.adapter.decoder import as_sequence
from nightrook.adapter.history import Limit, Noted, Session, Used
from nightrook.adapter.shapes import seconds_since_1970
from nightrook.adapter.stored import note_time
from nightrook.adapter.tools import informing_string, split_mcp
from nightrook.adapter.usage import reported
from nightrook.agents.codex import errors, items, shapes, tools
from nightrook.agents.codex.app_server import shapes as app_server
from nightrook.agents.codex.memory import RolloutFacts, RolloutMemory
from nightrook.agents.codex.shapes import Payload, StoredItem, Tokens
from nightrook.model.events import (
    ContextCompacted,
    Event,
    ModelChanged,
    Notice,
    PlanChanged,
    PlanItem,
    SessionStarted,
    TaskStarted,
    Text,
    Thinking,
    ToolStarted,
    TurnFinished,
    Unknown,
    UserMessage,
)
from nightrook.model.text import one_line

_THREAD = re.compile(r"rollout-[0-9T-]{19}-(.+)")
_MAIN_LIMIT = "codex"
_WINDOWS = {300: "five_hour", 10080: "weekly"}
_LONGEST_TITLE = 200

START = re.compile(rb'\{\s*"timestamp"')
"""A pattern for the start of a line."""

_Read = Callable[[RolloutMemory, Payload], Sequence[Noted]]


def begin(parts: Sequence[str]) -> RolloutFacts:
    """Return the facts of a file at its start."""
    name = parts[-1].removesuffix(".jsonl") if parts else ""
    thread = _THREAD.fullmatch(name)
    session = (thread[1] if thread else name).encode(errors="replace").decode()
    return RolloutFacts(session=session)


def session_meta(memory: RolloutMemory, line: shapes.SessionMeta, raw: bytes) -> Sequence[Noted]:
    """Read the session; a second one is that of the thread it was forked from."""
    note_time(memory, line.timestamp)
    meta, facts = line.payload or Payload(), memory.facts
    if facts.is_named:  # guards: first-name-counts
        return ()
    facts.is_named = True
    facts.session = meta.id or facts.session
    facts.project = meta.cwd or facts.project
    facts.branch = meta.git.branch or None if meta.git else None
    parent, facts.subagent = _parent(meta)
    session = Session(
        id=facts.session,
        at=facts.at,
        project=facts.project,
        branch=facts.branch,
        version=meta.cli_version,
        parent=parent,
        forked_from=meta.forked_from_id,
    )
    if meta.id is None:
        return (session,)
    memory.sessions.add(meta.id)
    memory.thread = meta.id
    return (SessionStarted(session=meta.id, cwd=meta.cwd, version=meta.cli_version), session)


def _parent(payload: Payload) -> tuple[str | None, str | None]:
    """The thread that started this one as its subagent, and what the subagent is called."""
    source = payload.source.subagent if isinstance(payload.source, shapes.Source) else None
    if source is None and payload.parent_thread_id is None:
        return None, None
    kind = source if isinstance(source, str) else None
    spawn, other = shapes.Spawn(), None
    if isinstance(source, shapes.Subagent):
        spawn, other = source.thread_spawn or spawn, source.other
    names = (payload.agent_role, spawn.agent_role, payload.agent_nickname, spawn.agent_nickname)
    name = next((name for name in (*names, kind, other) if name), "subagent")
    return payload.parent_thread_id or spawn.parent_thread_id, name


def turn_context(memory: RolloutMemory, line: shapes.TurnContext, raw: bytes) -> Sequence[Event]:
    """Read the model of the next turn."""
    note_time(memory, line.timestamp)
    context, facts = line.payload or Payload(), memory.facts
    before, facts.model = facts.model, context.model or facts.model
    facts.project = facts.project or context.cwd
    if before is None or before == facts.model:
        return ()
    return (ModelChanged(before=before, after=facts.model),)


def usage_record(memory: RolloutMemory, line: shapes.UsageRecord, raw: bytes) -> Sequence[Noted]:
    """Read the tokens of a request, since 0.166."""
    note_time(memory, line.timestamp)
    record, facts = line.payload or Payload(), memory.facts
    usage, total = record.usage, record.thread_token_usage
    if usage is None:
        return ()
    facts.awaited_counts += 1  # guards: repeated-count
    thread = record.thread_id or facts.session
    response = record.response_id or None
    return (_used(memory, usage, total, last=usage, session=thread, response=response),)


def _token_count(memory: RolloutMemory, count: Payload) -> Sequence[Noted]:
    """Read limits, and the tokens of a request that no record has reported: a total has grown."""
    facts = memory.facts
    noted: list[Noted] = list(_limits(count.rate_limits, facts))
    info = count.info
    if info is None:
        return noted
    before, total, last = facts.total, info.total_token_usage, info.last_token_usage
    facts.model = info.model or facts.model
    if total is None or total == before:  # guards: repeated-total
        return noted
    facts.total = total
    if before is not None and _size(total) <= _size(before):
        if last is None or _size(total) != _size(last):
            return noted
        facts.resets += 1
    if facts.awaited_counts:
        facts.awaited_counts -= 1
        return noted
    used = last or _difference(total, before)
    if any(astuple(used)):
        noted.append(_used(memory, used, total, last=last))
    return noted


def _size(tokens: Tokens) -> int:
    return tokens.total_tokens or tokens.input_tokens + tokens.output_tokens


def _difference(total: Tokens, before: Tokens | None) -> Tokens:
    if before is None:
        return total
    pairs = zip(astuple(total), astuple(before), strict=True)
    return Tokens(*(max(now - then, 0) for now, then in pairs))


def _used(
    memory: RolloutMemory,
    used: Tokens,
    total: Tokens | None,
    *,
    last: Tokens | None = None,
    session: str | None = None,
    response: str | None = None,
) -> Used:
    """The usage of a request.

    Without the id of its response, the totals identify it among its thread and those that fork it.
    """
    facts, is_counted = memory.facts, bool(used.input_tokens or used.output_tokens)
    counts = [count for tokens in (total, last) if tokens for count in astuple(tokens)]
    totals = "/".join(map(str, [*counts, facts.resets] if facts.resets else counts))
    message_id = response or (memory.next_request() if is_counted else None)
    report = reported(items.usage_of(used), message_id=message_id, model=facts.model)
    return Used(
        report=report,
        is_event=is_counted,
        id=response or totals,
        session=session,
        copied=session is not None and session != facts.session,
        lineage=response is None,
    )


def _limits(limits: shapes.RateLimits | None, facts: RolloutFacts) -> Iterator[Limit]:
    """The limits that have changed."""
    if limits is None or facts.at is None:
        return
    known = {limit.window: limit for limit in facts.limits}
    for window in (limits.primary, limits.secondary):
        if window is None:
            continue
        limit = _limit(window, limits, facts.at)
        before = known.get(limit.window)
        if before is None or msgspec.structs.replace(before, at=limit.at) != limit:
            known[limit.window] = limit
            yield limit
    facts.limits = tuple(known.values())


def _limit(window: shapes.Window, limits: shapes.RateLimits, at: float) -> Limit:
    minutes = window.window_minutes
    name = _WINDOWS.get(int(minutes)) or f"{minutes:g}_minutes" if minutes else "unknown"
    of_what = limits.limit_name or limits.limit_id
    is_main = limits.limit_id in (None, _MAIN_LIMIT)
    resets_at = seconds_since_1970(window.resets_at)
    if resets_at is None and window.resets_in_seconds is not None:
        resets_at = seconds_since_1970(at + window.resets_in_seconds)
    return Limit(
        at=at,
        window=name if is_main else f"{of_what} {name}",
        used=None if window.used_percent is None else min(max(window.used_percent / 100, 0), 1),
        resets_at=resets_at,
        plan=limits.plan_type,
    )


def _prompt(memory: RolloutMemory, message: Payload) -> Sequence[Noted]:
    text = message.message
    return (UserMessage(text=text), *_title(memory, text)) if text else ()


def _title(memory: RolloutMemory, text: str | None) -> Sequence[Session]:
    """The first prompt."""
    facts = memory.facts
    title = one_line(text, _LONGEST_TITLE) if text and not facts.is_titled else ""
    if not title:
        return ()
    facts.is_titled = True
    return (Session(id=facts.session, title=title),)


def _said(memory: RolloutMemory, message: Payload) -> Sequence[Event]:
    if memory.has_items or not message.message:
        return ()
    memory.last_text = message.message
    return (Text(id=memory.new_id("text"), text=message.message),)


def _thought(memory: RolloutMemory, message: Payload) -> Sequence[Event]:
    if memory.has_items or not message.text:
        return ()
    return (Thinking(id=memory.new_id("thinking"), text=message.text),)


def _turn_started(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    return memory.begin_turn()


def _turn_ended(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    message = event.error.message if event.error else None
    text = event.last_agent_message or memory.last_text
    events = items.end_turn(memory, cut=message is None)
    if message is not None:
        events.append(errors.error(message))
    finished = TurnFinished(
        ok=message is None,
        text=text if message is None else None,
        errors=None if message is None else (message,),
        duration_s=None if event.duration_ms is None else event.duration_ms / 1000,
    )
    return [*events, finished]


def _turn_aborted(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    events = items.end_turn(memory, cut=False)
    return [*events, TurnFinished(ok=False, reason=event.reason or "interrupted")]


def _failed(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    return (errors.error(event.message),) if event.message else ()


def _warned(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    return (Notice(level="warning", text=event.message),) if event.message else ()


def _was_compacted(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    return (ContextCompacted(),)


def _nothing(memory: RolloutMemory, event: Payload) -> Sequence[Event]:
    return ()


def _item(memory: RolloutMemory, event: Payload) -> Sequence[Noted]:
    item = event.item or StoredItem()
    memory.has_items = True
    parts = [part.text for part in item.content or () if part.text]
    text = "".join(parts)
    if item.type == "UserMessage":
        return (UserMessage(text=text), *_title(memory, parts[0])) if parts else ()
    if item.type == "AgentMessage":
        memory.last_text = text
        return (Text(id=item.id or memory.new_id("text"), text=text),) if text else ()
    if item.type == "Reasoning":
        thought = "\n\n".join(item.summary_text or ())
        return (Thinking(id=item.id or memory.new_id("thinking"), text=thought or None),)
    if item.type == "SubAgentActivity":
        return _subagent(memory, item)
    if item.type in _SILENT_ITEMS:
        return ()
    return _completed(memory, item)


_SILENT_ITEMS = ("Plan", "HookPrompt", "EnteredReviewMode", "ExitedReviewMode", "ContextCompaction")


def _subagent(memory: RolloutMemory, item: StoredItem) -> Sequence[Event]:
    """Read the start of a subagent, which has its own rollout."""
    id = item.agent_thread_id
    if item.kind != "started" or id is None or id in memory.tasks:
        return ()
    task = memory.tasks[id] = TaskStarted(id=id, kind="subagent", tool_id=item.id, background=True)
    return (task,)


_EVENTS: Mapping[str, _Read] = {
    "item_completed": _item,
    "task_started": _turn_started,
    "task_complete": _turn_ended,
    "turn_aborted": _turn_aborted,
    "token_count": _token_count,
    "user_message": _prompt,
    "agent_message": _said,
    "agent_reasoning": _thought,
    "error": _failed,
    "stream_error": _warned,
    "warning": _warned,
    "context_compacted": _was_compacted,
    **dict.fromkeys(
        (
            *("thread_settings_applied", "agent_reasoning_raw_content", "exec_command_begin"),
            *("exec_command_end", "mcp_tool_call_begin", "mcp_tool_call_end", "turn_diff"),
            *("patch_apply_begin", "patch_apply_end", "web_search_begin", "web_search_end"),
            *("plan_update", "agent_reasoning_section_break", "background_event"),
            *("entered_review_mode", "exited_review_mode", "thread_rolled_back", "item_started"),
        ),
        _nothing,
    ),
}
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")
_SILENT_RESPONSES = (
    *("message", "reasoning", "additional_tools", "agent_message", "web_search_call", "compaction"),
    *("ghost_snapshot", "tool_search_call", "tool_search_output", "image_generation_call"),
)
"""Types of items that events report as well, or that are only for the model."""


def event_message(memory: RolloutMemory, line: shapes.EventMessage, raw: bytes) -> Sequence[Noted]:
    """Read an event that Codex reported while it worked."""
    note_time(memory, line.timestamp)
    payload = line.payload or Payload()
    read = _EVENTS.get(payload.type)
    if read is None:
        return (Unknown(name=f"event_msg/{payload.type}", raw=salvage.raw_copy(raw)),)
    return read(memory, payload)


def response_item(memory: RolloutMemory, line: shapes.ResponseItem, raw: bytes) -> Sequence[Event]:
    """Read an item that the model wrote or received."""
    note_time(memory, line.timestamp)
    payload = line.payload or Payload()
    if payload.type in _CALLS:
        return _started(memory, payload)
    if payload.type in _RESULTS:
        return _returned(memory, payload)
    if payload.type in _SILENT_RESPONSES:
        return ()
    return (Unknown(name=f"response_item/{payload.type}", raw=salvage.raw_copy(raw)),)


def compacted(memory: RolloutMemory, line: shapes.Compacted, raw: bytes) -> Sequence[Event]:
    """Read the replacement of the conversation by a summary."""
    note_time(memory, line.timestamp)
    return (ContextCompacted(),)


# Calls of tools: what the model asked for, and what came back

_COMMANDS = ("exec_command", "shell", "local_shell", "shell_command", "container.exec")
_PLAN = "update_plan"
_EXIT = re.compile(r"(?:Process exited with code|Exit code:) (-?\d+)")
_OUTPUT = "Output:\n"


class _Command(msgspec.Struct):
    """The arguments of a command; versions name it differently."""

    cmd: str | None = None
    command: list[str] | str | None = None


class _Step(msgspec.Struct):
    step: str = ""
    status: str | None = None


class _Plan(msgspec.Struct):
    plan: list[_Step] = []


class _Output(msgspec.Struct):
    """The return value of a command, in rollouts before 0.40."""

    output: str | None = None
    metadata: dict[str, msgspec.Raw] = {}


_command_decoder = msgspec.json.Decoder(_Command)
_plan_decoder = msgspec.json.Decoder(_Plan)
_text_decoder = msgspec.json.Decoder(str)
_old_output_decoder = msgspec.json.Decoder(_Output)


def _started(memory: RolloutMemory, call: Payload) -> Sequence[Event]:
    """Read a tool call by the model."""
    id, name = call.call_id or memory.new_id("call"), call.name or call.type
    arguments = (call.arguments or "{}").encode("utf-8", "replace")
    if name == _PLAN:
        return _changed_plan(memory, arguments)
    if name in _COMMANDS:
        asked = salvage.decode_part(arguments, _command_decoder) or _Command()
        command = shapes.CommandStarted(id=id, command=_joined(asked.cmd or asked.command))
        return as_sequence(items.command_started(memory, command, b""))
    if name == tools.PATCH:
        return ()  # the item that reports its end has the files; without one nothing was changed
    server, tool = split_mcp(name)
    return memory.start(
        ToolStarted(
            id=id,
            name=name,
            kind="other",
            title=informing_string(msgspec.Raw(arguments)),
            input=msgspec.Raw(arguments),
            server=server,
            tool=tool,
        )
    )


def _joined(command: Sequence[str] | str | None) -> str | None:
    """A command on one line, as the stream has it."""
    return command if command is None or isinstance(command, str) else shlex.join(command)


def _changed_plan(memory: RolloutMemory, arguments: bytes) -> Sequence[Event]:
    read = salvage.decode_part(arguments, _plan_decoder) or _Plan()
    plan = tuple(PlanItem(text=step.step, status=_status(step.status)) for step in read.plan)
    if plan == memory.plan:
        return ()
    memory.plan = plan
    return (PlanChanged(items=plan),)


def _status(written: str | None) -> str:
    return written if written in ("pending", "in_progress", "completed") else "pending"


def _returned(memory: RolloutMemory, result: Payload) -> Sequence[Event]:
    """Read the output of a tool, unless an item has reported its end."""
    id = result.call_id or ""
    call = memory.tools.get(id)
    if call is None:
        return ()
    output = _output(result.output)
    code = _EXIT.search(output[:200]) if call.kind == "execute" else None
    exit_code = int(code[1]) if code else None
    _, _, after = output.partition(_OUTPUT)
    text = after or output
    ok = exit_code in (None, 0)
    return memory.finish(
        id,
        "ok" if ok else "error",
        name=call.name,
        kind=call.kind,
        output=text if ok else None,
        error=None if ok else text,
        exit_code=exit_code,
    )


def _output(raw: msgspec.Raw) -> str:
    """The text of a result, which is a string, or JSON in a string before 0.40."""
    text = salvage.decode_part(raw, _text_decoder) if raw else None
    if text is None:
        return bytes(raw).decode("utf-8", "replace")
    old = (
        salvage.decode_part(text.encode(), _old_output_decoder)
        if text.startswith('{"output"')
        else None
    )
    if old is None or old.output is None:
        return text
    code = old.metadata.get("exit_code")
    return f"Exit code: {bytes(code).decode()}\n{_OUTPUT}{old.output}" if code else old.output


def _completed(memory: RolloutMemory, item: StoredItem) -> Sequence[Event]:
    """Read the end of a call, as its item reports it."""
    if item.type == "CommandExecution":
        return _command_ended(memory, item)
    if item.type == "FileChange":
        return _files_changed(memory, item)
    if item.type == "McpToolCall":
        return _mcp_called(memory, item)
    if item.type == "WebSearch":
        search = shapes.WebSearch(id=item.id, query=item.query, action=item.action)
        begun = items.search_started(memory, search, b"")
        return [*begun, *items.search_completed(memory, search, b"")]
    return _subagents(memory, item)


def _command_ended(memory: RolloutMemory, item: StoredItem) -> Sequence[Event]:
    begun = shapes.CommandStarted(id=item.id, command=_joined(item.command))
    ended = shapes.CommandCompleted(
        id=item.id,
        aggregated_output=item.aggregated_output,
        exit_code=item.exit_code,
        status=item.status,
    )
    return [
        *as_sequence(items.command_started(memory, begun, b"")),
        *as_sequence(items.command_completed(memory, ended, b"")),
    ]


def _files_changed(memory: RolloutMemory, item: StoredItem) -> Sequence[Event]:
    changes = [
        app_server.Change(
            path=path,
            diff=change.unified_diff if change.unified_diff is not None else change.content,
            kind=app_server.Kind(type=change.type or "", move_path=change.move_path),
        )
        for path, change in (item.changes or {}).items()
    ]
    named = [shapes.Change(path=change.path) for change in changes]
    begun = items.patch_started(memory, shapes.FileChange(id=item.id, changes=named), b"")
    ended = app_server.FileChange(id=item.id, changes=changes, status=item.status)
    return [*begun, *items.diffs_completed(memory, ended, b"")]


def _mcp_called(memory: RolloutMemory, item: StoredItem) -> Sequence[Event]:
    call = shapes.McpToolCall(
        id=item.id,
        server=item.server,
        tool=item.tool,
        arguments=item.arguments,
        result=item.result,
        error=item.error,
        status=item.status,
    )
    return [*items.mcp_started(memory, call, b""), *items.mcp_completed(memory, call, b"")]


def _subagents(memory: RolloutMemory, item: StoredItem) -> Sequence[Event]:
    call = shapes.CollabToolCall(
        id=item.id,
        tool=item.tool,
        receiver_thread_ids=item.receiver_thread_ids,
        prompt=item.prompt,
        agents_states=item.agents_states,
        status=item.status,
    )
    return [*items.collab_started(memory, call, b""), *items.collab_completed(memory, call, b"")]
