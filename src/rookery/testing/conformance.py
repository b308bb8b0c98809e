"""Tells the author of an agent what does not hold yet; needs no test framework.

In a test: `assert check(AGENT, cases_in("tests/cases")) == []`.
"""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, get_args

from rookery import agents
from rookery.adapter.agent import Agent, Permission, Task
from rookery.model.errors import RookeryError
from rookery.model.events import (
    StreamClosed,
    TaskFinished,
    TaskStarted,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
)
from rookery.model.fold import fold
from rookery.model.records import Record, dump, load
from rookery.model.verdict import judge

_PROMPTS = ("Fix the tests", "--help", 'Say "a\nb"', "ä" * 100_000)
_STRANGE: tuple[dict[str, Any], ...] = ({}, {"type": None}, {"type": 5}, {"type": ["a"]})
_WORD = "a-wish"
_WISHES = {
    "model": Task(prompt="Go", model=_WORD),
    "resume": Task(prompt="Go", resume=_WORD),
    "allow": Task(prompt="Go", allow=(_WORD,)),
    "args": Task(prompt="Go", args=(_WORD,)),
}
_BROKEN = 300  # mutated streams per agent
_LONGEST = 20_000  # bytes of a stream that is fed byte by byte


@dataclass(frozen=True)
class Case:
    """A recorded stream, and how a person says that it ended."""

    name: str
    wire: bytes
    status: str | None = None


def cases_in(folder: str | PathLike[str]) -> list[Case]:
    """Read cases: a folder each, with `wire.jsonl` and `status`, one word."""
    found = []
    for path in sorted(Path(folder).glob("*/wire.jsonl")):
        told = path.with_name("status")
        status = told.read_text(encoding="utf-8").strip() if told.exists() else None
        found.append(Case(path.parent.name, path.read_bytes(), status))
    return found


def check(agent: Agent, cases: Iterable[Case]) -> list[str]:
    """Give what does not hold, a line each; nothing if all is well."""
    cases = list(cases)
    failures = list(_record(agent))
    if not cases:
        failures.append("there are no cases: record what the agent really writes")
    for case in cases:
        failures += (f"{case.name}: {words}" for words in _guarded(_case(agent, case)))
    failures += _guarded(_broken(agent, cases))
    return failures


def _guarded(failures: Iterator[str]) -> Iterator[str]:
    """Give failures, and what an agent raises where it never may."""
    try:
        yield from failures
    except Exception as error:
        yield f"it raises {error!r}"


def _record(agent: Agent) -> Iterator[str]:
    if not agent.name.isidentifier() or agent.name != agent.name.lower():
        yield f"the name {agent.name!r} is no lower-case word"
    if not agent.programs:
        yield "no program is named"
    if agent.decoder().agent != agent.name:
        yield f"its decoder says that it reads {agent.decoder().agent!r}"
    for message in _STRANGE:
        yield from _guarded(_not_its_own(agent, message))
    for permission in get_args(Permission):
        if permission == "ask":
            continue  # nobody is asked without `asking`, and with it the prompt is a message
        for prompt in _PROMPTS:
            task = Task(prompt=prompt, permission=permission)
            yield from _guarded(_call(agent, task))
    for name, wish in _WISHES.items():
        yield from _guarded(_granted(agent, name, wish))


def _not_its_own(agent: Agent, message: dict[str, Any]) -> Iterator[str]:
    if agent.recognises(message):
        yield f"it takes {message} for a message of its own"


def _call(agent: Agent, task: Task) -> Iterator[str]:
    try:
        call = agent.invoke(task)
    except RookeryError:
        return  # a clear refusal is an answer
    what = f"for permission {task.permission!r} and a prompt of {len(task.prompt)} characters"
    if call.command[0] not in agent.programs:
        yield f"it calls {call.command[0]!r}, which is none of its programs, {what}"
    if task.prompt not in call.command and (call.stdin or b"").decode() != task.prompt:
        yield f"the prompt is neither an argument nor on standard input, word for word, {what}"
    if agent.with_output_flags(call.command) not in (None, [*call.command]):
        yield f"with_output_flags adds its flags again to a command that has them, {what}"
    if any(len(word.encode()) > 131_071 for word in call.command):
        yield f"an argument is longer than Linux takes, {what}"


