"""Reads calls, sessions and limits from the lines of rollout files."""

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec.structs import astuple

from nightrook.adapter import salvage
from nightrook.adapter.history import Call, Finding, Limit, Session
from nightrook.adapter.shapes import seconds_since_1970
from nightrook.adapter.usage import uncached
from nightrook.agents.codex.history.shapes import (
    Line,
    Payload,
    RateLimits,
    Source,
    Spawn,
    Subagent,
    Tokens,
    Window,
)
from nightrook.model.text import one_line

_START = re.compile(rb'\{\s*"timestamp"')
_THREAD = re.compile(r"rollout-[0-9T-]{19}-(.+)")
_MAIN_LIMIT = "codex"
_WINDOWS = {300: "five_hour", 10080: "weekly"}
_LONGEST_TITLE = 200

_decoder = msgspec.json.Decoder(Line)


class Memory(msgspec.Struct):
    """What is remembered between the lines of a file."""

    session: str
    is_named: bool = False
    """Whether a line has named the session; what follows may name those that it forks."""

    at: float | None = None
    model: str | None = None
    project: str | None = None
    branch: str | None = None
    subagent: str | None = None
    total: Tokens | None = None
    """What the thread had used at the last count."""

    resets: int = 0
    """How often the total began again."""

    awaited_counts: int = 0
    """The records whose counts, which repeat them, are still to come."""

    is_titled: bool = False
    limits: list[Limit] = []


def begin(parts: Sequence[str]) -> Memory:
    """Return the memory of a file at its start."""
    name = parts[-1].removesuffix(".jsonl") if parts else ""
    thread = _THREAD.fullmatch(name)
    return Memory(session=(thread[1] if thread else name).encode(errors="replace").decode())


def read(line: bytes, memory: Memory) -> Sequence[Finding]:
    """Read a line."""
    return [finding for message in _decode(line) for finding in _read(message, memory)]


def _read(found: Line, memory: Memory) -> Sequence[Finding]:
    memory.at = seconds_since_1970(found.timestamp) or memory.at
    payload = found.payload
    if payload is None:
        return ()
    kind = payload.type if found.type == "event_msg" else found.type
    reader = _READERS.get(kind or "")
    return () if reader is None else reader(payload, memory)


def _decode(line: bytes) -> list[Line]:
    """Decode what a line has: one message, unless it is damaged or a newline is missing."""
    try:
        return [_decoder.decode(line)]
    except (ValueError, RecursionError):
        found = map(_decode_damaged, salvage.whole_messages(line))
        return [message for message in found if message is not None]


def _decode_damaged(line: bytes) -> Line | None:
    return salvage.decode_part(line, _decoder) or salvage.decode_after_cut(line, _decoder, _START)


def _session(payload: Payload, memory: Memory) -> Sequence[Finding]:
    """The session that the first line names; later ones name those whose lines it replays."""
    if memory.is_named:
        return ()
    memory.is_named = True
    memory.session = payload.id or memory.session
    memory.project = payload.cwd or memory.project
    memory.branch = payload.git.branch or None if payload.git else None
    parent, memory.subagent = _parent(payload)
    return (
        Session(
            id=memory.session,
            at=memory.at,
            project=memory.project,
            branch=memory.branch,
            version=payload.cli_version,
            parent=parent,
            forked_from=payload.forked_from_id,
        ),
    )


def _parent(payload: Payload) -> tuple[str | None, str | None]:
    """The thread that started this one as its subagent, and what the subagent is called."""
    source = payload.source.subagent if isinstance(payload.source, Source) else None
    if source is None and payload.parent_thread_id is None:
        return None, None
    kind = source if isinstance(source, str) else None
    spawn, other = Spawn(), None
    if isinstance(source, Subagent):
        spawn, other = source.thread_spawn or spawn, source.other
    names = (payload.agent_role, spawn.agent_role, payload.agent_nickname, spawn.agent_nickname)
    name = next((name for name in (*names, kind, other) if name), "subagent")
    return payload.parent_thread_id or spawn.parent_thread_id, name


def _turn(payload: Payload, memory: Memory) -> Sequence[Finding]:
    memory.model = payload.model or memory.model
    memory.project = memory.project or payload.cwd
    return ()


def _record(payload: Payload, memory: Memory) -> Sequence[Finding]:
    """A call, since 0.166."""
    usage, total = payload.usage, payload.thread_token_usage
    if usage is None:
        return ()
    memory.awaited_counts += 1
    thread = payload.thread_id or memory.session
    if payload.response_id:
        return (_call(payload.response_id, usage, memory, session=thread),)
    return (_call(_identity(total, usage, memory), usage, memory, session=thread, lineage=True),)


