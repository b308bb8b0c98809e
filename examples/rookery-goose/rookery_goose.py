"""Goose for Rookery: reads what it writes (from recordings of 1.52.0) and starts it."""

import signal
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from rookery import adapter
from rookery.adapter import NOTHING, Agent, Capabilities, Count, ExitCode, Memory, Shape, Task
from rookery.events import Error, Event, Unknown, UsageReported

FLAGS = ("--output-format", "stream-json")
MODES: dict[adapter.Permission, str] = {
    "agent": "",
    "edit": "smart_approve",
    "plan": "chat",
    "all": "auto",
}
TOOLS = adapter.Tools(
    kinds={"shell": "execute", "write": "edit", "edit": "edit"},
    titles={"execute": ("command",), "edit": ("path",)},
    mcp_prefix="",  # a tool of an MCP server is called SERVER__TOOL
)
FAILED = "Ran into this error: "  # the only sign of most API failures (api_400, api_500)
LIMIT = "I've reached the maximum number of actions I can do without user input."


class Structured(Shape):
    exit_code: ExitCode | None = None


class Value(Shape, rename="camel"):
    name: str | None = None
    arguments: msgspec.Raw = NOTHING
    content: "list[Part] | None" = None
    structured_content: Structured | None = None
    is_error: bool | None = None


class Call(Shape):
    status: str | None = None
    value: Value | None = None
    error: str | None = None


class Part(Shape, rename="camel"):
    type: str = ""
    id: str | None = None
    text: str | None = None
    thinking: str | None = None
    message: str | None = None
    tool_call: Call | None = None
    tool_result: Call | None = None


class Content(Shape):
    id: str | None = None
    content: list[Part] | None = None


class Message(Shape, tag="message"):
    message: Content | None = None


class Failure(Shape, tag="error"):
    error: str | None = None


class Complete(Shape, tag="complete"):
    total_tokens: Count | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None


def message(memory: Memory, message: Message, line: bytes) -> Sequence[Event]:
    """Read text, which comes in pieces with the id of its message, tool calls and results."""
    content, events = message.message or Content(), memory.begin_turn()
    for part in content.content or ():
        text = part.text if part.type == "text" else part.thinking
        if text is not None:
            id = f"{content.id}:{part.type}"
            events += memory.add_delta(id, text, thinking=part.type != "text")
            continue
        events += memory.end_text()
        if part.type == "error":
            events.append(Error(kind="internal", message=part.message))
        elif part.id is not None and part.tool_call is not None:
            call = part.tool_call.value or Value()
            events += memory.start(TOOLS.started(part.id, call.name or "tool", call.arguments))
        elif part.id is not None and part.tool_result is not None:
            events += _finished(memory, part.id, part.tool_result)
        else:
            events.append(Unknown(name=f"message/{part.type}", raw=adapter.raw_copy(line)))
    return events


def failure(memory: Memory, message: Failure, line: bytes) -> Sequence[Event]:
    """Read the end of a run that failed or was interrupted."""
    reason = "interrupted" if message.error == "Headless run interrupted" else "api_error"
    return [*memory.advance(), memory.finish_turn(reason, message.error)]


def complete(memory: Memory, message: Complete, line: bytes) -> Sequence[Event]:
    """Read the end of a run, with the tokens of the session; most failures end like this, too."""
    events = memory.advance()
    used = UsageReported(
        scope="session",
        semantics="cumulative",
        input=adapter.uncached(message.input_tokens, message.cache_read_input_tokens),
        output=message.output_tokens,
        cache_read=message.cache_read_input_tokens,
    )
    if message.total_tokens:
        events.append(used)
    answer = memory.answer or ""
    # A request that broke off is also reported as complete, without tokens (mid_stream_cut).
    failed = answer.startswith(FAILED) or message.total_tokens == 0
    limit = "max_turns" if answer.startswith(LIMIT) else None
    return [*events, memory.finish_turn("api_error" if failed else limit, answer)]


def _finished(memory: Memory, id: str, result: Call) -> Sequence[Event]:
    value = result.value or Value()
    output = "\n".join(part.text for part in value.content or () if part.text)
    code = value.structured_content.exit_code if value.structured_content else None
    if result.status != "error" and not value.is_error:
        return memory.finish(id, "ok", output=output, exit_code=code)
    error = result.error or output
    return memory.finish(id, "error", output=output, error=error, exit_code=code)


def recognises(message: Mapping[str, Any]) -> bool:
    """Whether a message is one of Goose's: its type, and another field that only Goose has."""
    content = message.get("message")
    if message.get("type") == "message":
        return isinstance(content, dict) and "created" in content and "content" in content
    return message.get("type") == "complete" and "cache_read_input_tokens" in message


def invoke(task: Task) -> adapter.Invocation:
    """Return the command line for a task; the prompt goes to stdin."""
    if task.allow:
        raise adapter.UnsupportedError("goose", "has no rules for single tools", "use --permission")
    mode = adapter.permission_of("goose", MODES, task.permission)
    variables = {"GOOSE_MODEL": task.model, "GOOSE_MODE": mode}
    output = FLAGS if task.stream else ()
    turns = ("--max-turns", str(task.max_turns)) if task.max_turns else ()
    resume = ("-r", "--session-id", task.resume) if task.resume else ()
    return adapter.Invocation(
        command=("goose", "run", "-q", *output, *turns, *resume, *task.args, "-i", "-"),
        stdin=task.prompt.encode(),
        stop_signal=signal.SIGINT,  # it writes an error that says it was interrupted
        environment={name: value for name, value in variables.items() if value},
    )


TABLE: adapter.Table[Memory] = {Message: message, Failure: failure, Complete: complete}
AGENT = Agent(
    name="goose",
    programs=("goose",),
    install="npm install -g @aaif/goose",
    output_flags=("-q", *FLAGS),
    checked_versions=("1.52.0",),
    capabilities=Capabilities(
        deltas="yes",
        thinking="yes",
        subagents="no",
        usage="partly",
        cost="no",
        denials="no",
        exit_codes="yes",
        resume="partly",
        end_event="partly",
        notes=("Tokens are reported at the end, for the whole session; the session id is not.",),
    ),
    evidence="recordings",
    decoder=adapter.decoder_of("goose", TABLE, Memory, silent=("notification",)),
    recognises=recognises,
    invoke=invoke,
    with_output_flags=partial(adapter.with_format, flag=FLAGS, after="run"),
    keeps_variable=lambda name: name != "GOOSE_SESSION_ID",
)