def _granted(agent: Agent, name: str, wish: Task) -> Iterator[str]:
    """Find a wish that is passed over in silence: it must be in the call, or be refused."""
    if wish.resume and agent.capabilities.resume == "no":
        return  # rook itself refuses that
    try:
        call = agent.invoke(wish)
    except RookeryError:
        return
    told = [*call.command, *call.environment.values(), (call.stdin or b"").decode()]
    if not any(_WORD in part for part in told):
        yield f"task.{name} is passed over: use it, or raise an UnsupportedError"


def _case(agent: Agent, case: Case) -> Iterator[str]:
    records = _decode(agent, [case.wire])
    yield from _rules(records)
    if any(isinstance(record.event, Unknown) for record in records):
        names = {r.event.name for r in records if isinstance(r.event, Unknown)}
        yield f"messages are unknown: {sorted(map(str, names))}"
    heard = list(_messages(case.wire))
    if heard and not any(agent.recognises(message) for message in heard):
        yield "none of its messages is recognised"
    if heard and (other := agents.detect(case.wire)) is not None and other.name != agent.name:
        yield f"it is taken for {other.name}"
    small = case.wire[:_LONGEST]
    if _decode(agent, [small[n : n + 1] for n in range(len(small))]) != _decode(agent, [small]):
        yield "fed byte by byte it gives other records"
    chance = random.Random(case.name)
    places = sorted(chance.randrange(len(case.wire) + 1) for _ in range(9))
    cuts = [case.wire[a:b] for a, b in zip([0, *places], [*places, None], strict=True)]
    if _decode(agent, cuts) != records:
        yield "fed in pieces it gives other records"
    status = judge(fold(records)).status
    if case.status is not None and status != case.status:
        yield f"it is judged as {status}, a person says {case.status}"


def _broken(agent: Agent, cases: list[Case]) -> Iterator[str]:
    """Break streams in small ways; nothing may raise, and the rules must hold."""
    chance = random.Random(1)
    for _ in range(_BROKEN if cases else 0):
        case = chance.choice(cases)
        data = bytearray(case.wire[:_LONGEST])
        for _ in range(chance.randrange(1, 8)):
            at = chance.randrange(len(data) + 1)
            data[at : at + chance.choice((0, 1, 1, 5))] = chance.choice(
                (b"", b"\xff", b"\n", b"null", b'"', b"{", b"9" * 30, b"\\ud800", b"[]")
            )
        try:
            found = list(_rules(_decode(agent, [bytes(data)])))
        except Exception as error:
            found = [f"it raises {error!r}"]
        if found:
            yield f"{case.name}, broken: {found[0]}"
            return


def _rules(records: list[Record]) -> Iterator[str]:
    """What holds for every stream."""
    told = [record.event for record in records]
    if [record.seq for record in records] != list(range(len(records))):
        yield "records are not numbered without gap"
    if [n for n, e in enumerate(told) if isinstance(e, StreamClosed)] != [len(told) - 1]:
        yield "the stream does not end with one stream_closed"
    for start, end in ((ToolStarted, ToolFinished), (TaskStarted, TaskFinished)):
        begun = Counter(e.id for e in told if isinstance(e, start))
        ended = Counter(e.id for e in told if isinstance(e, end))
        if max([*begun.values(), *ended.values()], default=1) > 1 or set(begun) - set(ended):
            yield f"a {start.__struct_config__.tag} does not end exactly once"
    turns = 0
    for event in told:
        turns += isinstance(event, TurnStarted) - isinstance(event, TurnFinished)
        if turns < 0:
            yield "a turn ends that has not begun"
            break
    if any(load(dump(record)) != record for record in records):
        yield "a record is not read back as it was written"


def _decode(agent: Agent, pieces: Iterable[bytes]) -> list[Record]:
    reader = agent.decoder()
    return [record for piece in pieces for record in reader.feed(piece)] + reader.close()


def _messages(wire: bytes) -> Iterator[dict[str, Any]]:
    for line in wire.split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value
