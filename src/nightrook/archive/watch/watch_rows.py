"""The rows of `rook watch`: the current state of a session or a run."""

from typing import Literal, Protocol

import msgspec

from nightrook.model.ledger import Money
from nightrook.model.records import Record
from nightrook.model.snapshot import Snapshot, TokenCounts
from nightrook.model.status import Outcome

_SETTLED_S = 2.0  # an answer after which nothing came for so long was the last of its turn


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A session or a run at one moment."""

    kind: Literal["session", "run"]
    agent: str | None
    name: str
    """The name of the run, or the id of the session."""

    label: str
    """Prefix of its lines."""

    project: str | None
    snapshot: Snapshot
    tokens: TokenCounts
    """Total of tokens, including those of subagents."""

    cost: Money
    turn_began: float | None
    """Start of the last turn."""

    changed_at: float
    """Time of the last write, in seconds since 1970."""

    is_answered: bool = False
    """True if the agent's last message is text and calls nothing."""

    status: Outcome | None = None
    """Outcome of the run; None while it runs, and for a session."""

    def is_waiting(self, now: float) -> bool:
        """True if it waits for a person: for a prompt, or for an answer to a question."""
        if self.kind == "session" and self.is_answered and now - self.changed_at > _SETTLED_S:
            return True
        shot = self.snapshot
        if shot.activity == "tool":
            return shot.open_tools[-1].kind == "ask"
        return shot.activity == "asking" or (self.kind == "session" and shot.activity == "idle")


class Update(msgspec.Struct, frozen=True, kw_only=True):
    """New records of a session or a run."""

    row: Row
    records: list[Record] = []
    is_first: bool = False
    """True if it was not shown before."""

    is_over: bool = False
    """True if it has ended: the last update."""


class Watched(Protocol):
    """A session or a run that is followed."""

    def row(self) -> Row:
        """Return its current row."""