def _count(payload: Payload, memory: Memory) -> Sequence[Finding]:
    """A call before 0.166, if the total has grown and no record has reported it."""
    findings: list[Finding] = list(_limits(payload.rate_limits, memory))
    info = payload.info
    if info is None:
        return findings
    before, total, last = memory.total, info.total_token_usage, info.last_token_usage
    memory.model = info.model or memory.model
    if total is None or total == before:
        return findings
    memory.total = total
    if before is not None and _size(total) <= _size(before):
        if last is None or _size(total) != _size(last):
            return findings
        memory.resets += 1
    if memory.awaited_counts:
        memory.awaited_counts -= 1
        return findings
    used = last or _difference(total, before)
    if any(astuple(used)):
        findings.append(_call(_identity(total, last, memory), used, memory, lineage=True))
    return findings


def _size(tokens: Tokens) -> int:
    return tokens.total_tokens or tokens.input_tokens + tokens.output_tokens


def _difference(total: Tokens, before: Tokens | None) -> Tokens:
    if before is None:
        return total
    pairs = zip(astuple(total), astuple(before), strict=True)
    return Tokens(*(max(now - then, 0) for now, then in pairs))


def _identity(total: Tokens | None, last: Tokens | None, memory: Memory) -> str:
    """What identifies a call without an id among its thread and the threads that it forks."""
    counts = [count for tokens in (total, last) if tokens for count in astuple(tokens)]
    return "/".join(map(str, [*counts, memory.resets] if memory.resets else counts))


def _call(
    id: str, used: Tokens, memory: Memory, *, session: str | None = None, lineage: bool = False
) -> Call:
    read, written = used.cached_input_tokens, used.cache_write_input_tokens
    return Call(
        id=id,
        session=session or memory.session,
        at=memory.at,
        model=memory.model,
        input=uncached(used.input_tokens, read, written) or 0,
        output=used.output_tokens,
        cache_read=read,
        cache_write_5m=written,
        reasoning=used.reasoning_output_tokens,
        subagent=memory.subagent,
        project=memory.project,
        branch=memory.branch,
        copied=session is not None and session != memory.session,
        lineage=lineage,
    )


def _limits(limits: RateLimits | None, memory: Memory) -> Iterator[Limit]:
    """The limits that have changed."""
    if limits is None or memory.at is None:
        return
    known = {limit.window: limit for limit in memory.limits}
    for window in (limits.primary, limits.secondary):
        if window is None:
            continue
        limit = _limit(window, limits, memory.at)
        before = known.get(limit.window)
        if before is None or msgspec.structs.replace(before, at=limit.at) != limit:
            known[limit.window] = limit
            yield limit
    memory.limits = list(known.values())


def _limit(window: Window, limits: RateLimits, at: float) -> Limit:
    minutes = window.window_minutes
    name = _WINDOWS.get(int(minutes)) or f"{minutes:g}_minutes" if minutes else "unknown"
    of_what = limits.limit_name or limits.limit_id
    is_main = limits.limit_id in (None, _MAIN_LIMIT)
    resets_at = seconds_since_1970(window.resets_at)
    if resets_at is None and window.resets_in_seconds is not None:
        resets_at = seconds_since_1970(at + window.resets_in_seconds)
    return Limit(
        at=at,
        window=name if is_main else f"{of_what} {name}",
        used=None if window.used_percent is None else min(max(window.used_percent / 100, 0), 1),
        resets_at=resets_at,
        plan=limits.plan_type,
    )


def _title(payload: Payload, memory: Memory) -> Sequence[Finding]:
    """The first prompt."""
    item = payload.item
    if memory.is_titled or (item is not None and item.type != "UserMessage"):
        return ()
    parts = [content.text for content in (item.content if item else None) or ()]
    text = payload.message or next((text for text in parts if text), None)
    title = one_line(text, _LONGEST_TITLE) if text else ""
    memory.is_titled = bool(title)
    return (Session(id=memory.session, title=title),) if title else ()


_READERS: dict[str, Callable[[Payload, Memory], Sequence[Finding]]] = {
    "session_meta": _session,
    "turn_context": _turn,
    "token_usage_record": _record,
    "token_count": _count,
    "user_message": _title,
    "item_completed": _title,
}
