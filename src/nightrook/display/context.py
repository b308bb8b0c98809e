"""What a display knows of a run beside its records."""

from collections.abc import Callable

import msgspec

from nightrook.model.events import PermissionDenied, SessionStarted
from nightrook.model.ledger import Money
from nightrook.model.snapshot import Snapshot
from nightrook.model.text import from_home


def _unchanged(text: str) -> str:
    return text


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
    redact: Callable[[str], str] = _unchanged
    """What takes the secrets out of text that is divided into several lines."""

    denied_by_person: Callable[[], frozenset[str]] = frozenset
    """Returns the ids of the calls to which a person said no."""

    @property
    def model(self) -> str | None:
        """The model that was asked for, or that the agent named."""
        return self.snapshot().model

    def cost(self) -> Money:
        """What the run cost so far."""
        return self.snapshot().cost

    def is_by_person(self, denial: PermissionDenied) -> bool:
        """Whether a person said no to a call."""
        return denial.tool_id is not None and denial.tool_id in self.denied_by_person()

    def heading(
        self, session: SessionStarted, agent: str, *, cwd: str | None, home: str | None
    ) -> str:
        """What runs: agent, version, model, folder and the run's name, as far as known."""
        parts = (
            f"{agent} {session.version}" if session.version else agent,
            session.model or self.model,
            from_home(cwd, home) if cwd else None,
            f"run {self.run}" if self.run else None,
        )
        return " · ".join(part for part in parts if part)
