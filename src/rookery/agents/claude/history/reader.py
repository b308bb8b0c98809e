"""Reads calls, sessions and limits from the lines of Claude Code's stored sessions."""

import re
from collections.abc import Sequence

import msgspec

from rookery.adapter.history import Call, Finding, Limit, Session
from rookery.adapter.times import seconds_since_1970
from rookery.agents.claude.history.lines import decode
from rookery.agents.claude.history.shapes import Line, Message, Usage
from rookery.model.price import credible
from rookery.model.text import one_line

_SUBAGENTS = "subagents"
_USAGE, _REQUEST = b'"usage":{', b'},"requestId":"'
_UUID, _TIMESTAMP = b'"uuid":"', b'"timestamp":"'
_LENGTH_OF_STAMP = len('2026-11-02T12:00:00.000Z"')
_SYNTHETIC = "<synthetic>"  # messages that Claude Code writes itself
_UNNAMED_BRANCHES = ("", "HEAD")
_LONGEST_TITLE = 200
_TITLES = ("", "last-prompt", "summary", "ai-title", "custom-title")
_PROMPT, _SUMMARY = 1, 2
_NOT_IN_FOLDER_NAMES = re.compile(r"[^A-Za-z0-9]")
_SEPARATOR = re.compile(r"[/\\]")


class Memory(msgspec.Struct):
    """What is remembered between the lines of a file."""

    session: str
    """The session of lines that do not name theirs."""

    folder: str = ""
    """The name of the project's folder, which is made from the path of the project."""

    subagent: str | None = None
    """The subagent that the file belongs to."""

    at: float | None = None
    opened: float | None = None
    """When the first line was written, if it reports that; earlier lines are copies."""

    known: Session | None = None
    """What was last reported of the session."""

    written: tuple[str | None, ...] = ()
    """The fields of the line from which that was made."""

    last_id: str | None = None
    last_at: float = 0
    last_usage: Usage | None = None
    """What the last call that was reported had used."""

    echo: bytes = b""
    """A part of that line which a line has as well that reports nothing new."""

    id_mark: bytes = b""
    """The id of its message as it is written: messages with the same request are different."""

    stamp: bytes = b""
    """The time of that line as it is written."""

    skipped: bytes = b""
    """The end of the last line that was skipped for that reason, with its id and its time."""

    cwd: str | None = None
    project: str | None = None
    last_uuid: str | None = None
    title_rank: int = 0
    """The best kind of title that was reported, as its place in `_TITLES`."""

    unidentified: int = 0


def begin(parts: Sequence[str]) -> Memory:
    """Return the memory of a file at its start."""
    *above, name = (_storable(part) for part in parts or ("",))
    name = name.removesuffix(".jsonl")
    subagent = name.removeprefix("agent-") if name.startswith("agent-") else None
    if _SUBAGENTS in above:
        above = above[: above.index(_SUBAGENTS)]
        subagent, name = subagent or name, above.pop() if above else name
    return Memory(session=name, folder=above[-1] if above else "", subagent=subagent)


def _storable(part: str) -> str:
    """A name of a file without what is not text, which no database stores."""
    return part.encode(errors="replace").decode()


def read(line: bytes, memory: Memory) -> Sequence[Finding]:
    """Read a line."""
    if (
        memory.echo
        and line.startswith(memory.echo, line.rfind(_USAGE))
        and memory.id_mark in line
        and _is_later(line, memory)
    ):
        memory.skipped = line[max(line.rfind(_UUID), 0) :]
        return ()
    messages = decode(line)
    if memory.skipped:
        _catch_up(messages, memory)
    if len(messages) == 1:
        return _read(messages[0], memory, line)
    memory.echo = b""
    return [finding for message in messages for finding in _read(message, memory, b"")]


def _read(found: Line, memory: Memory, raw: bytes) -> Sequence[Finding]:
    before = memory.at
    memory.at = seconds_since_1970(found.timestamp) or before
    if found.type == "queue-operation":
        memory.opened = memory.at if before is None else memory.opened
        return ()
    if found.type in ("assistant", None) and found.message is not None:
        return _assistant(found, found.message, memory, raw)
    return _title(found, memory)


def _assistant(line: Line, message: Message, memory: Memory, raw: bytes) -> Sequence[Finding]:
    memory.last_uuid = line.uuid
    if message.model == _SYNTHETIC:
        return _limit(line, memory)
    usage = message.usage
    if usage is None or message.role not in ("assistant", None):
        return ()
    if _is_repeated(line, message, memory):
        return ()
    session = _session(line, memory)
    call = _call(line, message, usage, session, memory)
    memory.last_id, memory.last_at, memory.last_usage = message.id, memory.at or 0, usage
    memory.echo, memory.stamp = _echo(raw), _stamp(raw)
    memory.id_mark = f'"id":"{message.id}"'.encode(errors="replace")
    if session == memory.known:
        return (call,)
    memory.known = session
    return (msgspec.structs.replace(session, at=memory.at), call)


def _echo(line: bytes) -> bytes:
    """What the other lines of a message have as well if they report nothing new about it.

    It is the usage with the id of the request. Empty if the line is not written in the usual order.
    """
    start = line.rfind(_USAGE)
    request = line.find(_REQUEST, start)
    end = line.find(b'"', request + len(_REQUEST))
    return line[start : end + 1] if 0 < start < request < end else b""


def _stamp(line: bytes) -> bytes:
    """The time of a line as it is written; empty if it has none in the usual form."""
    start = line.rfind(_TIMESTAMP) + len(_TIMESTAMP)
    stamp = line[start : start + _LENGTH_OF_STAMP]
    return stamp if stamp.endswith(b'Z"') else b""


