"""Counts the calls in lines of stored sessions, which the ledger adds up, and their sessions.

A session has a line for each block of a message, and each repeats the usage of the message. The
first `rook cost` reads all of them. Making the events of a line takes 15 µs, reading it here 3: so
this is a quicker way to the same figures.

    a file ──needles──▶ lines ──CountedLine──▶ all at once ──┬─▶ the usage of the line before: skip
             (bytes)            (no content)                 ├─▶ a usual call: a row of `Calls`
                                                             └─▶ any other: `Used`, as of events

- The shapes are the parts of those of the events (`shapes.py`), and `usage_of` is the same.
- What a line does not report is known from the lines before: `Facts`, which the ledger stores
  between two readings of a file. Nothing else may decide about a call.
- A fork begins with copies: lines of another session, or older than the file's first line. They are
  calls of their origin, `copied` here.
- A message without an id is identified by its place in the file.
"""

import re
from collections.abc import Sequence

import msgspec

from nightrook.adapter import history, salvage
from nightrook.adapter.history import (
    Call,
    CallRow,
    Calls,
    Counting,
    Finding,
    Limit,
    Session,
    Used,
    call_of,
)
from nightrook.adapter.shapes import seconds_since_1970
from nightrook.adapter.usage import reported
from nightrook.agents.claude.shapes import CountedLine, CountedMessage, Usage
from nightrook.agents.claude.usage import usage_of
from nightrook.model.price import credible
from nightrook.model.text import one_line

USAGE = (b'"usage"',)
TITLE = (b'"leafUuid"', b'Title"')
OPENING = (b'"queue-operation"',)
"""Substrings of lines that report a call, a title of the session, or the opening of a fork."""

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
_START = re.compile(rb'\{\s*"(?:parentUuid|type|timestamp|sessionId|uuid)"')

_decoder = msgspec.json.Decoder(CountedLine)


class Facts(history.Facts, omit_defaults=True):
    """The ledger's state between the lines of a file."""

    folder: str = ""
    """The name of the project's folder, which is made from the path of the project."""

    opened: float | None = None
    """The time of the first line, if it reports one; earlier lines are copies."""

    known: Session | None = None
    """The last facts reported about the session."""

    cwd: str | None = None
    last_uuid: str | None = None
    title_rank: int = 0
    """The best kind of title that was reported, as its place in `_TITLES`."""

    unidentified: int = 0


def begin(parts: Sequence[str]) -> Facts:
    """Return the facts of a file at its start."""
    # What is not text in a path is replaced: no database stores it.
    *above, name = (part.encode(errors="replace").decode() for part in parts or ("",))
    name = name.removesuffix(".jsonl")
    subagent = name.removeprefix("agent-") if name.startswith("agent-") else None
    if _SUBAGENTS in above:
        above = above[: above.index(_SUBAGENTS)]
        subagent, name = subagent or name, above.pop() if above else name
    return Facts(session=name, folder=above[-1] if above else "", subagent=subagent)


def read(lines: Sequence[bytes], facts: Facts) -> Sequence[Finding]:
    """Read lines that follow each other.

    An agent writes a line for each part of a message. Most of them report nothing new about it, so
    they are passed over as quickly as possible.
    """
    findings: list[Finding] = []
    last: CountedLine | None = None  # the last one that reported a call
    skipped: CountedLine | None = None  # the last one that was passed over
    calls: Calls | None = None  # those that the next call is one of, if it has the same model
    usual = _is_usual(facts)
    for line in _decode(lines):
        message = line.message
        if message is None or line.type not in _ANSWERS:  # guards: subagent-counted-once
            if skipped is not None:
                _catch_up(skipped, facts)
                skipped = None
            findings += _other(line, facts)
        elif last is not None and _is_repeated(line, message, last):
            skipped = line
        else:
            at = seconds_since_1970(line.timestamp)
            if at is not None:
                facts.at = at
            elif skipped is not None:
                _catch_up(skipped, facts)
            skipped, facts.last_uuid = None, line.uuid
            if message.model == _SYNTHETIC:  # guards: synthetic-uncounted
                findings += _limit(line, facts)
            elif message.usage is not None and message.role in _ANSWERS:
                session = _session(line, last, facts)
                if session is not facts.known and session != facts.known:
                    facts.known = session
                    facts.project, facts.branch = session.project, session.branch
                    findings.append(msgspec.structs.replace(session, at=facts.at))
                    calls, usual = None, _is_usual(facts)
                row = _row(line, message, message.usage, facts) if usual else None
                if row is None:
                    findings.append(_call(line, message, message.usage, facts))
                else:
                    calls = _calls(message.model, session, calls, findings)
                    calls.rows.append(row)
                last = line
    if skipped is not None:
        _catch_up(skipped, facts)
    return findings


