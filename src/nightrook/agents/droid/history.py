"""What Factory Droid keeps on disk: for each session its messages, and a file with its sums."""

from collections.abc import Iterator, Sequence

import msgspec

from nightrook.adapter.history import Call, Finding, History, Place, Session
from nightrook.adapter.salvage import decode_part
from nightrook.adapter.shapes import Count, Shape, seconds_since_1970
from nightrook.model.text import one_line

_SUMS = ".settings.json"
_MESSAGES = ".jsonl"
_LONGEST_TITLE = 200


class Memory(msgspec.Struct):
    """What is known of the session of a file."""

    session: str
    has_sums: bool = False
    """Whether it is the file with the sums, not that with the messages."""


class _Tokens(Shape, rename="camel"):
    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_creation_tokens: Count = 0
    cache_read_tokens: Count = 0
    thinking_tokens: Count = 0


class _Settings(Shape, rename="camel"):
    model: str | None = None
    token_usage: _Tokens | None = None
    children: dict[str, msgspec.Raw] | None = msgspec.field(
        default=None, name="childInclusiveTokenUsageBySessionId"
    )


class _Line(Shape):
    type: str | None = None
    timestamp: str | float | None = None
    title: str | None = None
    cwd: str | None = None


_LINE = msgspec.json.Decoder(_Line)
_SETTINGS = msgspec.json.Decoder(_Settings)


def begin(parts: Sequence[str]) -> Memory:
    """Know the session and what the file has by its name."""
    name = parts[-1] if parts else ""
    session = name.removesuffix(_SUMS).removesuffix(_MESSAGES)
    return Memory(session=session or "unknown", has_sums=name.endswith(_SUMS))


def read(data: bytes, memory: Memory) -> list[Finding]:
    """Read a line of the messages, or the whole file with the sums."""
    return list(_sums(data, memory) if memory.has_sums else _message(data, memory))


def _sums(data: bytes, memory: Memory) -> Iterator[Finding]:
    """Read the sum of a session without the sessions of its subagents, which have their own."""
    settings = decode_part(data, _SETTINGS)
    if settings is None:
        return
    for child in settings.children or ():
        if child and child != memory.session:
            yield Session(id=child, parent=memory.session)
    tokens = settings.token_usage
    if tokens is None or tokens == _Tokens():
        return
    yield Call(
        id=memory.session,
        session=memory.session,
        model=settings.model or None,
        input=tokens.input_tokens,
        output=tokens.output_tokens,
        cache_read=tokens.cache_read_tokens,
        cache_write_5m=tokens.cache_creation_tokens,
        reasoning=tokens.thinking_tokens,
        summed=True,
    )


def _message(data: bytes, memory: Memory) -> Iterator[Finding]:
    line = decode_part(data, _LINE)
    if line is None:
        return
    at = seconds_since_1970(line.timestamp)
    if line.type == "session_start":
        yield Session(
            id=memory.session,
            at=at,
            project=line.cwd or None,
            title=one_line(line.title or "", _LONGEST_TITLE) or None,
        )
    elif at is not None:
        yield Session(id=memory.session, at=at)


def recognises(head: bytes) -> bool:
    """Return whether a file is one of the two that Droid writes for a session."""
    is_messages = b'"session_start"' in head and b'"hostId"' in head
    return is_messages or (b'"tokenUsage"' in head and b'"inclusiveTokenUsage"' in head)


HISTORY = History(
    agent="droid",
    places=(
        Place(home=".factory", below="sessions", files=r"(?:[^/]+/)*[^/]+\.jsonl"),
        Place(
            home=".factory",
            below="sessions",
            files=r"(?:[^/]+/)*[^/]+\.settings\.json",
            kind="document",
        ),
    ),
    recognises=recognises,
    needles=(b'"session_start"', b'"timestamp"'),
    memory=Memory,
    begin=begin,
    read=read,
    notes=(
        "Droid reports one sum for each session, which counts at the time of its last message.",
    ),
)
