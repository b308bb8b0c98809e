"""The truth about the end: one table over what the stream told and how the process ended."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Literal

import msgspec

from rookery.model.events import TurnFinished
from rookery.model.state import RunState
from rookery.model.text import count, cut, one_line

Outcome = Literal[
    "success",
    "failed",
    "incomplete",
    "denied",
    "over_budget",
    "limited",
    "stuck",
    "unverified",
    "not_started",
    "timed_out",
    "interrupted",
]
EXIT_CODES: dict[Outcome, int] = {
    "success": 0,
    "failed": 1,
    "incomplete": 3,
    "denied": 4,
    "over_budget": 5,
    "limited": 6,
    "stuck": 7,
    "unverified": 8,
    "not_started": 9,
    "timed_out": 124,
    "interrupted": 130,
}
"""The exit code of each status; 2 is left for wrong usage."""

StopReason = Literal["interrupted", "timed_out", "over_budget", "limited", "stuck", "finished"]


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How the agent's process ended, as a plain value; all unknown for a recorded stream."""

    started: bool = True
    """Whether the program could be started at all."""

    exit_code: int | None = None
    signal: int | None = None
    stopped_for: StopReason | None = None
    """Why we stopped it, if we did; `finished` after a result and its grace."""

    limit: str | None = None
    """Which limit of its own it reached, if its exit code tells."""

    cut_tasks: int = 0
    """Background tasks that were still at work when it ended."""

    complaint: str | None = None
    """What it, or the system, said when it could not start."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What stands beside a status, whichever it is: a success may have denials, too."""

    agent_exit_code: int | None = None
    signal: int | None = None
    stopped_for: StopReason | None = None
    results: int = 0
    denials: int = 0
    cut_tasks: int = 0
    truncated: bool = False
    resets_at: float | None = None
    """When the provider's limit that was reached ends."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One status, the facts beside it, an exit code and a sentence a person can act on."""

    status: Outcome
    sentence: str
    exit_code: int
    facts: Facts = Facts()


def judge(
    state: RunState,
    ending: Ending | None = None,
    *,
    verified: bool | None = None,
    allow_denials: bool = False,
) -> Verdict:
    """Tell how a run ended: the first status of the table that holds."""
    known = _Facts(state, ending or Ending(), verified, allow_denials)
    held = ((status, rule(known)) for status, rule in _TABLE)
    fitting = ((status, sentence) for status, sentence in held if sentence is not None)
    status, sentence = next(fitting, ("success", "done"))
    return Verdict(
        status=status, sentence=sentence, exit_code=EXIT_CODES[status], facts=_beside(known)
    )


def _beside(known: "_Facts") -> Facts:
    state, ending = known.state, known.ending
    reached = [limit for limit in state.limits.values() if limit.status == "rejected"]
    return Facts(
        agent_exit_code=ending.exit_code,
        signal=ending.signal,
        stopped_for=ending.stopped_for,
        results=len(state.results),
        denials=len(state.denials),
        cut_tasks=max(ending.cut_tasks, state.cut_tasks),
        truncated=state.closed is not None and state.closed.truncated,
        resets_at=reached[-1].resets_at if reached else None,
    )


class _Facts(msgspec.Struct):
    """What the rules ask."""

    state: RunState
    ending: Ending
    verified: bool | None
    allow_denials: bool

    @property
    def unfinished(self) -> bool:
        """Whether a turn has no result."""
        return not self.state.results or len(self.state.results) < len(self.state.turns)

    @property
    def last(self) -> TurnFinished | None:
        """The result of the last turn; None while it has none."""
        return None if self.unfinished else self.state.results[-1]

    @property
    def cut_off(self) -> bool:
        """Whether the stream ends in the middle of a line, and not because we stopped it."""
        closed = self.state.closed
        return closed is not None and closed.truncated and self.ending.stopped_for != "finished"


def _not_started(facts: _Facts) -> str | None:
    state, ending = facts.state, facts.ending
    stopped = ending.stopped_for not in (None, "finished")
    if ending.started and (state.heard or stopped):
        return None  # some agents say nothing for long: what we stopped had started
    if ending.complaint or not ending.started:
        return ending.complaint or "it could not be started"
    said = "it wrote text, but no message" if state.unreadable else "it said nothing"
    if ending.signal is not None:
        return f"{said}, and was killed by {_signal(ending.signal)}"
    return said if ending.exit_code is None else f"{said}, and exited with {ending.exit_code}"


def _interrupted(facts: _Facts) -> str | None:
    # An agent that we ask to stop says that it was interrupted, whatever our reason.
    by_others = facts.ending.stopped_for in (None, "finished")
    told = by_others and _ended_for(facts.last, "interrupted")
    if facts.ending.stopped_for != "interrupted" and not told:
        return None
    return "it was interrupted" + _in_the_middle(facts)


def _timed_out(facts: _Facts) -> str | None:
    if facts.ending.stopped_for != "timed_out":
        return None
    return "the deadline passed" + _in_the_middle(facts)


