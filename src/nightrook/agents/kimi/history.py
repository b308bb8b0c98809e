"""What Kimi Code keeps on disk: a file of events for each agent of a session."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from nightrook.adapter.history import Call, Finding, History, Place, Session
from nightrook.adapter.salvage import decode_part
from nightrook.adapter.shapes import NOTHING, Count, Shape, seconds_since_1970
from nightrook.model.text import one_line

_MAIN = "main"
_LONGEST_TITLE = 200


class Memory(msgspec.Struct):
    """What is known of the agent of a file."""

    session: str
    agent: str
    profile: str | None = None
    project: str | None = None
    is_titled: bool = False
    models: dict[str, str] = {}
    """The model of each alias, as the last request names it; "" is a request without one."""

    records: int = 0
    """How many records of use the file had so far: the place of the next one."""

    at: float | None = None
    """The time of the line before."""


class _Usage(Shape, rename="camel"):
    input_other: Count = 0
    output: Count = 0
    input_cache_read: Count = 0
    input_cache_creation: Count = 0


class _Environment(Shape):
    cwd: str | None = None


class _Part(Shape):
    text: str | None = None


class _Line(Shape, rename="camel"):
    type: str | None = None
    time: str | float | None = None
    model: str | None = None
    model_alias: str | None = None
    profile_name: str | None = None
    input: msgspec.Raw = NOTHING
    usage: _Usage | None = None
    environment: _Environment | None = msgspec.field(default=None, name="environmentDisclosure")


_LINE = msgspec.json.Decoder(_Line)
_PARTS = msgspec.json.Decoder(list[_Part])


def begin(parts: Sequence[str]) -> Memory:
    """Know the agent by its file: `<work folder>/<session>/agents/<agent>/wire.jsonl`."""
    if len(parts) >= 4 and parts[-3] == "agents":
        return Memory(session=parts[-4] or "unknown", agent=parts[-2])
    name = parts[-1] if parts else ""
    return Memory(session=name.removesuffix(".jsonl") or "unknown", agent=_MAIN)


def read(data: bytes, memory: Memory) -> list[Finding]:
    """Read a line."""
    line = decode_part(data, _LINE)
    if line is None:
        return []
    memory.at = seconds_since_1970(line.time) or memory.at
    reader = _READERS.get(line.type)
    return list(reader(line, memory)) if reader is not None else []


def _profile(line: _Line, memory: Memory) -> Iterator[Finding]:
    memory.profile = line.profile_name or memory.profile
    if line.environment is not None and line.environment.cwd:
        memory.project = line.environment.cwd
        yield Session(id=memory.session, at=memory.at, project=memory.project)


def _prompt(line: _Line, memory: Memory) -> Iterator[Finding]:
    """Take the first prompt of the user as the title."""
    if memory.is_titled or memory.agent != _MAIN:
        return
    parts = decode_part(line.input, _PARTS) or []
    title = one_line(" ".join(part.text for part in parts if part.text), _LONGEST_TITLE)
    if title:
        memory.is_titled = True
        yield Session(id=memory.session, at=memory.at, title=title)


def _request(line: _Line, memory: Memory) -> Iterator[Finding]:
    if line.model:
        memory.models[line.model_alias or ""] = line.model
    return iter(())


def _usage(line: _Line, memory: Memory) -> Iterator[Finding]:
    """Read a record of use, which has no id but its place in the file."""
    memory.records += 1
    if line.usage is None:
        return
    yield Call(
        id=f"{memory.session}/{memory.agent}/{memory.records}",
        session=memory.session,
        at=memory.at,
        model=_model(line.model or "", memory),
        input=line.usage.input_other,
        output=line.usage.output,
        cache_read=line.usage.input_cache_read,
        cache_write_5m=line.usage.input_cache_creation,
        subagent=None if memory.agent == _MAIN else memory.profile or memory.agent,
        project=memory.project,
    )


def _model(alias: str, memory: Memory) -> str | None:
    return memory.models.get(alias) or memory.models.get("") or alias or None


_READERS: dict[str | None, Callable[[_Line, Memory], Iterator[Finding]]] = {
    "profile.bind": _profile,
    "turn.prompt": _prompt,
    "llm.request": _request,
    "usage.record": _usage,
}


def recognises(head: bytes) -> bool:
    """Return whether a file begins as the events of an agent of Kimi Code do."""
    return b'"protocol_version"' in head and b'"metadata"' in head


HISTORY = History(
    agent="kimi",
    places=(
        Place(
            home=".kimi-code",
            variable="KIMI_CODE_HOME",
            below="sessions",
            files=r"[^/]+/[^/]+/agents/[^/]+/wire\.jsonl",
        ),
    ),
    recognises=recognises,
    needles=(b'"usage.record"', b'"llm.request"', b'"profile.bind"', b'"time"'),
    memory=Memory,
    begin=begin,
    read=read,
)
