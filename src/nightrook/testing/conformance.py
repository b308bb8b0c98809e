"""The conformance suite: lists the rules that an agent adapter breaks; needs no test framework.

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

from nightrook import agents
from nightrook.adapter.agent import Agent, Task
from nightrook.model.errors import NightrookError
from nightrook.model.events import (
    StreamClosed,
    TaskFinished,
    TaskStarted,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
)
from nightrook.model.fold import fold
from nightrook.model.permissions import Permission
from nightrook.model.records import Record, dump, load
from nightrook.model.verdict import judge

_PROMPTS = ("Fix the tests", "--help", 'Say "a\nb"', "ä" * 100_000)
_STRANGE: tuple[dict[str, Any], ...] = ({}, {"type": None}, {"type": 5}, {"type": ["a"]})
_OF_ANY_PROGRAM = ("acp",)  # the user names the program
_VALUE = "a-value"
_TASKS = {
    "model": Task(prompt="Go", model=_VALUE),
    "resume": Task(prompt="Go", resume=_VALUE),
    "allow": Task(prompt="Go", allow=(_VALUE,)),
    "args": Task(prompt="Go", args=(_VALUE,)),
}
_BROKEN = 300  # corrupted streams per agent
_LONGEST = 20_000  # bytes of a stream that is fed byte by byte


@dataclass(frozen=True)
class Case:
    """A recorded stream, and its status as judged by a person."""

    name: str
    wire: bytes
    status: str | None = None


def cases_in(folder: str | PathLike[str]) -> list[Case]:
    """Read cases: a folder each, with `wire.jsonl` and `status`, one word."""
    cases = []
    for path in sorted(Path(folder).glob("*/wire.jsonl")):
        judged = path.with_name("status")
        status = judged.read_text(encoding="utf-8").strip() if judged.exists() else None
        cases.append(Case(path.parent.name, path.read_bytes(), status))
    return cases


def check(agent: Agent, cases: Iterable[Case]) -> list[str]:
    """Return a line for each rule that the agent breaks."""
    cases = list(cases)
    failures = list(_record(agent))
    if not cases:
        failures.append("there are no cases: record what the agent really writes")
    for case in cases:
        failures += (f"{case.name}: {failure}" for failure in _guarded(_case(agent, case)))
    failures += _guarded(_broken(agent, cases))
    return failures


def _guarded(failures: Iterator[str]) -> Iterator[str]:
    """Yield failures, and an exception that the agent should not raise as one of them."""
    try:
        yield from failures
    except Exception as error:
        yield f"the agent raises {error!r}"


def _record(agent: Agent) -> Iterator[str]:
    if not agent.name.isidentifier() or agent.name != agent.name.lower():
        yield f"the name {agent.name!r} is not a lower-case word"
    if agent.decoder().agent != agent.name:
        yield f"the decoder is for another agent: {agent.decoder().agent!r}"
    for message in _STRANGE:
        yield from _guarded(_not_its_own(agent, message))
    for permission in get_args(Permission):
        if permission == "ask":
            continue  # needs a control channel, and then the prompt may be a message on stdin
        for prompt in _PROMPTS:
            task = Task(prompt=prompt, permission=permission)
            yield from _guarded(_call(agent, task))
    for name, task in _TASKS.items():
        yield from _guarded(_used(agent, name, task))


def _not_its_own(agent: Agent, message: dict[str, Any]) -> Iterator[str]:
    if agent.recognises(message):
        yield f"recognises() accepts {message}, which isn't a message of this agent"


def _call(agent: Agent, task: Task) -> Iterator[str]:
    try:
        call = agent.invoke(task)
    except NightrookError:
        return  # an agent may refuse a task
    what = f"for permission {task.permission!r} and a prompt of {len(task.prompt)} characters"
    if not agent.programs and agent.name not in _OF_ANY_PROGRAM:
        yield "programs is empty"
    if agent.programs and call.command[0] not in agent.programs:
        yield f"invoke() runs {call.command[0]!r}, which is not in programs, {what}"
    is_later = call.control is not None  # what comes first is then up to the protocol
    is_there = task.prompt in call.command or (call.stdin or b"").decode() == task.prompt
    if not is_there and not is_later:
        yield f"the exact prompt is neither an argument nor on stdin, {what}"
    if agent.with_output_flags(call.command) not in (None, [*call.command]):
        yield f"with_output_flags() adds flags that the command already has, {what}"
    if any(len(argument.encode()) > 131_071 for argument in call.command):
        yield f"an argument is longer than Linux allows, {what}"


def _used(agent: Agent, name: str, task: Task) -> Iterator[str]:
    """Check that a field of a task is used or refused, not silently ignored."""
    if task.resume and agent.capabilities.resume == "no":
        return  # rook itself refuses that
    try:
        call = agent.invoke(task)
    except NightrookError:
        return
    parts = [*call.command, *call.environment.values(), (call.stdin or b"").decode()]
    if call.control is None and not any(_VALUE in part for part in parts):
        yield f"task.{name} is ignored: use it, or raise an UnsupportedError"


def _case(agent: Agent, case: Case) -> Iterator[str]:
    records = _decode(agent, [case.wire])
    yield from _rules(records)
    if any(isinstance(record.event, Unknown) for record in records):
        names = {r.event.name for r in records if isinstance(r.event, Unknown)}
        yield f"unknown messages: {sorted(map(str, names))}"
    messages = list(_messages(case.wire))
    other = agents.detect(case.wire) if messages else None
    if other is None or other.name not in agent.resembles:
        if messages and not any(agent.recognises(message) for message in messages):
            yield "recognises() accepts none of the messages"
        if other is not None and other.name != agent.name:
            yield f"the stream is detected as {other.name}"
    small = case.wire[:_LONGEST]
    if _decode(agent, [small[n : n + 1] for n in range(len(small))]) != _decode(agent, [small]):
        yield "decoding byte by byte returns other records"
    chance = random.Random(case.name)
    places = sorted(chance.randrange(len(case.wire) + 1) for _ in range(9))
    cuts = [case.wire[a:b] for a, b in zip([0, *places], [*places, None], strict=True)]
    if _decode(agent, cuts) != records:
        yield "decoding in chunks returns other records"
    status = judge(fold(records)).status
    if case.status is not None and status != case.status:
        yield f"the verdict is {status}, but the case says {case.status}"


def _broken(agent: Agent, cases: list[Case]) -> Iterator[str]:
    """Corrupt streams in small ways: the decoder must not raise, and the rules must hold."""
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
            failures = list(_rules(_decode(agent, [bytes(data)])))
        except Exception as error:
            failures = [f"the agent raises {error!r}"]
        if failures:
            yield f"{case.name}, corrupted: {failures[0]}"
            return


def _rules(records: list[Record]) -> Iterator[str]:
    """Check the rules that hold for every stream."""
    events = [record.event for record in records]
    if [record.seq for record in records] != list(range(len(records))):
        yield "the numbers of the records have gaps"
    if [n for n, e in enumerate(events) if isinstance(e, StreamClosed)] != [len(events) - 1]:
        yield "the stream does not end with one stream_closed"
    for start, end in ((ToolStarted, ToolFinished), (TaskStarted, TaskFinished)):
        starts = Counter(e.id for e in events if isinstance(e, start))
        ends = Counter(e.id for e in events if isinstance(e, end))
        if max([*starts.values(), *ends.values()], default=1) > 1 or set(starts) - set(ends):
            yield f"a {start.__struct_config__.tag} does not end exactly once"
    turns = 0
    for event in events:
        turns += isinstance(event, TurnStarted) - isinstance(event, TurnFinished)
        if turns < 0:
            yield "a turn ends that has not started"
            break
    if any(load(dump(record)) != record for record in records):
        yield "a record changes when it is written and read back"


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
