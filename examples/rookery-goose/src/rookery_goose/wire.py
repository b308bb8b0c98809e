"""What Goose writes with `--output-format stream-json`, from recordings of 1.52.0."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from rookery.core import events, salvage
from rookery.core.decoder import LineDecoder
from rookery.core.drift import Drift
from rookery.core.events import Event, ToolFinished, ToolKind, ToolStarted, TurnFinished
from rookery.core.lines import DEFAULT_CAP
from rookery.core.text import one_line

KINDS: Mapping[str, ToolKind] = {"shell": "execute", "write": "edit", "edit": "edit"}
FAILED = "Ran into this error: "  # the only sign of most API failures (1.52.0 api_400, api_500)
TIRED = "I've reached the maximum number of actions I can do without user input."
NOTHING = msgspec.Raw()


class Arguments(msgspec.Struct, gc=False):
    command: str | None = None
    path: str | None = None
    text: str | None = None


class Structured(msgspec.Struct, gc=False):
    exit_code: int | None = None


class Value(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: msgspec.Raw = NOTHING
    content: "list[Part] | None" = None
    structuredContent: Structured | None = None  # noqa: N815 - as on the wire
    isError: bool | None = None  # noqa: N815


class Call(msgspec.Struct, gc=False):
    status: str | None = None
    value: Value | None = None
    error: str | None = None


class Part(msgspec.Struct, gc=False):
    type: str = ""
    id: str | None = None
    text: str | None = None
    thinking: str | None = None
    message: str | None = None
    toolCall: Call | None = None  # noqa: N815
    toolResult: Call | None = None  # noqa: N815


class Said(msgspec.Struct, gc=False):
    id: str | None = None
    content: list[Part] | None = None


class Message(msgspec.Struct, tag="message", gc=False):
    message: Said | None = None


class Notification(msgspec.Struct, tag="notification", gc=False):
    extension_id: str | None = None


class Failure(msgspec.Struct, tag="error", gc=False):
    error: str | None = None


class Complete(msgspec.Struct, tag="complete", gc=False):
    total_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class Goose:
    """Turns Goose's messages into events; words come in pieces with the id of their message."""

    def __init__(self) -> None:
        self.memory, self.drift, self.results = self, Drift({}), 0
        self.table = {Message: Goose.message, Failure: Goose.failure, Complete: Goose.complete}
        self.table[Notification] = lambda *_: ()
        self.begun = False
        self.block: tuple[str, str] | None = None  # id and type of what is being said
        self.pieces: list[str] = []
        self.answer = ""
        self.tools: dict[str, ToolStarted] = {}
        self.ended: set[str] = set()

    def type_of(self, message: Any) -> str:
        return str(type(message).__struct_config__.tag)

    def message(self, message: Message, line: bytes) -> Sequence[Event]:
        said = message.message or Said()
        return [*self.begin(), *(e for p in said.content or () for e in self.part(said.id, p))]

    def failure(self, message: Failure, line: bytes) -> Sequence[Event]:
        reason = "interrupted" if message.error == "Headless run interrupted" else "api_error"
        return [*self.begin(), *self.whole(), self.end(reason, message.error)]

    def complete(self, message: Complete, line: bytes) -> Sequence[Event]:
        told = [*self.begin(), *self.whole()]
        if message.total_tokens:
            told.append(events.UsageReported(
                scope="session", semantics="cumulative", output=message.output_tokens,
                input=(message.input_tokens or 0) - (message.cache_read_input_tokens or 0),
                cache_read=message.cache_read_input_tokens,
            ))  # fmt: skip
        # A request that broke off is told as complete, too, with no tokens (mid_stream_cut).
        failed = self.answer.startswith(FAILED) or message.total_tokens == 0
        tired = "max_turns" if self.answer.startswith(TIRED) else None
        return [*told, self.end("api_error" if failed else tired, self.answer)]

    def part(self, message: str | None, part: Part) -> Iterator[Event]:
        words = part.text if part.type == "text" else part.thinking
        if words is not None:
            kind = events.TextDelta if part.type == "text" else events.ThinkingDelta
            if self.block != (block := (f"{message}:{part.type}", part.type)):
                yield from self.whole()
                self.block = block
            self.pieces.append(words)
            yield kind(id=block[0], text=words)
            return
        yield from self.whole()
        if part.type == "error":
            yield events.Error(kind="internal", message=part.message)
        elif part.id is not None and part.toolCall is not None and part.id not in self.tools:
            yield from self.call(part.id, part.toolCall.value or Value())
        elif part.id is not None and part.toolResult is not None:
            yield from self.result(part.id, part.toolResult, part.toolResult.value or Value())

    def call(self, id: str, told: Value) -> Iterator[Event]:
        name, input = told.name or "tool", told.arguments
        known = None if input is NOTHING else salvage.decode(input, ARGUMENTS)
        words = next((w for w in msgspec.structs.astuple(known) if w), None) if known else None
        server, _, tool = name.partition("__")
        if id not in self.ended:
            started = self.tools[id] = ToolStarted(
                id=id, name=name, kind=KINDS.get(name, "other"),
                title=one_line(words, 200) if words else None,
                input=None if input is NOTHING else salvage.own(input),
                server=server if tool else None, tool=tool or None,
            )  # fmt: skip
            yield started

    def result(self, id: str, result: Call, told: Value) -> Iterator[Event]:
        tool = self.tools.pop(id, None)
        if id not in self.ended:
            self.ended.add(id)
            output = "\n".join(part.text for part in told.content or () if part.text)
            failed = result.status == "error" or told.isError is True
            yield ToolFinished(
                id=id, name=tool.name if tool else None, kind=tool.kind if tool else None,
                status="error" if failed else "ok", output=output,
                error=(result.error or output) if failed else None,
                exit_code=told.structuredContent.exit_code if told.structuredContent else None,
            )  # fmt: skip

    def begin(self) -> Sequence[Event]:
        begun, self.begun = self.begun, True
        return () if begun else (events.TurnStarted(origin="prompt"),)

    def whole(self) -> Iterator[Event]:
        if self.block is not None:
            (id, type), words = self.block, "".join(self.pieces)
            self.block, self.pieces = None, []
            self.answer = words if type == "text" else self.answer
            yield (events.Text if type == "text" else events.Thinking)(id=id, text=words)

    def end(self, reason: str | None, words: str | None) -> TurnFinished:
        self.begun, self.results, self.answer = False, self.results + 1, ""
        bad = {"reason": reason, "errors": (words,) if words else None}
        return TurnFinished(ok=False, **bad) if reason else TurnFinished(ok=True, text=words)

    def close(self) -> tuple[Sequence[Event], int]:
        left = [ToolFinished(id=t.id, status="orphaned", name=t.name) for t in self.tools.values()]
        return [*self.whole(), *left], len(left)


ARGUMENTS = msgspec.json.Decoder(Arguments)


def decoder(*, cap: int = DEFAULT_CAP) -> LineDecoder:
    return LineDecoder("goose", Message | Notification | Failure | Complete, Goose(), cap=cap)


def recognises(message: Mapping[str, Any]) -> bool:
    said = message.get("message")
    goose = isinstance(said, dict) and "created" in said and "content" in said
    return (message.get("type") == "message" and goose) or (
        message.get("type") == "complete" and "cache_read_input_tokens" in message
    )
