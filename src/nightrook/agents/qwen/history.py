"""What Qwen Code keeps on disk: a file of messages and telemetry for each session."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from nightrook.adapter.history import Call, Finding, History, Place, Session, call_id
from nightrook.adapter.salvage import decode_part
from nightrook.adapter.shapes import NOTHING, Count, Shape, seconds_since_1970
from nightrook.adapter.usage import uncached
from nightrook.model.text import one_line

_RESPONSE = "qwen-code.api_response"
_LONGEST_TITLE = 200


class Memory(msgspec.Struct):
    """What is known of the session of a file."""

    session: str
    project: str | None = None
    branch: str | None = None
    version: str | None = None
    forked_from: str | None = None
    is_titled: bool = False
    is_reported: bool = False
    """Whether the session was returned as a finding, with these facts."""

    has_telemetry: bool = False
    at: float | None = None
    """The time of the line before."""


class _Response(Shape):
    name: str | None = msgspec.field(default=None, name="event.name")
    response_id: str | None = None
    model: str | None = None
    subagent_name: str | None = None
    input_token_count: Count = 0
    output_token_count: Count = 0
    cached_content_token_count: Count = 0
    thoughts_token_count: Count = 0


class _Payload(Shape, rename="camel"):
    ui_event: _Response | None = None
    custom_title: str | None = None


class _Usage(Shape, rename="camel"):
    prompt_token_count: Count = 0
    candidates_token_count: Count = 0
    cached_content_token_count: Count = 0
    thoughts_token_count: Count = 0


class _Fork(Shape, rename="camel"):
    session_id: str | None = None


class _Part(Shape):
    text: str | None = None


class _Message(Shape):
    parts: list[_Part] | None = None


class _Line(Shape, rename="camel"):
    uuid: str | None = None
    session_id: str | None = None
    timestamp: str | float | None = None
    type: str | None = None
    subtype: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    model: str | None = None
    usage_metadata: _Usage | None = None
    message: msgspec.Raw = NOTHING
    system_payload: msgspec.Raw = NOTHING
    forked_from: _Fork | None = None


_LINE = msgspec.json.Decoder(_Line)
_MESSAGE = msgspec.json.Decoder(_Message)
_PAYLOAD = msgspec.json.Decoder(_Payload)


def begin(parts: Sequence[str]) -> Memory:
    """Know the session by the name of its file."""
    return Memory(session=(parts[-1] if parts else "").removesuffix(".jsonl") or "unknown")


def read(data: bytes, memory: Memory) -> list[Finding]:
    """Read a line."""
    line = decode_part(data, _LINE)
    if line is None:
        return []
    memory.at = seconds_since_1970(line.timestamp) or memory.at
    kind = line.subtype if line.type == "system" else line.type
    reader = _READERS.get(kind)
    return [*_session(line, memory), *(reader(line, memory) if reader is not None else ())]


def _session(line: _Line, memory: Memory) -> Iterator[Session]:
    fork = line.forked_from
    facts = {
        "session": line.session_id,
        "project": line.cwd,
        "branch": line.git_branch,
        "version": line.version,
        "forked_from": fork.session_id if fork is not None else None,
    }
    for name, fact in facts.items():
        if fact and fact != getattr(memory, name):
            setattr(memory, name, fact)
            memory.is_reported = False
    if not memory.is_reported:
        memory.is_reported = True
        yield _facts(memory)


def _facts(memory: Memory, title: str | None = None) -> Session:
    return Session(
        id=memory.session,
        at=memory.at,
        project=memory.project,
        branch=memory.branch,
        title=title,
        version=memory.version,
        forked_from=memory.forked_from,
    )


def _title(line: _Line, memory: Memory) -> Iterator[Finding]:
    payload = decode_part(line.system_payload, _PAYLOAD)
    if payload is not None and payload.custom_title:
        memory.is_titled = True
        yield _facts(memory, one_line(payload.custom_title, _LONGEST_TITLE))


def _prompt(line: _Line, memory: Memory) -> Iterator[Finding]:
    """Take the first prompt of the user as the title, until a better one is set."""
    message = None if memory.is_titled or line.subtype else decode_part(line.message, _MESSAGE)
    parts = (message.parts if message is not None else None) or ()
    title = one_line(" ".join(part.text for part in parts if part.text), _LONGEST_TITLE)
    if title:
        memory.is_titled = True
        yield _facts(memory, title)


def _telemetry(line: _Line, memory: Memory) -> Iterator[Finding]:
    """Read the telemetry of a response: the only line for a call of a subagent."""
    payload = decode_part(line.system_payload, _PAYLOAD)
    response = payload.ui_event if payload is not None else None
    if response is None or response.name != _RESPONSE:
        return
    id = call_id(response.response_id, line.uuid)
    if id is None:
        return
    memory.has_telemetry = True
    cached = response.cached_content_token_count
    yield Call(
        id=id,
        session=memory.session,
        at=memory.at,
        model=response.model or None,
        input=uncached(response.input_token_count, cached) or 0,
        output=response.output_token_count,
        cache_read=cached,
        reasoning=response.thoughts_token_count,
        subagent=response.subagent_name or None,
        project=memory.project,
        branch=memory.branch,
        copied=line.forked_from is not None,
    )


def _answer(line: _Line, memory: Memory) -> Iterator[Finding]:
    """Read the usage of an answer, which repeats the telemetry of its response, if there is any."""
    usage = line.usage_metadata
    if usage is None or memory.has_telemetry or not line.uuid:
        return
    yield Call(
        id=line.uuid,
        session=memory.session,
        at=memory.at,
        model=line.model or None,
        input=uncached(usage.prompt_token_count, usage.cached_content_token_count) or 0,
        output=usage.candidates_token_count,
        cache_read=usage.cached_content_token_count,
        reasoning=usage.thoughts_token_count,
        project=memory.project,
        branch=memory.branch,
        copied=line.forked_from is not None,
        fallback=True,
    )


_READERS: dict[str | None, Callable[[_Line, Memory], Iterator[Finding]]] = {
    "ui_telemetry": _telemetry,
    "custom_title": _title,
    "user": _prompt,
    "assistant": _answer,
}


def recognises(head: bytes) -> bool:
    """Return whether a file begins with a message of Qwen Code."""
    return b'"parentUuid"' in head and (b'"parts"' in head or b'"systemPayload"' in head)


HISTORY = History(
    agent="qwen",
    places=(
        Place(
            home=".qwen",
            variable="QWEN_HOME",
            below="projects",
            files=r"[^/]+/chats/(?:archive/)?[^/]+\.jsonl",
        ),
    ),
    recognises=recognises,
    needles=(b'"timestamp"', b'"ui_telemetry"', b'"usageMetadata"'),
    memory=Memory,
    begin=begin,
    read=read,
)