def _over_budget(facts: _Facts) -> str | None:
    if facts.ending.stopped_for == "over_budget":
        return "a limit of yours was reached" + _in_the_middle(facts)
    if _ended_for(facts.last, "max_turns", "max_budget"):
        return _complaint(facts.last) or f"it reached its {_words(facts.last)}"
    if facts.ending.limit is not None and facts.unfinished:
        return f"it reached its {facts.ending.limit}" + _in_the_middle(facts)
    return None


def _limited(facts: _Facts) -> str | None:
    stopped = facts.ending.stopped_for == "limited"
    if facts.last is not None and facts.last.ok and not stopped:
        return None
    for limit in facts.state.limits.values():
        if limit.status == "rejected":
            window = _WINDOWS.get(limit.window, f"{limit.window} limit")
            return f"the {window} is used up{_reset(limit.resets_at)}"
    quota = [error.message for error in facts.state.errors if error.kind == "quota"]
    if quota or stopped:
        return _first_line(quota[-1:]) or "the provider's limit is used up"
    return None


def _stuck(facts: _Facts) -> str | None:
    if facts.state.asked is not None and facts.unfinished:
        return f"nobody answered whether it may use {facts.state.asked.name or 'a tool'}"
    if facts.ending.stopped_for == "stuck":
        return "there was no sign of life" + _in_the_middle(facts)
    return None


def _incomplete(facts: _Facts) -> str | None:
    where = _in_the_middle(facts)
    if facts.unfinished and facts.ending.signal is not None:
        return f"it was killed by {_signal(facts.ending.signal)}{where}"
    if facts.cut_off:
        return f"what it wrote was cut off{where}"
    if facts.unfinished:
        code = facts.ending.exit_code
        how = "ended" if code is None else f"exited with {code}"
        return f"it {how} without a result{where}"
    tasks = max(facts.ending.cut_tasks, facts.state.cut_tasks)
    return f"{_were(tasks, 'background task')} cut off when it ended" if tasks else None


def _stopped_at_denial(facts: _Facts) -> str | None:
    # Some agents give up at a refusal: there is no answer, so accepting denials changes nothing.
    return _complaint(facts.last) if _ended_for(facts.last, "denied") else None


def _failed(facts: _Facts) -> str | None:
    if facts.last is None or facts.last.ok:
        return None
    return _complaint(facts.last) or _words(facts.last) or "the agent did not say why"


def _unverified(facts: _Facts) -> str | None:
    return "the agent says done, but the check says no" if facts.verified is False else None


def _denied(facts: _Facts) -> str | None:
    if facts.allow_denials or not facts.state.denials:
        return None
    return f"it finished, but {_were(len(facts.state.denials), 'tool call')} not permitted"


_TABLE: tuple[tuple[Outcome, Callable[[_Facts], str | None]], ...] = (
    ("not_started", _not_started),
    ("interrupted", _interrupted),
    ("timed_out", _timed_out),
    ("over_budget", _over_budget),
    ("limited", _limited),
    ("stuck", _stuck),
    ("incomplete", _incomplete),
    ("denied", _stopped_at_denial),
    ("failed", _failed),
    ("unverified", _unverified),
    ("denied", _denied),
)
"""In this order: the first rule that gives a sentence decides; if none does, it is a success."""

_WINDOWS = {None: "limit", "five_hour": "5-hour window", "seven_day": "7-day window"}
_SIGNALS = {
    1: "SIGHUP",
    2: "SIGINT",
    6: "SIGABRT",
    9: "SIGKILL",
    11: "SIGSEGV",
    13: "SIGPIPE",
    15: "SIGTERM",
}
_MOMENT = "%Y-%m-%d %H:%M UTC"
_LONGEST_TITLE = 60
_LONGEST_COMPLAINT = 300


def _reset(moment: float | None) -> str:
    """When a limit ends, if the provider told a moment that a calendar has."""
    try:
        return (
            "" if moment is None else f" · resets {datetime.fromtimestamp(moment, UTC):{_MOMENT}}"
        )
    except (ValueError, OverflowError, OSError):
        return ""


def _in_the_middle(facts: _Facts) -> str:
    """Where it was: the last tool that never finished, if there is one."""
    left = [tool for tool in facts.state.finished_tools if tool.status == "orphaned"]
    left += facts.state.open_tools.values()
    if not left:
        return ""
    about = f": {one_line(left[-1].title, _LONGEST_TITLE)}" if left[-1].title else ""
    return f", in the middle of {left[-1].name or 'a tool'}{about}"


def _signal(number: int) -> str:
    return _SIGNALS.get(number, f"signal {number}")


def _ended_for(last: TurnFinished | None, *reasons: str) -> bool:
    return last is not None and not last.ok and last.reason in reasons


def _complaint(last: TurnFinished | None) -> str | None:
    """What a failed turn gave as its reason."""
    return _first_line((last.errors if last else None) or ())


def _first_line(texts: Iterable[str | None]) -> str | None:
    lines = (text.strip().partition("\n")[0] for text in texts if text)
    return next((cut(line, _LONGEST_COMPLAINT) for line in lines if line), None)


def _words(last: TurnFinished | None) -> str:
    return ((last.reason if last else None) or "").replace("_", " ")


def _were(number: int, noun: str) -> str:
    return f"{count(number, noun)} {'was' if number == 1 else 'were'}"
