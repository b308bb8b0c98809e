"""What GitHub Copilot CLI keeps on disk: a file of events for each session."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from nightrook.adapter.history import Call, Finding, History, Place, Session, call_id
from nightrook.adapter.salvage import decode_part
from nightrook.adapter.shapes import NOTHING, Count, Shape, seconds_since_1970
from nightrook.adapter.usage import uncached
from nightrook.model.text import one_line

_FILE = "events.jsonl"
_LONGEST_TITLE = 200


class _Tokens(msgspec.Struct, frozen=True, rename="camel"):
    input_tokens: Count = 0
    output_tokens: Count = 0
    cache_read_tokens: Count = 0
    cache_write_tokens: Count = 0
    reasoning_tokens: Count = 0


class Memory(msgspec.Struct):
    """What is known of the session of a file."""

    session: str
    project: str | None = None
    branch: str | None = None
    version: str | None = None
    subagents: dict[str, str] = {}
    """The names of the subagents, by their ids."""

    is_titled: bool = False
    has_records: bool = False
    """Whether the use of single calls was recorded."""

    ends: int = 0
    """How many processes have ended in the session."""

    totals: dict[str, _Tokens] = {}
    """What an end reported for all processes up to it, by model."""

    at: float | None = None
    """The time of the line before."""


class _Usage(_Tokens, frozen=True, rename="camel"):
    model: str | None = None
    api_call_id: str | None = None


class _Record(Shape):
    usage: _Usage | None = None


class _Metrics(Shape):
    usage: _Tokens | None = None


class _Snapshot(Shape):
    """The sums of the whole session, which 1.0.102 reports; those of each model say the same."""


class _End(Shape, rename="camel"):
    model_metrics: dict[str, _Metrics] | None = None
    accounting_snapshot: _Snapshot | None = None


class _Context(Shape):
    cwd: str | None = None
    branch: str | None = None


class _Start(_Context, rename="camel"):
    session_id: str | None = None
    copilot_version: str | None = None
    context: _Context | None = None


class _Subagent(Shape, rename="camel"):
    agent_name: str | None = None


class _Prompt(Shape):
    content: str | None = None


class _Line(Shape, rename="camel"):
    type: str | None = None
    id: str | None = None
    timestamp: str | float | None = None
    agent_id: str | None = None
    data: msgspec.Raw = NOTHING


_LINE = msgspec.json.Decoder(_Line)
_START = msgspec.json.Decoder(_Start)
_SUBAGENT = msgspec.json.Decoder(_Subagent)
_PROMPT = msgspec.json.Decoder(_Prompt)
_RECORD = msgspec.json.Decoder(_Record)
_END = msgspec.json.Decoder(_End)


def begin(parts: Sequence[str]) -> Memory:
    """Know the session by its file: `<session>/events.jsonl`, in old versions `<session>.jsonl`."""
    name = parts[-1] if parts else ""
    folder = parts[-2] if len(parts) > 1 else ""
    session = folder if name == _FILE else name.removesuffix(".jsonl")
    return Memory(session=session or "unknown")


def read(data: bytes, memory: Memory) -> list[Finding]:
    """Read a line."""
    line = decode_part(data, _LINE)
    if line is None:
        return []
    memory.at = seconds_since_1970(line.timestamp) or memory.at
    reader = _READERS.get(line.type)
    return list(reader(line, memory)) if reader is not None else []


def _session(line: _Line, memory: Memory) -> Iterator[Finding]:
    start = decode_part(line.data, _START)
    if start is None:
        return
    context = start.context or start
    memory.session = start.session_id or memory.session
    memory.version = start.copilot_version or memory.version
    memory.project = context.cwd or memory.project
    memory.branch = context.branch or memory.branch
    yield Session(
        id=memory.session,
        at=memory.at,
        project=memory.project,
        branch=memory.branch,
        version=memory.version,
    )


def _prompt(line: _Line, memory: Memory) -> Iterator[Finding]:
    """Take the first prompt of the user as the title."""
    if memory.is_titled or line.agent_id:
        return
    prompt = decode_part(line.data, _PROMPT)
    title = one_line((prompt.content if prompt is not None else None) or "", _LONGEST_TITLE)
    if title:
        memory.is_titled = True
        yield Session(id=memory.session, at=memory.at, title=title)


def _subagent(line: _Line, memory: Memory) -> Iterator[Finding]:
    started = decode_part(line.data, _SUBAGENT)
    if started is not None and started.agent_name and line.agent_id:
        memory.subagents[line.agent_id] = started.agent_name
    return iter(())


def _record(line: _Line, memory: Memory) -> Iterator[Finding]:
    """Read the use of one call. Its `cost` counts premium requests, not dollars."""
    record = decode_part(line.data, _RECORD)
    usage = record.usage if record is not None else None
    id = call_id(usage.api_call_id, line.id) if usage is not None else None
    if usage is None or id is None:
        return
    memory.has_records = True
    agent = line.agent_id
    subagent = memory.subagents.get(agent, agent) if agent else None
    yield _call(id, usage, memory, model=usage.model or None, subagent=subagent)


def _end(line: _Line, memory: Memory) -> Iterator[Finding]:
    """Read what a process used, by model: all there is of versions without records of calls.

    Each process reports its own use, except that 1.0.102 reports that of the whole session.
    """
    end = decode_part(line.data, _END)
    if end is None:
        return
    memory.ends += 1
    is_whole_session = end.accounting_snapshot is not None
    for model, metrics in (end.model_metrics or {}).items():
        usage = metrics.usage or _Tokens()
        if is_whole_session:
            before = memory.totals.get(model, _Tokens())
            memory.totals[model] = usage
            usage = _difference(usage, before)
        if usage != _Tokens() and not memory.has_records:
            id = f"{line.id or f'{memory.session}/{memory.ends}'}/{model}"
            yield _call(id, usage, memory, model=model or None, fallback=True)


def _difference(usage: _Tokens, before: _Tokens) -> _Tokens:
    return _Tokens(
        **{
            name: max(0, getattr(usage, name) - getattr(before, name))
            for name in _Tokens.__struct_fields__
        }
    )


def _call(
    id: str,
    usage: _Tokens,
    memory: Memory,
    *,
    model: str | None,
    subagent: str | None = None,
    fallback: bool = False,
) -> Call:
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    return Call(
        id=id,
        session=memory.session,
        at=memory.at,
        model=model,
        input=uncached(usage.input_tokens, read, written) or 0,
        output=usage.output_tokens,
        cache_read=read,
        cache_write_5m=written,
        reasoning=usage.reasoning_tokens,
        subagent=subagent,
        project=memory.project,
        branch=memory.branch,
        summed=fallback,
        fallback=fallback,
    )


_READERS: dict[str | None, Callable[[_Line, Memory], Iterator[Finding]]] = {
    "session.start": _session,
    "session.resume": _session,
    "session.context_changed": _session,
    "user.message": _prompt,
    "session.usage_record": _record,
    "session.shutdown": _end,
    "subagent.started": _subagent,
}


def recognises(head: bytes) -> bool:
    """Return whether a file begins with the start of a session of Copilot CLI."""
    return b'"session.start"' in head and b'"copilotVersion"' in head


HISTORY = History(
    agent="copilot",
    places=(
        Place(
            home=".copilot",
            variable="COPILOT_HOME",
            below="session-state",
            files=r"[^/]+/events\.jsonl|[^/]+\.jsonl",
        ),
    ),
    recognises=recognises,
    needles=(b'"timestamp"', b'"session.', b'"subagent.started"'),
    memory=Memory,
    begin=begin,
    read=read,
    notes=(
        "Copilot reports its cost in premium requests, not in dollars; "
        "its dollars are list prices of the tokens.",
    ),
)
