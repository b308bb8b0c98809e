"""The state of reading a stream or a stored session, besides what every agent needs."""

from collections.abc import Mapping, Sequence

import msgspec

from nightrook.adapter import memory
from nightrook.adapter.memory import forget_oldest
from nightrook.adapter.stored import StoredMemory
from nightrook.agents.opencode.tools import KINDS
from nightrook.model.events import (
    Error,
    Event,
    SessionStarted,
    ToolKind,
    TurnFinished,
    Usage,
    UsageReported,
)
from nightrook.model.price import dollars, nano

_MOST_PARTS = 1024  # the number of parts among which a repetition is noticed
_COUNTED = ("input", "output", "cache_read", "cache_write_5m", "reasoning")
_ENDINGS = {
    "length": ("max_tokens", "the answer was cut off at the model's output limit"),
    "content-filter": ("refused", "the provider's filter stopped the answer"),
    "error": ("api_error", "the model's stream ended with an error"),
}
"""The neutral reason and a message for each reason why a model stopped early."""

_NOT_PERMITTED = "it stopped at a tool call that was not permitted"


class Totals:
    """Tokens and cost of all steps; the stream reports those of each step."""

    def __init__(self) -> None:
        self.steps = 0
        self.reported = False
        self.tokens = dict.fromkeys(_COUNTED, 0)
        self.nano: int | None = 0  # dollars; None once a step had no price

    def add(self, step: UsageReported) -> None:
        """Add a step's figures."""
        self.reported = True
        for name in _COUNTED:
            self.tokens[name] += getattr(step, name) or 0
        if self.nano is not None:
            self.nano = None if step.cost_usd is None else self.nano + nano(step.cost_usd)

    @property
    def usage(self) -> Usage | None:
        """The tokens of all steps; None if no step reported any."""
        return Usage(**self.tokens) if self.reported else None

    @property
    def cost_usd(self) -> float | None:
        """The cost of all steps; None if that of any step is unknown."""
        return None if self.nano is None or not self.reported else dollars(self.nano)


class Memory(memory.Memory):
    """The state of reading one stream.

    A call arrives with its result, and a text when it is complete, so nothing is ever left open
    but the turn. `kinds` has the kind of each of the agent's tools.
    """

    def __init__(self, known: Mapping[str, str], kinds: Mapping[str, ToolKind] = KINDS) -> None:
        super().__init__(known)
        self.kinds = kinds
        self.totals = Totals()
        self.message: str | None = None  # whose step came last
        self.retries = 0  # of that step
        self.stopped: str | None = None  # why the last step ended; None while it runs
        self.texts: list[str] = []  # the texts of the last step
        self.rejected = False  # a call of the last step was rejected, which ends the run
        self.failure: Error | None = None  # an error that no other message has followed yet
        self.reason = "api_error"  # the kind of that failure, as a word
        self.session: str | msgspec.UnsetType | None = msgspec.UNSET  # of the last message
        self._parts: dict[str, None] = {}

    def enter(self, session: str | None) -> list[Event]:
        """Switch to a session, which may be new; the first opens the stream's only turn."""
        self.session = session
        events: list[Event] = []
        if session is not None and session not in self.sessions:
            self.sessions.add(session)
            events.append(SessionStarted(session=session))
        return [*events, *self.begin_turn()]

    def is_new(self, part: str | None) -> bool:
        """Return whether a part has not been seen before; remember it."""
        if part is None:
            return True
        if part in self._parts:
            return False
        self._parts[part] = None
        forget_oldest(self._parts, _MOST_PARTS)
        return True

    def begin_step(self, message: str | None) -> bool:
        """Start a step, and return whether it is a retry of the step before."""
        again = message is not None and message == self.message and self.stopped is None
        self.retries = self.retries + 1 if again else 0
        self.message = message
        self.stopped = None
        self.texts = []
        self.rejected = False
        self.failure = None
        return again

    def close(self) -> tuple[Sequence[Event], int]:
        """Return the end of the turn, if the last messages report it."""
        ending = self._ending()
        if ending is None:
            return (), 0
        self.end_turn()
        return (ending,), 0

    def _ending(self) -> TurnFinished | None:
        if self.failure is not None:
            message = _NOT_PERMITTED if self.reason == "denied" else self.failure.message
            return self._finished(self.reason, message)
        if self.stopped == "stop":
            return self._finished(None, None)
        if self.stopped == "tool-calls" and self.rejected:
            return self._finished("denied", _NOT_PERMITTED)
        if self.stopped in (None, "tool-calls", "unknown"):
            return None  # another step would have followed
        message = f"the model stopped for the reason {self.stopped!r}"
        return self._finished(*_ENDINGS.get(self.stopped, ("model_stopped", message)))

    def _finished(self, reason: str | None, error: str | None) -> TurnFinished:
        ok = reason is None
        totals = self.totals
        return TurnFinished(
            ok=ok,
            text="\n".join(self.texts) if ok else None,
            stop_reason=self.stopped,
            reason=reason,
            errors=(error,) if error else None,
            turns=totals.steps or None,
            cost_usd=totals.cost_usd,
            cost_semantics=None if totals.cost_usd is None else "turn",
            usage=totals.usage,
        )


class SessionMemory(Memory, StoredMemory):
    """The state of reading a stored session, whose turns each have their own end."""

    def settle_turn(self) -> list[Event]:
        """Report the end of the turn that is open, as far as the session shows that it ended."""
        ended, _ = self.close()
        self.in_turn = False
        self.stopped, self.failure, self.texts, self.totals = None, None, [], Totals()
        return [*ended]
