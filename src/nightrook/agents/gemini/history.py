"""What Gemini CLI keeps on disk: a file of messages for each session and each subagent."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from nightrook.adapter.history import Call, Finding, History, Place, Session
from nightrook.adapter.salvage import decode_part
from nightrook.adapter.shapes import NOTHING, Count, Shape, seconds_since_1970
from nightrook.adapter.usage import uncached
from nightrook.model.text import one_line

Time = str | float | None

_LONGEST_TITLE = 200
_NOT_PROMPTS = ("<session_context>", "<hook_context>", "/", "?")
"""What messages that the agent or its commands add begin with."""


class Memory(msgspec.Struct):
    """What is known of the session of a file."""

    session: str
    parent: str | None = None
    project: str | None = None
    is_subagent: bool = False
    is_titled: bool = False
    at: float | None = None
    """The time of the message before."""


class _Tokens(Shape):
    input: Count = 0
    output: Count = 0
    cached: Count = 0
    thoughts: Count = 0
    tool: Count = 0


class _Part(Shape):
    text: str | None = None


class _Message(Shape):
    id: str | None = None
    timestamp: Time = None
    type: str | None = None
    model: str | None = None
    tokens: _Tokens | None = None
    content: msgspec.Raw = NOTHING


class _Facts(Shape, rename="camel"):
    session_id: str | None = None
    start_time: Time = None
    kind: str | None = None
    summary: str | None = None
    directories: list[str] | None = None
    messages: list[_Message] | None = None


class _Line(_Facts):
    """A message, facts about the session, or both in one: a whole session before JSON Lines."""

    id: str | None = None
    timestamp: Time = None
    type: str | None = None
    model: str | None = None
    tokens: _Tokens | None = None
    content: msgspec.Raw = NOTHING
    changed: _Facts | None = msgspec.field(default=None, name="$set")


_LINE = msgspec.json.Decoder(_Line)
_CONTENT: msgspec.json.Decoder[str | list[_Part]] = msgspec.json.Decoder(str | list[_Part])
_TEXT = msgspec.json.Decoder(str)
_CONTEXT = _NOT_PROMPTS[0].encode()
_WORKSPACE = re.compile(rb'Workspace Directories:\*\*\\n +- ((?:[^"\\]|\\[^n])+)')
"""The first folder in the message with which a session begins, as it is in JSON."""


def begin(parts: Sequence[str]) -> Memory:
    """Know the session by its file: `<project>/chats[/<parent session>]/<name>`."""
    name = (parts[-1] if parts else "").rpartition(".")[0] or "unknown"
    parent = parts[-2] if len(parts) > 2 and parts[-3] == "chats" else None
    return Memory(session=name, parent=parent, is_subagent=parent is not None)


def read(data: bytes, memory: Memory) -> list[Finding]:
    """Read a line, or a whole session of a version that wrote one object."""
    line = decode_part(data, _LINE)
    if line is None:
        return []
    findings = list(_session(line, memory))
    if line.changed is not None:
        findings += _session(line.changed, memory)
    if line.id is not None:
        findings += _message(line, memory)
    return findings


def _session(facts: _Facts, memory: Memory) -> Iterator[Finding]:
    messages = facts.messages or []
    known = (memory.session, memory.project)
    memory.session = facts.session_id or memory.session
    memory.is_subagent |= facts.kind == "subagent"
    memory.is_titled |= bool(facts.summary)
    memory.at = seconds_since_1970(facts.start_time) or memory.at
    folders = (*(facts.directories or ()), *map(_workspace, messages), memory.project)
    memory.project = next(filter(None, folders), None)
    if facts.session_id or facts.summary or known != (memory.session, memory.project):
        yield Session(
            id=memory.session,
            at=memory.at,
            project=memory.project,
            title=one_line(facts.summary or "", _LONGEST_TITLE) or None,
            parent=memory.parent,
        )
    for message in messages:
        yield from _message(message, memory)


def _message(message: _Message | _Line, memory: Memory) -> Iterator[Finding]:
    """Read a message, which is written again when it gets its tool calls or is resumed."""
    memory.at = seconds_since_1970(message.timestamp) or memory.at
    if message.type == "user" and not memory.is_titled:
        yield from _title(message, memory)
    tokens = message.tokens
    if message.type != "gemini" or tokens is None or not message.id:
        return
    yield Call(
        id=message.id,
        session=memory.session,
        at=memory.at,
        model=message.model or None,
        input=(uncached(tokens.input, tokens.cached) or 0) + tokens.tool,
        output=tokens.output + tokens.thoughts,
        cache_read=tokens.cached,
        reasoning=tokens.thoughts,
        subagent=memory.session if memory.is_subagent else None,
        project=memory.project,
    )


def _title(message: _Message | _Line, memory: Memory) -> Iterator[Session]:
    """Take the first prompt of the user as the title, until the agent saves a summary."""
    content = decode_part(message.content, _CONTENT)
    parts = content if isinstance(content, list) else [_Part(content)]
    prompt = " ".join(part.text for part in parts if part.text)
    if prompt.strip() and not prompt.lstrip().startswith(_NOT_PROMPTS):
        memory.is_titled = True
        yield Session(id=memory.session, at=memory.at, title=one_line(prompt, _LONGEST_TITLE))


def _workspace(message: _Message) -> str | None:
    content = bytes(message.content)
    folder = _WORKSPACE.search(content) if _CONTEXT in content else None
    return None if folder is None else decode_part(b'"%b"' % folder[1], _TEXT)


def recognises(head: bytes) -> bool:
    """Return whether a file begins with the facts of a session of Gemini CLI."""
    return b'"sessionId"' in head and b'"projectHash"' in head


HISTORY = History(
    agent="gemini",
    places=(
        Place(
            home="",
            variable="GEMINI_CLI_HOME",
            below=".gemini/tmp",
            files=r"[^/]+/chats/(?:[^/]+/)?[^/]+\.jsonl",
        ),
        Place(
            home="",
            variable="GEMINI_CLI_HOME",
            below=".gemini/tmp",
            files=r"[^/]+/chats/session-[^/]*\.json",
            kind="document",
        ),
    ),
    recognises=recognises,
    needles=(b'"tokens"', b'"timestamp"', b'"sessionId"', b'"summary"', b'"directories"'),
    memory=Memory,
    begin=begin,
    read=read,
)