def _is_repeated(line: CountedLine, message: CountedMessage, last: CountedLine) -> bool:
    """True if a line has another part of the last message and reports nothing new about it.

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
        and at >= since  # guards: first-part-time
        and len(at) == len(since) == _LENGTH_OF_TIME
        and at[-1] == since[-1] == "Z"
    )


def _catch_up(skipped: CountedLine, facts: Facts) -> None:
    """Record the time and the id of a line that was skipped."""
    facts.at = seconds_since_1970(skipped.timestamp) or facts.at
    facts.last_uuid = skipped.uuid


def _other(line: CountedLine, facts: Facts) -> Sequence[Finding]:
    """Read a line that is not an answer of the model."""
    before = facts.at
    facts.at = seconds_since_1970(line.timestamp) or before
    if line.type == "queue-operation":
        facts.opened = facts.at if before is None else facts.opened
        return ()
    return _title(line, facts)


def _is_usual(facts: Facts) -> bool:
    """True if calls of the session have a place and are not those of a subagent or a fork."""
    known = facts.known
    return (
        known is not None
        and known.project is not None
        and known.branch is not None
        and known.id == facts.session
        and facts.subagent is None
    )


def _row(line: CountedLine, message: CountedMessage, usage: Usage, facts: Facts) -> CallRow | None:
    """The call of a line in a usual session; None if the call has more or less than most calls."""
    at, opened, used = facts.at, facts.opened, usage_of(usage)
    if (
        at is None
        or not message.id
        or not message.model
        or line.isSidechain
        or line.forkedFrom
        or line.costUSD is not None
        or (opened is not None and at < opened)
        or used.web_searches
        or usage.speed == "fast"
    ):
        return None
    return (
        message.id,
        at,
        used.input or 0,
        used.output or 0,
        used.cache_read or 0,
        used.cache_write_5m or 0,
        used.cache_write_1h or 0,
        used.reasoning or 0,
    )


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


def _call(line: CountedLine, message: CountedMessage, usage: Usage, facts: Facts) -> Call:
    """The call of a line; a fork begins with copies: lines of another session, or older ones."""
    at, opened, session = facts.at, facts.opened, facts.known.id if facts.known else facts.session
    subagent = None
    if line.isSidechain or facts.subagent is not None:  # its kind, or else its id
        subagent = line.attributionAgent or line.agentId or facts.subagent or "subagent"
    used = Used(
        report=reported(
            usage_of(usage), model=message.model or None, cost_usd=credible(line.costUSD)
        ),
        id=message.id or line.requestId or line.uuid or _place(facts),
        session=session,
        subagent=subagent,
        fast=usage.speed == "fast",
        copied=bool(line.forkedFrom)
        or (session != facts.session and facts.subagent is None)
        or (opened is not None and at is not None and at < opened),  # guards: fork-calls-of-origin
    )
    return call_of(used, facts)


def _place(facts: Facts) -> str:
    """Return an id for a message that has none: its place in the file."""
    facts.unidentified += 1
    return f"{facts.session}/{facts.subagent or ''}/{facts.unidentified}"


def _session(line: CountedLine, last: CountedLine | None, facts: Facts) -> Session:
    """Return the facts of the session; fields that a line does not have keep their value."""
    known, origin = facts.known, line.forkedFrom
    if known is not None and last is not None and origin is None and _is_same(line, last):
        return known  # as most are
    cwd = line.cwd or facts.cwd
    if known is not None and cwd == facts.cwd:
        project = known.project
    else:
        project = _project(cwd, facts.folder) if cwd else None
    facts.cwd = cwd
    session = line.sessionId or facts.session
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


def _is_same(line: CountedLine, before: CountedLine) -> bool:
    """True if two lines report the same about their session."""
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


def _title(line: CountedLine, facts: Facts) -> Sequence[Finding]:
    """The title that a line reports; a later one replaces it if it is as good or better."""
    rank = _TITLES.index(line.type) if line.type in _TITLES else 0
    text = (None, line.lastPrompt, line.summary, line.aiTitle, line.customTitle)[rank]
    if not text or rank < facts.title_rank or rank == facts.title_rank == _PROMPT:
        return ()
    if rank == _SUMMARY and line.leafUuid != facts.last_uuid:
        return ()  # it is of another session
    facts.title_rank = rank
    session = line.sessionId or (facts.known.id if facts.known else facts.session)
    return (Session(id=session, title=one_line(text, _LONGEST_TITLE)),)


def _limit(line: CountedLine, facts: Facts) -> Sequence[Finding]:
    """The limit that ended a call."""
    quota = line.quotaLimits
    if quota is None or not quota.rateLimitType or facts.at is None:
        return ()
    return (
        Limit(
            at=facts.at,
            window=quota.rateLimitType,
            used=1.0 if quota.status == "rejected" else None,
            resets_at=seconds_since_1970(quota.resetsAt),
        ),
    )


def _decode(lines: Sequence[bytes]) -> Sequence[CountedLine]:
    """Decode lines: one message each, unless one is damaged or a newline is missing."""
    try:
        return _decoder.decode_lines(b"\n".join(lines))
    except (ValueError, RecursionError):
        return [message for line in lines for message in _decode_line(line)]


def _decode_line(line: bytes) -> list[CountedLine]:
    try:
        return [_decoder.decode(line)]
    except (ValueError, RecursionError):
        found = map(_decode_damaged, salvage.whole_messages(line))
        return [message for message in found if message is not None]


def _decode_damaged(line: bytes) -> CountedLine | None:
    return (
        salvage.decode_part(line, _decoder)
        or salvage.decode_after_cut(line, _decoder, _START)
        or _without_content(line)  # guards: damaged-content-read
    )


def _without_content(line: bytes) -> CountedLine | None:
    """The message without its content, which is all that is lost of most long or damaged lines."""
    content, usage = line.find(b'"content"'), line.rfind(b'"usage"')
    if not 0 < content < usage:
        return None
    before = line[:content]
    end = line.rfind(b"],", content, usage)  # of the content, if other fields follow it
    whole = salvage.decode_part(before + line[end + 2 :], _decoder) if end > 0 else None
    return whole or salvage.decode_part(before + line[usage:], _decoder)


COUNTING = Counting(
    needles=USAGE + TITLE + OPENING, time="timestamp", facts=Facts, begin=begin, findings=read
)
"""The functions that read the lines of stored sessions for the ledger."""
