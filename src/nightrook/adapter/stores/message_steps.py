"""Reads sessions that are stored as messages, with a step for each request to a model."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import isfinite
from operator import itemgetter
from typing import Any, Protocol

import msgspec

from nightrook.adapter.history import Call, Finding, Session
from nightrook.adapter.salvage import decode_part
from nightrook.adapter.shapes import Count, Milliseconds, Shape, seconds_since_1970

CHANGES = """
SELECT id, time_updated || ' ' || coalesce(
  (SELECT max(rowid) FROM part WHERE session_id = session.id), 0)
FROM session
"""
"""The sessions. A step may be stored without a new `time_updated`, but it has a row of its own."""

ROWS = """
SELECT session.id, parent_id, directory, title, session.time_updated, NULL,
  message.id, message.data, part.data
FROM session
LEFT JOIN message ON message.session_id = session.id AND instr(message.data, '"assistant"')
LEFT JOIN part ON part.message_id = message.id AND instr(substr(part.data, 1, 1000), 'step-finish')
WHERE session.id = :key
ORDER BY message.time_created, message.id, part.id
"""
"""The steps of a session, and its messages without any, as `read_session` reads them.

A step is small; what is looked for in a part that is not a step is its beginning alone.
"""


class _Cache(Shape):
    read: Count = 0
    write: Count = 0


class Tokens(Shape):
    """The tokens of a step, or of a message."""

    input: Count = 0
    output: Count = 0
    reasoning: Count = 0
    cache: _Cache = msgspec.field(default_factory=_Cache)

    @property
    def counts(self) -> tuple[int, ...]:
        """All of them."""
        return (self.input, self.output, self.reasoning, self.cache.read, self.cache.write)


class Usage(Protocol):
    """A step or a message: what it used."""

    cost: float | None
    tokens: Tokens


class _Times(Shape):
    created: Milliseconds | None = None
    completed: Milliseconds | None = None


class _Model(Shape):
    id: str | None = None
    provider: str | None = msgspec.field(default=None, name="providerID")


class Message(Shape):
    """An answer of a model."""

    id: str | None = None
    session: str | None = msgspec.field(default=None, name="sessionID")
    role: str | None = None
    time: _Times = msgspec.field(default_factory=_Times)
    model_id: str | None = msgspec.field(default=None, name="modelID")
    provider: str | None = msgspec.field(default=None, name="providerID")
    model: _Model | None = None
    agent: str | None = None
    mode: str | None = None
    cost: float | None = None
    tokens: Tokens = msgspec.field(default_factory=Tokens)

    @property
    def model_name(self) -> str | None:
        """The model without its provider."""
        return self.model_id or (self.model.id if self.model else None) or None


class _Step(Shape):
    type: str | None = None
    cost: float | None = None
    tokens: Tokens = msgspec.field(default_factory=Tokens)


_MESSAGE = msgspec.json.Decoder(Message)
_STEP = msgspec.json.Decoder(_Step)

_HEX = re.compile(r"[0-9a-f]{12}")
_DEAREST_USD = 1e6  # a greater cost of one request is an error
_HALF = 2**35
"""Half the range of the milliseconds with which an id begins, before a counter of 12 bits."""

_CLOCK_MS = 1000
"""How much later than its time a message may get its id."""


def read_session(
    rows: Sequence[tuple[Any, ...]], *, messages_have_costs: bool = True
) -> list[Finding]:
    """Read the rows of a session: its facts, and a call for each step.

    A message without steps counts itself; `messages_have_costs` says whether its cost is its own.
    """
    session = _session(rows[0]) if rows else None
    if session is None:
        return []
    findings: list[Finding] = [session]
    equal: Counter[str] = Counter()
    for message_id, of_message in groupby(rows, key=itemgetter(6)):
        steps = list(of_message)
        message = read_message(_bytes(steps[0][7]))
        if message is None:
            continue
        message.id = _text(message_id)
        if not messages_have_costs:
            message.cost = None
        for call in _calls(message, [_bytes(row[8]) for row in steps], session):
            equal[call.id] += 1
            findings.append(msgspec.structs.replace(call, id=f"{call.id} {equal[call.id]}"))
    return findings


def read_message(data: bytes) -> Message | None:
    """Read a message; None if it isn't an answer of a model."""
    message = decode_part(data, _MESSAGE)
    return message if message is not None and message.role in (None, "assistant") else None


def call_of(message: Message, usage: Usage, session: Session) -> Call:
    """Return the call of a message, or of a step of it.

    A fork has copies of messages under new ids. Their times, models and tokens stay as they were,
    so these identify a call. When a message was completed does not: it is not known from the start.
    """
    tokens = usage.tokens
    created = message.time.created
    provider = message.provider or (message.model.provider if message.model else None)
    identity = (
        int(created) if created else message.id,
        provider,
        message.model_name,
        *tokens.counts,
    )
    return Call(
        id=" ".join(map(str, identity)),
        session=session.id,
        at=seconds_since_1970(created),
        model=message.model_name,
        input=tokens.input,
        output=tokens.output + tokens.reasoning,
        cache_read=tokens.cache.read,
        cache_write_5m=tokens.cache.write,
        reasoning=tokens.reasoning,
        cost_usd=_cost(usage.cost),
        subagent=(message.agent or message.mode or "subagent") if session.parent else None,
        project=session.project,
        copied=_is_copied(message),
    )


def _session(row: tuple[Any, ...]) -> Session | None:
    id, parent, folder, title, updated, forked_from = row[:6]
    if not _text(id):
        return None
    return Session(
        id=str(id),
        at=seconds_since_1970(updated),
        project=_text(folder),
        title=_text(title),
        parent=_text(parent),
        forked_from=_text(forked_from),
    )


def _calls(message: Message, parts: Sequence[bytes], session: Session) -> Iterator[Call]:
    read = (decode_part(part, _STEP) for part in parts if part)
    steps = [step for step in read if step is not None and step.type == "step-finish"]
    for step in steps:
        yield call_of(message, step, session)
    if not steps and (any(message.tokens.counts) or _cost(message.cost)):
        yield call_of(message, message, session)


def _cost(usd: float | None) -> float | None:
    """What was paid; 0 stands for an unknown price."""
    return usd if usd is not None and isfinite(usd) and 0 < usd < _DEAREST_USD else None


def _is_copied(message: Message) -> bool:
    """Whether a message got its id after it was completed: a fork gives new ids to its copies."""
    digits = (message.id or "").rpartition("_")[2][:12]
    times = (message.time.completed, message.time.created and message.time.created + _CLOCK_MS)
    last = next(filter(None, times), None)
    if last is None or not _HEX.fullmatch(digits):
        return False
    later = ((int(digits, 16) >> 12) - int(last)) % (2 * _HALF)
    return 0 < later < _HALF


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _bytes(value: object) -> bytes:
    return value.encode("utf-8", "replace") if isinstance(value, str) else b""
