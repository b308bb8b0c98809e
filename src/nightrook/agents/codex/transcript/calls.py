"""Reads the calls of a rollout: what the model asked for, and what came back."""

import re
import shlex
from collections.abc import Sequence

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.decoder import as_sequence
from nightrook.adapter.tools import informing_string, split_mcp
from nightrook.agents.codex import items, tools
from nightrook.agents.codex import shapes as stream
from nightrook.agents.codex.app_server import patches
from nightrook.agents.codex.app_server import shapes as app_server
from nightrook.agents.codex.transcript.memory import RolloutMemory
from nightrook.agents.codex.transcript.shapes import Item, Payload
from nightrook.model.events import Event, PlanChanged, PlanItem, ToolStarted

_COMMANDS = ("exec_command", "shell", "local_shell", "shell_command", "container.exec")
_PLAN = "update_plan"
_EXIT = re.compile(r"(?:Process exited with code|Exit code:) (-?\d+)")
_OUTPUT = "Output:\n"
_LONGEST_TITLE = 1000


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
    """What a command returned, in rollouts before 0.40."""

    output: str | None = None
    metadata: dict[str, msgspec.Raw] = {}


_command = msgspec.json.Decoder(_Command)
_plan = msgspec.json.Decoder(_Plan)
_text = msgspec.json.Decoder(str)
_old_output = msgspec.json.Decoder(_Output)


def started(memory: RolloutMemory, call: Payload) -> Sequence[Event]:
    """Read that the model calls a tool."""
    id, name = call.call_id or memory.new_id("call"), call.name or call.type
    arguments = (call.arguments or "{}").encode("utf-8", "replace")
    if name == _PLAN:
        return _changed_plan(memory, arguments)
    if name in _COMMANDS:
        asked = salvage.decode_part(arguments, _command) or _Command()
        command = stream.CommandStarted(id=id, command=joined(asked.cmd or asked.command))
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


def joined(command: Sequence[str] | str | None) -> str | None:
    """A command on one line, as the stream has it."""
    return command if command is None or isinstance(command, str) else shlex.join(command)


def _changed_plan(memory: RolloutMemory, arguments: bytes) -> Sequence[Event]:
    read = salvage.decode_part(arguments, _plan) or _Plan()
    plan = tuple(PlanItem(text=step.step, status=_status(step.status)) for step in read.plan)
    if plan == memory.plan:
        return ()
    memory.plan = plan
    return (PlanChanged(items=plan),)


def _status(written: str | None) -> str:
    return written if written in ("pending", "in_progress", "completed") else "pending"


def returned(memory: RolloutMemory, result: Payload) -> Sequence[Event]:
    """Read what a tool returned, unless an item has reported its end."""
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
    text = salvage.decode_part(raw, _text) if raw else None
    if text is None:
        return bytes(raw).decode("utf-8", "replace")
    old = salvage.decode_part(text.encode(), _old_output) if text.startswith('{"output"') else None
    if old is None or old.output is None:
        return text
    code = old.metadata.get("exit_code")
    return f"Exit code: {bytes(code).decode()}\n{_OUTPUT}{old.output}" if code else old.output


def completed(memory: RolloutMemory, item: Item) -> Sequence[Event]:
    """Read that a call has ended, as its item reports it."""
    if item.type == "CommandExecution":
        return _command_ended(memory, item)
    if item.type == "FileChange":
        return _files_changed(memory, item)
    if item.type == "McpToolCall":
        return _mcp_called(memory, item)
    if item.type == "WebSearch":
        search = stream.WebSearch(id=item.id, query=item.query, action=item.action)
        begun = items.search_started(memory, search, b"")
        return [*begun, *items.search_completed(memory, search, b"")]
    return _subagents(memory, item)


def _command_ended(memory: RolloutMemory, item: Item) -> Sequence[Event]:
    begun = stream.CommandStarted(id=item.id, command=joined(item.command))
    ended = stream.CommandCompleted(
        id=item.id,
        aggregated_output=item.aggregated_output,
        exit_code=item.exit_code,
        status=item.status,
    )
    return [
        *as_sequence(items.command_started(memory, begun, b"")),
        *as_sequence(items.command_completed(memory, ended, b"")),
    ]


def _files_changed(memory: RolloutMemory, item: Item) -> Sequence[Event]:
    changes = [
        app_server.Change(
            path=path,
            diff=change.unified_diff if change.unified_diff is not None else change.content,
            kind=app_server.Kind(type=change.type or "", move_path=change.move_path),
        )
        for path, change in (item.changes or {}).items()
    ]
    named = [stream.Change(path=change.path) for change in changes]
    begun = items.patch_started(memory, stream.FileChange(id=item.id, changes=named), b"")
    ended = app_server.FileChange(id=item.id, changes=changes, status=item.status)
    return [*begun, *patches.completed(memory, ended, b"")]


def _mcp_called(memory: RolloutMemory, item: Item) -> Sequence[Event]:
    call = stream.McpToolCall(
        id=item.id,
        server=item.server,
        tool=item.tool,
        arguments=item.arguments,
        result=item.result,
        error=item.error,
        status=item.status,
    )
    return [*items.mcp_started(memory, call, b""), *items.mcp_completed(memory, call, b"")]


def _subagents(memory: RolloutMemory, item: Item) -> Sequence[Event]:
    call = stream.CollabToolCall(
        id=item.id,
        tool=item.tool,
        receiver_thread_ids=item.receiver_thread_ids,
        prompt=item.prompt,
        agents_states=item.agents_states,
        status=item.status,
    )
    return [*items.collab_started(memory, call, b""), *items.collab_completed(memory, call, b"")]