def _is_later(line: bytes, memory: Memory) -> bool:
    """Whether a line is not older than the one that reported the last call."""
    stamp = _stamp(line)
    return bool(stamp and memory.stamp) and stamp >= memory.stamp


def _catch_up(messages: Sequence[Line], memory: Memory) -> None:
    """Note the time and the id of the line that was skipped last, unless the next has its own."""
    end, memory.skipped = memory.skipped, b""
    if messages and messages[0].type == "assistant" and messages[0].timestamp is not None:
        return
    for found in decode(end if end.startswith(b"{") else b"{" + end):
        memory.at = seconds_since_1970(found.timestamp) or memory.at
        memory.last_uuid = found.uuid or memory.last_uuid


def _is_repeated(line: Line, message: Message, memory: Memory) -> bool:
    """Whether the line has another part of the last message and reports nothing new about it."""
    return (
        message.id == memory.last_id
        and bool(message.id)
        and message.usage == memory.last_usage
        and line.costUSD is None
        and (memory.at or 0) >= memory.last_at
    )


def _call(line: Line, message: Message, usage: Usage, session: Session, memory: Memory) -> Call:
    five_minutes, one_hour = _cache_writes(usage)
    details, tools = usage.output_tokens_details, usage.server_tool_use
    return Call(
        id=message.id or line.requestId or line.uuid or _place(memory),
        session=session.id,
        at=memory.at,
        model=message.model or None,
        input=usage.input_tokens or 0,
        output=usage.output_tokens or 0,
        cache_read=usage.cache_read_input_tokens or 0,
        cache_write_5m=five_minutes,
        cache_write_1h=one_hour,
        reasoning=details.thinking_tokens or 0 if details else 0,
        web_searches=tools.web_search_requests or 0 if tools else 0,
        cost_usd=credible(line.costUSD),
        fast=usage.speed == "fast",
        subagent=_subagent(line, memory),
        project=session.project,
        branch=session.branch,
        copied=_is_copied(line, session, memory),
    )


def _place(memory: Memory) -> str:
    """What identifies a message that has no id: its place in the file."""
    memory.unidentified += 1
    return f"{memory.session}/{memory.subagent or ''}/{memory.unidentified}"


def _cache_writes(usage: Usage) -> tuple[int, int]:
    """The tokens written for five minutes and for one hour; only the latter are always split."""
    written, split = usage.cache_creation_input_tokens or 0, usage.cache_creation
    if split is None:
        return written, 0
    one_hour = split.ephemeral_1h_input_tokens or 0
    if not written:
        return split.ephemeral_5m_input_tokens or 0, one_hour
    return max(written - one_hour, 0), one_hour


def _subagent(line: Line, memory: Memory) -> str | None:
    """The kind of the subagent if the line reports it, else its id."""
    if not line.isSidechain and memory.subagent is None:
        return None
    return line.attributionAgent or line.agentId or memory.subagent or "subagent"


def _is_copied(line: Line, session: Session, memory: Memory) -> bool:
    """Whether a fork, which begins with the lines of another session, has it from there."""
    if line.forkedFrom:
        return True
    if memory.subagent is None and session.id != memory.session:
        return True
    return memory.opened is not None and memory.at is not None and memory.at < memory.opened


def _session(line: Line, memory: Memory) -> Session:
    """What is known of the session; the fields that a line does not have are as before."""
    written = (line.sessionId, line.cwd, line.gitBranch, line.version)
    if written == memory.written and memory.known is not None and line.forkedFrom is None:
        return memory.known  # as most are
    memory.written = written
    if line.cwd and line.cwd != memory.cwd:
        memory.cwd, memory.project = line.cwd, _project(line.cwd, memory.folder)
    known, origin = memory.known, line.forkedFrom
    session = line.sessionId or memory.session
    before = known if known is not None and known.id == session else Session(id=session)
    forked_from = origin if isinstance(origin, str) or origin is None else origin.sessionId
    branch = before.branch if line.gitBranch is None else line.gitBranch
    return Session(
        id=session,
        project=memory.project,
        branch=None if branch in _UNNAMED_BRANCHES else branch,
        version=line.version or before.version,
        forked_from=forked_from or before.forked_from,
    )


def _project(cwd: str, folder: str) -> str:
    """The folder that the session was started in, if `cwd` is it or below it; else `cwd`."""
    if _NOT_IN_FOLDER_NAMES.sub("-", cwd) == folder:
        return cwd
    for separator in _SEPARATOR.finditer(cwd):
        above = cwd[: separator.start()]
        if above and _NOT_IN_FOLDER_NAMES.sub("-", above) == folder:
            return above
    return cwd


def _title(line: Line, memory: Memory) -> Sequence[Finding]:
    """The title that a line reports; a later one replaces it if it is as good or better."""
    rank = _TITLES.index(line.type) if line.type in _TITLES else 0
    text = (None, line.lastPrompt, line.summary, line.aiTitle, line.customTitle)[rank]
    if not text or rank < memory.title_rank or rank == memory.title_rank == _PROMPT:
        return ()
    if rank == _SUMMARY and line.leafUuid != memory.last_uuid:
        return ()  # it is of another session
    memory.title_rank = rank
    session = line.sessionId or (memory.known.id if memory.known else memory.session)
    return (Session(id=session, title=one_line(text, _LONGEST_TITLE)),)


def _limit(line: Line, memory: Memory) -> Sequence[Finding]:
    """The limit that ended a call."""
    quota = line.quotaLimits
    if quota is None or not quota.rateLimitType or memory.at is None:
        return ()
    return (
        Limit(
            at=memory.at,
            window=quota.rateLimitType,
            used=1.0 if quota.status == "rejected" else None,
            resets_at=seconds_since_1970(quota.resetsAt),
        ),
    )
