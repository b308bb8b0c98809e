"""Reads calls, sessions and limits from the lines of Claude Code's stored sessions."""

import re
from collections.abc import Sequence

import msgspec

from rookery.adapter.history import Call, Finding, Limit, Session
from rookery.adapter.times import seconds_since_1970
from rookery.agents.claude.history.lines import decode
from rookery.agents.claude.history.shapes import Line, Message, Usage
from rookery.agents.claude.shapes import CacheCreation
from rookery.model.price import credible
from rookery.model.text import one_line

_SUBAGENTS = "subagents"
_LENGTH_OF_TIME = len("2026-11-02T12:00:00.000Z")
_ANSWERS = ("assistant", None)
_SYNTHETIC = "<synthetic>"  # messages that Claude Code writes itself
_UNNAMED_BRANCHES = ("", "HEAD")
_LONGEST_TITLE = 200
_TITLES = ("", "last-prompt", "summary", "ai-title", "custom-title")
_PROMPT, _SUMMARY = 1, 2
_NOT_IN_FOLDER_NAMES = re.compile(r"[^A-Za-z0-9]")
_SEPARATOR = re.compile(r"[/\\]")


class Memory(msgspec.Struct, omit_defaults=True):
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

    cwd: str | None = None
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


def read(lines: Sequence[bytes], memory: Memory) -> Sequence[Finding]:
    """Read lines that follow each other.

    An agent writes a line for each part of a message. Most of them report nothing new about it, so
    they are passed over as quickly as possible.
    """
    findings: list[Finding] = []
    last: Line | None = None  # the last one that reported a call
    skipped: Line | None = None  # the last one that was passed over
    for line in decode(lines):
        message = line.message
        if message is None or line.type not in _ANSWERS:
            if skipped is not None:
                _catch_up(skipped, memory)
                skipped = None
            findings += _other(line, memory)
        elif last is not None and _is_repeated(line, message, last):
            skipped = line
        else:
            at = seconds_since_1970(line.timestamp)
            if at is not None:
                memory.at = at
            elif skipped is not None:
                _catch_up(skipped, memory)
            skipped, memory.last_uuid = None, line.uuid
            if message.model == _SYNTHETIC:
                findings += _limit(line, memory)
            elif message.usage is not None and message.role in _ANSWERS:
                session = _session(line, last, memory)
                if session is not memory.known and session != memory.known:
                    memory.known = session
                    findings.append(msgspec.structs.replace(session, at=memory.at))
                findings.append(_call(line, message, message.usage, session, memory))
                last = line
    if skipped is not None:
        _catch_up(skipped, memory)
    return findings


def _is_repeated(line: Line, message: Message, last: Line) -> bool:
    """Whether a line has another part of the last message and reports nothing new about it.

    Times as the agent writes them can be compared as they are; others are not compared.
    """
    before, at, since = last.message, line.timestamp, last.timestamp
    return (
        before is not None
        and message.id == before.id
        and bool(message.id)
        and message.usage == before.usage
        and line.costUSD is None
        and isinstance(at, str)
        and isinstance(since, str)
        and at >= since
        and len(at) == len(since) == _LENGTH_OF_TIME
        and at[-1] == since[-1] == "Z"
    )


def _catch_up(skipped: Line, memory: Memory) -> None:
    """Note the time and the id of a line that was passed over."""
    memory.at = seconds_since_1970(skipped.timestamp) or memory.at
    memory.last_uuid = skipped.uuid


def _other(line: Line, memory: Memory) -> Sequence[Finding]:
    """Read a line that is not an answer of the model."""
    before = memory.at
    memory.at = seconds_since_1970(line.timestamp) or before
    if line.type == "queue-operation":
        memory.opened = memory.at if before is None else memory.opened
        return ()
    return _title(line, memory)


def _call(line: Line, message: Message, usage: Usage, session: Session, memory: Memory) -> Call:
    """The call of a line; a fork begins with copies: lines of another session, or older ones."""
    details, tools, split = usage.output_tokens_details, usage.server_tool_use, usage.cache_creation
    written = usage.cache_creation_input_tokens or 0
    five_minutes, one_hour = (written, 0) if split is None else _split(written, split)
    sidechain = line.isSidechain or memory.subagent is not None
    opened, at = memory.opened, memory.at
    return Call(
        id=message.id or line.requestId or line.uuid or _place(memory),
        session=session.id,
        at=at,
        model=message.model or None,
        input=usage.input_tokens or 0,
        output=usage.output_tokens or 0,
        cache_read=usage.cache_read_input_tokens or 0,
        cache_write_5m=five_minutes,
        cache_write_1h=one_hour,
        reasoning=(details.thinking_tokens or 0) if details else 0,
        web_searches=(tools.web_search_requests or 0) if tools else 0,
        cost_usd=None if line.costUSD is None else credible(line.costUSD),
        fast=usage.speed == "fast",
        subagent=_subagent(line, memory) if sidechain else None,
        project=session.project,
        branch=session.branch,
        copied=bool(line.forkedFrom)
        or (memory.subagent is None and session.id != memory.session)
        or (opened is not None and at is not None and at < opened),
    )


def _place(memory: Memory) -> str:
    """What identifies a message that has no id: its place in the file."""
    memory.unidentified += 1
    return f"{memory.session}/{memory.subagent or ''}/{memory.unidentified}"


def _split(written: int, split: CacheCreation) -> tuple[int, int]:
    """The tokens written for five minutes and for one hour; only the latter are always split."""
    one_hour = split.ephemeral_1h_input_tokens or 0
    if not written:
        return split.ephemeral_5m_input_tokens or 0, one_hour
    return max(written - one_hour, 0) if one_hour else written, one_hour


def _subagent(line: Line, memory: Memory) -> str:
    """The kind of the subagent if the line reports it, else its id."""
    return line.attributionAgent or line.agentId or memory.subagent or "subagent"


def _session(line: Line, last: Line | None, memory: Memory) -> Session:
    """What is known of the session; the fields that a line does not have are as before."""
    known, origin = memory.known, line.forkedFrom
    if known is not None and last is not None and origin is None and _is_same(line, last):
        return known  # as most are
    memory.cwd = line.cwd or memory.cwd
    session = line.sessionId or memory.session
    before = known if known is not None and known.id == session else Session(id=session)
    forked_from = origin if isinstance(origin, str) or origin is None else origin.sessionId
    branch = before.branch if line.gitBranch is None else line.gitBranch
    return Session(
        id=session,
        project=_project(memory.cwd, memory.folder) if memory.cwd else None,
        branch=None if branch in _UNNAMED_BRANCHES else branch,
        version=line.version or before.version,
        forked_from=forked_from or before.forked_from,
    )


def _is_same(line: Line, before: Line) -> bool:
    """Whether two lines report the same about their session."""
    return (
        line.sessionId == before.sessionId
        and line.cwd == before.cwd
        and line.gitBranch == before.gitBranch
        and line.version == before.version
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
