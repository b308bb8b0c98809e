"""What must be remembered from one message to the next to tell what a stream means."""

from collections.abc import Sequence

import msgspec

from rookery.adapter.bounded import forget_oldest
from rookery.adapter.drift import Drift
from rookery.agents.opencode.fields import KNOWN_FIELDS
from rookery.model.events import (
    Error,
    Event,
    SessionStarted,
    TurnFinished,
    TurnStarted,
    Usage,
    UsageReported,
)
from rookery.model.price import dollars, nano

_PARTS = 1024  # of the last so many a repetition is noticed
_ENDINGS = {
    "length": ("max_tokens", "the answer was cut off at the model's output limit"),
    "content-filter": ("refused", "the provider's filter stopped the answer"),
    "error": ("api_error", "the model's stream ended with an error"),
}
"""Why a model stopped without having finished, as neutral reason and in words."""


class Totals:
    """What all steps used and cost; OpenCode tells it of each step alone."""

    def __init__(self) -> None:
        self.steps = 0
        self.told = False
        self.input = 0
        self.output = 0
        self.cache_read = 0
        self.cache_write = 0
        self.reasoning = 0
        self.nano: int | None = 0  # dollars; None once a step had no price

    def add(self, step: UsageReported) -> None:
        """Add a step's figures."""
        self.told = True
        self.input += step.input or 0
        self.output += step.output or 0
        self.cache_read += step.cache_read or 0
        self.cache_write += step.cache_write_5m or 0
        self.reasoning += step.reasoning or 0
        if self.nano is not None:
            self.nano = None if step.cost_usd is None else self.nano + nano(step.cost_usd)

    @property
    def usage(self) -> Usage | None:
        """The tokens of all steps; None if no step told any."""
        if not self.told:
            return None
        return Usage(
            input=self.input,
            output=self.output,
            cache_read=self.cache_read,
            cache_write_5m=self.cache_write,
            reasoning=self.reasoning,
        )

    @property
    def cost_usd(self) -> float | None:
        """The cost of all steps; None if that of one is not known."""
        return None if self.nano is None or not self.told else dollars(self.nano)


class Memory:
    """Everything that is remembered of one stream."""

    def __init__(self) -> None:
        self.drift = Drift(KNOWN_FIELDS)
        self.results = 0
        self.totals = Totals()
        self.message: str | None = None  # whose step came last
        self.retries = 0  # of that step
        self.stopped: str | None = None  # why the last step ended; None while it goes on
        self.answer: list[str] = []  # what the last step said
        self.rejected = False  # a call of the last step was rejected, which ends the run
        self.failure: Error | None = None  # what nothing has followed yet
        self.aborted = False  # that failure was an abort
        self.session: str | msgspec.UnsetType | None = msgspec.UNSET  # whose message came last
        self._sessions: set[str] = set()
        self._parts: dict[str, None] = {}
        self._turn_open = False
        self._unnamed = 0

    def begin(self, session: str | None) -> list[Event]:
        """Go on with a session, and tell if it is new; the first opens the stream's only turn."""
        self.session = session
        events: list[Event] = []
        if session is not None and session not in self._sessions:
            self._sessions.add(session)
            events.append(SessionStarted(session=session))
        if not self._turn_open:
            self._turn_open = True
            events.append(TurnStarted(origin="prompt"))
        return events

    def is_new(self, part: str | None) -> bool:
        """Tell whether a part was not told before, and remember it."""
        if part is None:
            return True
        if part in self._parts:
            return False
        self._parts[part] = None
        forget_oldest(self._parts, _PARTS)
        return True

    def new_id(self, kind: str) -> str:
        """A name for a thing that the agent left unnamed."""
        self._unnamed += 1
        return f"{kind}-{self._unnamed}"

    def begin_step(self, message: str | None) -> bool:
        """Begin a step, and tell whether it is the same one tried again."""
        again = message is not None and message == self.message and self.stopped is None
        self.retries = self.retries + 1 if again else 0
        self.message = message
        self.stopped = None
        self.answer = []
        self.rejected = False
        self.failure = None
        self.aborted = False
        return again

    def close(self) -> tuple[Sequence[Event], int]:
        """Tell how the turn ended, if the last messages tell; no call is ever open."""
        ending = self._ending()
        if ending is None:
            return (), 0
        self.results += 1
        return (ending,), 0

    def _ending(self) -> TurnFinished | None:
        if self.failure is not None:
            reason = "interrupted" if self.aborted else "api_error"
            return self._finished(reason, self.failure.message)
        if self.stopped == "stop":
            return self._finished(None, None)
        if self.stopped == "tool-calls" and self.rejected:
            return self._finished("denied", "it stopped at a tool call that was not permitted")
        if self.stopped in (None, "tool-calls", "unknown"):
            return None  # another step would have followed
        words = f"the model stopped for the reason {self.stopped!r}"
        return self._finished(*_ENDINGS.get(self.stopped, ("model_stopped", words)))

    def _finished(self, reason: str | None, complaint: str | None) -> TurnFinished:
        good = reason is None
        totals = self.totals
        return TurnFinished(
            ok=good,
            text="\n".join(self.answer) if good else None,
            stop_reason=self.stopped,
            reason=reason,
            errors=(complaint,) if complaint else None,
            turns=totals.steps or None,
            cost_usd=totals.cost_usd,
            cost_semantics=None if totals.cost_usd is None else "turn",
            usage=totals.usage,
        )
