"""What a display knows of a run beside its records."""

from collections.abc import Callable

import msgspec

from rookery.model.ledger import Money
from rookery.model.snapshot import Snapshot


class RunContext(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is shown; `snapshot` returns its current state.

    Who folds the run's records calls the display's methods, so a snapshot is made in the thread
    that owns the state. Only finished lines are passed to other threads.
    """

    run: str | None = None
    """The run's name."""

    cwd: str | None = None
    """The folder that it was started in."""

    began: float | None = None
    """When it was started; without it, the first record counts."""

    reports_starts: bool = True
    """Whether the agent reports calls when they begin, not only when they have ended."""

    snapshot: Callable[[], Snapshot] = Snapshot

    @property
    def model(self) -> str | None:
        """The model that was asked for, or that the agent named."""
        return self.snapshot().model

    def cost(self) -> Money:
        """What the run cost so far."""
        return self.snapshot().cost
