"""What goes into the ledger beside the findings of a history: sources and runs."""

from typing import Literal

import msgspec

from nightrook.adapter.history import Kind

State = Literal["ok", "gone", "unreadable"]
"""Whether a source could be read when it was last looked at."""


class Source(msgspec.Struct, kw_only=True):
    """A file of an agent, and how far it was read."""

    agent: str
    path: str
    kind: Kind = "lines"
    id: int | None = None
    """None until the ledger has it."""

    inode: int = 0
    size: int = 0
    mtime_ns: int = 0
    position: int = 0
    head_hash: bytes | None = None
    tail_hash: bytes | None = None
    memory: bytes | None = None
    """What its reader remembers at the position: JSON, of lines compressed by zlib."""

    state: State = "ok"
    rewritten: bool = False
    """Whether bytes that were read have changed since."""

    problem: str | None = None


class RunFigures(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of rook that has ended reports of itself. None means unknown."""

    name: str
    agent: str | None
    session: str | None = None
    loop: str | None = None
    """The loop or batch that it is part of."""

    model: str | None = None
    project: str | None = None
    """The folder that the agent worked in."""

    started_at: float
    ended_at: float
    native_usd: float | None = None
    """What the agent reports that this run spent."""

    estimated_usd: float | None = None
    """What rook estimated instead."""

    input: int | None = None
    """Input that the cache did not serve or store."""

    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    at_least: bool = False
    """Whether there was more, as calls of subagents, that the agent does not report."""

    stamp: str = ""
    """Changes whenever the run's files do, so that unchanged runs are not read again."""

    @property
    def settled(self) -> bool:
        """Whether its own figures count, and its calls are only their detail."""
        return self.native_usd is not None or self.has_tokens

    @property
    def has_tokens(self) -> bool:
        """Whether it reports tokens."""
        counts = (self.input, self.output, self.cache_read, self.cache_write)
        return any(count is not None for count in counts)
