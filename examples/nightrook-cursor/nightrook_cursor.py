"""Cursor Agent for Nightrook: starts it, and reads what its documentation (August 2026) says."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from nightrook import adapter
from nightrook.adapter import NOTHING, Agent, Capabilities, Count, ExitCode, Memory, Shape, Task
from nightrook.events import Event, SessionStarted, Text, Unknown, UsageReported

FLAGS = ("--output-format", "stream-json")
MODES: dict[adapter.Permission, tuple[str, ...]] = {"agent": (), "all": ("--force",)}
TOOLS = adapter.Tools(
    kinds={"read": "read", "write": "edit", "edit": "edit", "shell": "execute", "grep": "search"},
    titles={"execute": ("command",), "read": ("path",), "edit": ("path",), "search": ("pattern",)},
)


class System(Shape, tag="system"):
    session_id: str | None = None
    model: str | None = None
    cwd: str | None = None


class Part(Shape):
    text: str | None = None


class Content(Shape):
    content: list[Part] | None = None


class Said(Shape, tag="assistant"):
    message: Content | None = None
    timestamp_ms: Count | None = None


class Success(Shape, rename="camel"):
    exit_code: ExitCode | None = None
    stdout: str | None = None
    content: str | None = None
    reason: str | None = None


class Outcome(Shape):
    success: Success | None = None
    failure: Success | None = None
    rejected: Success | None = None
    error: msgspec.Raw = NOTHING


class Call(Shape):
    args: msgspec.Raw = NOTHING
    result: Outcome | None = None


class ToolCall(Shape, tag="tool_call"):
    subtype: str | None = None
    call_id: str | None = None
    tool_call: dict[str, msgspec.Raw] | None = None


class Usage(Shape, rename="camel"):
    input_tokens: Count | None = None
    output_tokens: Count | None = None


class Result(Shape, tag="result"):
    is_error: bool | None = None
    result: str | None = None
    usage: Usage | None = None


CALL = msgspec.json.Decoder(Call)


def system(memory: Memory, message: System, line: bytes) -> Sequence[Event]:
    """Read the start of a session."""
    if message.session_id in memory.sessions:
        return ()
    memory.sessions.add(message.session_id)
    started = SessionStarted(session=message.session_id, model=message.model, cwd=message.cwd)
    return [started, *memory.begin_turn()]


def said(memory: Memory, message: Said, line: bytes) -> Sequence[Event]:
    """Read a text; pieces of it have a time, and the whole text that follows them has none."""
    content = message.message or Content()
    text = "".join(part.text or "" for part in content.content or ())
    if message.timestamp_ms is not None:
        id = memory.partial_id or memory.new_id("text")
        return [*memory.begin_turn(), *memory.add_delta(id, text)]
    if memory.partial_id is not None:
        return memory.end_text()
    return [*memory.begin_turn(), Text(id=memory.new_id("text"), text=text)] if text else ()


def tool_call(memory: Memory, message: ToolCall, line: bytes) -> Sequence[Event]:
    """Read the start or the end of a call; the name of the tool is a key of the message."""
    events, tools = memory.advance(), message.tool_call or {}
    key = next((key for key in tools if key.endswith("ToolCall")), None)
    if key is None or message.call_id is None:
        return [*events, Unknown(name="tool_call", raw=adapter.raw_copy(line))]
    call = adapter.decode_part(tools[key], CALL) or Call()
    started = TOOLS.started(message.call_id, key.removesuffix("ToolCall"), call.args)
    events += memory.start(started)
    return (
        events if message.subtype == "started" else [*events, *_finished(memory, started.id, call)]
    )


def result(memory: Memory, message: Result, line: bytes) -> Sequence[Event]:
    """Read the end of a turn, with its tokens if this build reports them."""
    events = memory.advance()
    if (used := message.usage) is not None:
        report = partial(UsageReported, scope="turn", semantics="final")
        events.append(report(input=used.input_tokens, output=used.output_tokens))
    reason = None if message.is_error is False else "error"
    return [*events, memory.finish_turn(reason, message.result)]


def _finished(memory: Memory, id: str, call: Call) -> Sequence[Event]:
    outcome = call.result or Outcome()
    if (refusal := outcome.rejected) is not None:
        return memory.finish(id, "denied", error=refusal.reason or None, fix=adapter.PERMIT_ALL)
    done = outcome.success or outcome.failure or Success()
    output, code = done.stdout or done.content, done.exit_code
    if outcome.success is not None and not code:
        return memory.finish(id, "ok", output=output, exit_code=code)
    error = bytes(outcome.error).decode("utf-8", "replace") or output
    return memory.finish(id, "error", output=output, error=error, exit_code=code)


def recognises(message: Mapping[str, Any]) -> bool:
    """Whether a message is one of Cursor's: its type, and another field that only Cursor has."""
    if message.get("type") == "system":
        return "apiKeySource" in message and "tools" not in message
    return message.get("type") == "tool_call" and "call_id" in message


def invoke(task: Task) -> adapter.Invocation:
    """Return the command line for a task; the prompt goes to stdin."""
    if task.allow or task.max_turns:
        raise adapter.UnsupportedError(
            "cursor", "has no such option", "use --permission, --timeout"
        )
    mode = adapter.permission_of("cursor", MODES, task.permission)
    own = ("cursor-agent", "-p", *(FLAGS if task.stream else ("--output-format", "text")), *mode)
    chosen = (*adapter.option("--model", task.model), *adapter.option("--resume", task.resume))
    return adapter.Invocation(
        command=(*own, *chosen, *task.args),
        typed=adapter.as_typed((*own, *chosen), task.args, task.prompt),
        stdin=task.prompt.encode(),
    )


TABLE: adapter.Table[Memory] = {System: system, Said: said, ToolCall: tool_call, Result: result}
AGENT = Agent(
    name="cursor",
    programs=("cursor-agent",),
    install="curl https://cursor.com/install -fsS | bash",
    login="cursor-agent login",
    output_flags=FLAGS,
    checked_versions=(),
    capabilities=Capabilities(
        deltas="yes",
        thinking="no",
        subagents="no",
        usage="partly",
        cost="no",
        denials="yes",
        exit_codes="yes",
        resume="yes",
        end_event="partly",
        notes=("After a failure there may be no result.",),
    ),
    evidence="documentation",
    decoder=adapter.decoder_of("cursor", TABLE, Memory, silent=("user", "thinking")),
    recognises=recognises,
    invoke=invoke,
    with_output_flags=partial(adapter.with_format, flag=FLAGS, prompts=("-p", "--print")),
    keeps_variable=lambda name: name != "CURSOR_AGENT",
)
