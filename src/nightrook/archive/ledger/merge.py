"""One call from all the lines that report it, in whatever order they are read.

Merging is commutative, associative and idempotent: neither the order of imports nor reading a file
twice changes a report.
"""

from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from nightrook.adapter.history import Call
from nightrook.model.price import credible, nano

LATEST_S = 1e11
"""A time after it is a mistake of its writer."""

TOKEN_BITS = 40
"""The bits of the greatest count; one above it is a mistake of its writer."""


_COUNTS = (
    *("output", "input", "cache_read", "cache_write_1h", "cache_write_5m"),
    *("web_searches", "reasoning"),
)

_OWN = ("session", "at", "project", "branch", "subagent", "copied", "fallback")
"""What a call has of its own line."""

CallId = str | tuple[str, str]
"""A call's id; with its session if the id identifies the call only there."""

Rank = tuple[object, ...]


class MergedCall(msgspec.Struct, gc=False):
    """What the lines of one call say together."""

    usage: Call
    """The line with the greatest output: its tokens and model are the call's."""

    own: Call
    """The line that is not a copy: its session and project are the call's."""

    own_at: int | None
    """The time of that line."""

    at: int | None
    """The earliest time of all lines, in milliseconds; of sums that grow, that of the greatest."""

    native_nano: int | None
    """The greatest cost that a line reports."""

    source: str
    """The path of the file that has its own line."""

    fallback: bool
    """Whether all lines count only in a session without other calls."""

    shared: bool = False
    """Whether lines of several files are in it."""

    @classmethod
    def of(cls, line: Call, source: str) -> "MergedCall":
        """A call with one line."""
        line = _checked(line)
        at = milliseconds(line.at)
        native = None if line.cost_usd is None else reported_nano(line)
        return cls(line, line, at, at, native, source, line.fallback)

    def add(self, line: Call, source: str) -> None:
        """Add another line, most often one of the same message in the same file."""
        self.merge(MergedCall.of(line, source))

    def merge(self, other: "MergedCall") -> None:
        """Add all lines of another one."""
        self.at = _time(self, other)
        if other.usage.output >= self.usage.output and _usage_rank(other) > _usage_rank(self):
            self.usage = other.usage
        if other.source != self.source or other.shared:
            self.shared = True
        if _own_rank(other) < _own_rank(self):
            self.own, self.own_at, self.source = other.own, other.own_at, other.source
        self.native_nano = greatest(self.native_nano, other.native_nano)
        self.fallback = self.fallback and other.fallback

    def as_line(self) -> Call | None:
        """One line of its source that reports the same; None if there may be none."""
        usage, own = self.usage, self.own
        if self.shared or self.at != self.own_at or self.native_nano is not None:
            return None
        if usage is not own:
            return replace(usage, **{name: getattr(own, name) for name in _OWN})
        return own


class KeyedCall(NamedTuple):
    """A call as the ledger identifies it."""

    key: int
    agent: str
    lineage: bytes | None
    """What it has in common with its copies in forks."""

    call: MergedCall


def _time(one: MergedCall, other: MergedCall) -> int | None:
    if one.usage.summed and other.usage.summed:
        ranks = _usage_rank(one), _usage_rank(other)
        if ranks[0] != ranks[1]:
            return one.at if ranks[0] > ranks[1] else other.at
    return least(one.at, other.at)


def _usage_rank(call: MergedCall) -> Rank:
    line = call.usage
    return (
        line.output,
        line.input,
        line.cache_read,
        line.cache_write_1h,
        line.cache_write_5m,
        line.web_searches,
        line.reasoning,
        line.fast,
        line.summed,
        line.model or "",
    )


def _own_rank(call: MergedCall) -> Rank:
    line, at = call.own, call.own_at
    return (
        line.copied,
        at is None,
        at or 0,
        line.session,
        line.project or "",
        line.branch or "",
        line.subagent or "",
        call.source,
    )


def _checked(line: Call) -> Call:
    """The line with values that the ledger can hold: a count that no call can have becomes 0."""
    changes: dict[str, Any] = {n: 0 for n in _COUNTS if getattr(line, n) >> TOKEN_BITS}
    if not line.session.isascii():
        changes["session"] = storable(line.session)
    return replace(line, **changes) if changes else line


def reported_nano(line: Call) -> int | None:
    """What the agent says that the call cost; None if it does not say, as with 0 for tokens."""
    if line.cost_usd is None or credible(line.cost_usd) is None:
        return None
    if line.cost_usd == 0 and has_tokens(line):
        return None
    return nano(line.cost_usd)


def has_tokens(line: Call) -> bool:
    """Whether a line reports any tokens."""
    return any(getattr(line, name) for name in _COUNTS)


def milliseconds(at: float | None) -> int | None:
    """A time in milliseconds; None for one that no call can have."""
    return round(at * 1000) if at is not None and 0 < at < LATEST_S else None


def least(one: int | None, other: int | None) -> int | None:
    """The lesser of two values, of which each may be unknown."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def greatest(one: int | None, other: int | None) -> int | None:
    """The greater of two values, of which each may be unknown."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


def storable(text: str) -> str:
    """The text as SQLite can hold it: lone surrogates are replaced."""
    return text if text.isascii() else text.encode(errors="replace").decode()
