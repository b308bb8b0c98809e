"""Goose for Rookery: what it writes (from recordings of 1.52.0), and how to call it."""

import signal
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from rookery.adapter.agent import Agent, Capabilities, Invocation, Permission, Task
from rookery.adapter.command_line import permission_of, with_format
from rookery.adapter.memory import Memory
from rookery.adapter.reader import Table, decoder_of
from rookery.adapter.salvage import own
from rookery.adapter.shapes import NOTHING, Count, ExitCode, Shape
from rookery.adapter.tokens import fresh
from rookery.adapter.tools import Tools
from rookery.model.errors import UnsupportedError
from rookery.model.events import Error, Event, Unknown, UsageReported

FLAGS = ("--output-format", "stream-json")
MODES: dict[Permission, str] = {"agent": "", "edit": "smart_approve", "plan": "chat", "all": "auto"}
TOOLS = Tools(
    kinds={"shell": "execute", "write": "edit", "edit": "edit"},
    titles={"execute": ("command",), "edit": ("path",)},
    start="",  # a server's tool is called SERVER__TOOL
)
FAILED = "Ran into this error: "  # the only sign of most API failures (api_400, api_500)
TIRED = "I've reached the maximum number of actions I can do without user input."


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


class Said(Shape):
    id: str | None = None
    content: list[Part] | None = None


class Message(Shape, tag="message"):
    message: Said | None = None


class Failure(Shape, tag="error"):
    error: str | None = None


class Complete(Shape, tag="complete"):
    total_tokens: Count | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None


def message(memory: Memory, message: Message, line: bytes) -> Sequence[Event]:
    """Read words, which come in pieces with the id of their message, calls and results."""
    said, events = message.message or Said(), memory.begin_turn()
    for part in said.content or ():
        words = part.text if part.type == "text" else part.thinking
        if words is not None:
            events += memory.say(f"{said.id}:{part.type}", words, thinking=part.type != "text")
            continue
        events += memory.end_words()
        if part.type == "error":
            events.append(Error(kind="internal", message=part.message))
        elif part.id is not None and part.tool_call is not None:
            call = part.tool_call.value or Value()
            events += memory.start(TOOLS.started(part.id, call.name or "tool", call.arguments))
        elif part.id is not None and part.tool_result is not None:
            events += _finished(memory, part.id, part.tool_result)
        else:
            events.append(Unknown(name=f"message/{part.type}", raw=own(line)))
    return events


def failure(memory: Memory, message: Failure, line: bytes) -> Sequence[Event]:
    """Read the end of a run that failed, or that somebody interrupted."""
    reason = "interrupted" if message.error == "Headless run interrupted" else "api_error"
    return [*memory.go_on(), memory.finish_turn(reason, message.error)]


def complete(memory: Memory, message: Complete, line: bytes) -> Sequence[Event]:
    """Read the end of a run, with the tokens of the session; most failures are told so, too."""
    events = memory.go_on()
    used = UsageReported(
        scope="session",
        semantics="cumulative",
        input=fresh(message.input_tokens, message.cache_read_input_tokens),
        output=message.output_tokens,
        cache_read=message.cache_read_input_tokens,
    )
    if message.total_tokens:
        events.append(used)
    answer = memory.answer or ""
    # A request that broke off is told as complete, too, with no tokens (mid_stream_cut).
    failed = answer.startswith(FAILED) or message.total_tokens == 0
    tired = "max_turns" if answer.startswith(TIRED) else None
    return [*events, memory.finish_turn("api_error" if failed else tired, answer)]


def _finished(memory: Memory, id: str, result: Call) -> Sequence[Event]:
    told = result.value or Value()
    output = "\n".join(part.text for part in told.content or () if part.text)
    code = told.structured_content.exit_code if told.structured_content else None
    if result.status != "error" and not told.is_error:
        return memory.finish(id, "ok", output=output, exit_code=code)
    error = result.error or output
    return memory.finish(id, "error", output=output, error=error, exit_code=code)


def recognises(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is one of Goose's: its type, and something telling beside it."""
    said = message.get("message")
    if message.get("type") == "message":
        return isinstance(said, dict) and "created" in said and "content" in said
    return message.get("type") == "complete" and "cache_read_input_tokens" in message


def invoke(task: Task) -> Invocation:
    """Make the command line for a task; the prompt goes by standard input."""
    if task.allow:
        raise UnsupportedError("goose", "takes no rules for single tools", "use --permission")
    mode = permission_of("goose", MODES, task.permission)
    told = {"GOOSE_MODEL": task.model, "GOOSE_MODE": mode}
    output = FLAGS if task.stream else ()
    turns = ("--max-turns", str(task.max_turns)) if task.max_turns else ()
    resume = ("-r", "--session-id", task.resume) if task.resume else ()
    return Invocation(
        command=("goose", "run", "-q", *output, *turns, *resume, *task.args, "-i", "-"),
        stdin=task.prompt.encode(),
        ask_signal=signal.SIGINT,  # it writes an error that says so
        environment={name: value for name, value in told.items() if value},
    )


TABLE: Table[Memory] = {Message: message, Failure: failure, Complete: complete}
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
        notes=("Tokens are the session's, told at the end. The session's name is not told.",),
    ),
    evidence="recordings",
    decoder=decoder_of("goose", TABLE, Memory, silent=("notification",)),
    recognises=recognises,
    invoke=invoke,
    with_output_flags=partial(with_format, flag=FLAGS, after="run"),
    keeps_variable=lambda name: name != "GOOSE_SESSION_ID",
)
