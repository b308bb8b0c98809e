"""Reads calls, sessions and limits from the lines of Claude Code's stored sessions."""

import re
from collections.abc import Sequence

import msgspec

from nightrook.adapter.history import Call, CallRow, Calls, Finding, Limit, Session
from nightrook.adapter.shapes import seconds_since_1970
from nightrook.agents.claude.history.lines import decode
from nightrook.agents.claude.history.shapes import Line, Message, Usage
from nightrook.agents.claude.usage_shapes import CacheCreation
from nightrook.model.price import credible
from nightrook.model.text import one_line

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
    calls: Calls | None = None  # those that the next call is one of, if it has the same model
    usual = _is_usual(memory)
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
                    calls, usual = None, _is_usual(memory)
                row = _row(line, message, message.usage, memory) if usual else None
                if row is None:
                    findings.append(_call(line, message, message.usage, session, memory))
                else:
                    calls = _calls(message.model, session, calls, findings)
                    calls.rows.append(row)
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
        and message.usage == before.usage
        and bool(message.id)
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


def _is_usual(memory: Memory) -> bool:
    """Whether calls of the session have a place and are not those of a subagent or a fork."""
    known = memory.known
    return (
        known is not None
        and known.project is not None
        and known.branch is not None
        and known.id == memory.session
        and memory.subagent is None
    )


def _row(line: Line, message: Message, usage: Usage, memory: Memory) -> CallRow | None:
    """The call of a line in a usual session; None if the call has more or less than most calls."""
    at, opened, tools = memory.at, memory.opened, usage.server_tool_use
    if (
        at is None
        or not message.id
        or not message.model
        or line.isSidechain
        or line.forkedFrom
        or line.costUSD is not None
        or (opened is not None and at < opened)
        or (tools is not None and tools.web_search_requests)
        or usage.speed == "fast"
    ):
        return None
    return (message.id, at, *_tokens(usage))


def _calls(
    model: str | None, session: Session, last: Calls | None, findings: list[Finding]
) -> Calls:
    """The calls of a model in a usual session: those of the last one, or others that are added."""
    if last is not None and last.model == model:
        return last
    found = Calls(
        session=session.id,
        model=model or "",
        project=session.project or "",
        branch=session.branch or "",
    )
    findings.append(found)
    return found


def _tokens(usage: Usage) -> tuple[int, int, int, int, int, int]:
    """The tokens in the order of a call."""
    split, details = usage.cache_creation, usage.output_tokens_details
    written, one_hour = usage.cache_creation_input_tokens or 0, 0
    if split is not None and (split.ephemeral_1h_input_tokens or not written):
        written, one_hour = _split(written, split)
    return (
        usage.input_tokens or 0,
        usage.output_tokens or 0,
        usage.cache_read_input_tokens or 0,
        written,
        one_hour,
        0 if details is None else details.thinking_tokens or 0,
    )


def _call(line: Line, message: Message, usage: Usage, session: Session, memory: Memory) -> Call:
    """The call of a line; a fork begins with copies: lines of another session, or older ones."""
    input, output, cache_read, written, one_hour, reasoning = _tokens(usage)
    id, at, opened, tools = session.id, memory.at, memory.opened, usage.server_tool_use
    sidechain = line.isSidechain or memory.subagent is not None
    return Call(
        id=message.id or line.requestId or line.uuid or _place(memory),
        session=id,
        at=at,
        model=message.model or None,
        input=input,
        output=output,
        cache_read=cache_read,
        cache_write_5m=written,
        cache_write_1h=one_hour,
        reasoning=reasoning,
        web_searches=0 if tools is None else tools.web_search_requests or 0,
        cost_usd=None if line.costUSD is None else credible(line.costUSD),
        fast=usage.speed == "fast",
        subagent=_subagent(line, memory) if sidechain else None,
        project=session.project,
        branch=session.branch,
        copied=bool(line.forkedFrom)
        or (id != memory.session and memory.subagent is None)
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
    cwd = line.cwd or memory.cwd
    if known is not None and cwd == memory.cwd:
        project = known.project
    else:
        project = _project(cwd, memory.folder) if cwd else None
    memory.cwd = cwd
    session = line.sessionId or memory.session
    before = known if known is not None and known.id == session else Session(id=session)
    forked_from = origin if isinstance(origin, str) or origin is None else origin.sessionId
    branch = before.branch if line.gitBranch is None else line.gitBranch
    return Session(
        id=session,
        project=project,
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
