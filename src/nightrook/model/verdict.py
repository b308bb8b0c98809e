"""How a run ended: the facts, the status they add up to, and the sentence that reports it."""

from collections.abc import Callable, Iterable
from typing import Literal, Self, assert_never

import msgspec

from nightrook.model.sentences.denials import denied_calls
from nightrook.model.sentences.interruption import interrupted_by, point
from nightrook.model.sentences.limits import passed_limit, provider_limit
from nightrook.model.sentences.process import ended_process
from nightrook.model.state import RunState
from nightrook.model.status import EXIT_CODES, Outcome
from nightrook.model.stuck_detection import Suspicion
from nightrook.model.text import first_line, were

StopReason = Literal["interrupted", "timed_out", "over_budget", "limited", "stuck", "finished"]
LimitKind = Literal["cost", "tokens", "turns", "time"]
OWN_LIMITS: dict[str | None, LimitKind] = {"max_turns": "turns", "max_budget": "cost"}
"""The reasons an agent reports when it stopped at a limit of its own."""


class PassedLimit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A limit on money, tokens, turns or time that the run passed, and who enforced it."""

    kind: LimitKind
    by: Literal["rook", "agent"] = "rook"
    used: float | None = None
    allowed: float | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether the run was stopped because its cost cannot be known."""
        return self.kind == "cost" and self.by == "rook" and self.used is None


class Facts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that decides a verdict. What is unknown keeps its default.

    The first part is known from the process and from rook, the second part is read from the
    agent's stream by `judge`.
    """

    agent: str | None = None
    """What sentences call the agent."""

    started: bool = True
    complaint: str | None = None
    """Why the program could not be started."""

    missing_program: str | None = None
    """The program that is not installed."""

    recorder_died: bool = False
    """Whether the recorder or the runner died, so that the process's end was not recorded."""

    lost_worker: str | None = None
    """The worker of a fleet that was not heard of any more; how the run really ended is unknown."""

    agent_exit_code: int | None = None
    signal: int | None = None
    stopped_for: StopReason | None = None
    """Why rook stopped it, if it did; `finished` after a result and a grace period."""

    stopped_by: str | None = None
    """What interrupted it: the name of the signal that rook got, or `rook stop`."""

    passed_limit: PassedLimit | None = None
    suspicion: Suspicion | None = None
    """Why rook considers it stuck, with the evidence."""

    allow_denials: bool = False
    """Whether a run that finished although tools were denied counts as a success."""

    text_only: bool = False
    """Whether it wrote text but no message."""

    plain_text: str | None = None
    """How that text begins."""

    lost_bytes: int | None = 0
    """How much of its output was not recorded; None if its recorder died, and that is unknown."""

    log_limit: int | None = None
    """The `max_log_size`, if that is why; otherwise the disk was full."""

    tampered: str | None = None
    """How its saved logs differ from what the recorder wrote."""

    left_behind: tuple[str, ...] = ()
    """The names of the processes that the agent left running when it exited, and rook ended."""

    unsaved: str | None = None
    """Why this verdict is not in the run folder."""

    has_stream: bool = True
    """False for a command that no adapter knows: only its exit code counts."""

    heard: bool = False
    """Whether it wrote a message."""

    finished: bool = False
    """Whether every turn has its result."""

    ok: bool | None = None
    """Whether the last turn's result is good; None without one."""

    reason: str | None = None
    """Why the last turn failed, as a word."""

    message: str | None = None
    """Why the last turn failed, in the agent's words."""

    broken_answer: bool = False
    """Whether the agent's own log shows that the model broke off an answer it reports as whole."""

    no_answer: bool = False
    """Whether the last turn succeeded without an answer: neither text nor structured output."""

    results: int = 0
    denials: int = 0
    denied_by_person: tuple[str, ...] = ()
    """The ids of the denied calls to which a person said no."""

    refused: tuple[str, ...] = ()
    """The ids of the calls to which whoever was asked said no; not every agent reports them."""

    refusals: tuple[str, ...] = ()
    """Why calls were refused of which only stderr reports it."""

    refusal_fix: str | None = None
    """What would allow them."""

    ended_by_refusal: bool = False
    """Whether the agent ends without a result after such a refusal."""

    failure: str | None = None
    """Why it failed, if only stderr reports it."""

    cut_tasks: int = 0
    """Background tasks that were cut off when the agent ended."""

    truncated: bool = False
    """Whether the stream ends in the middle of a line."""

    open_tool: str | None = None
    """The last tool call that never finished."""

    asked: str | None = None
    """The tool that it asked to use, without an answer."""

    limited: bool = False
    """Whether it reported that a limit of the provider is used up."""

    window: str | None = None
    """Which limit of the provider that is."""

    resets_at: float | None = None
    """When that limit resets."""

    quota_message: str | None = None
    """The provider's own words about it."""

    @property
    def was_stopped(self) -> bool:
        """Whether rook ended it before it had finished."""
        return self.stopped_for not in (None, "finished")

    @property
    def has_whole_result(self) -> bool:
        """Whether the last turn ended well, and nothing of the agent's was cut off after it.

        The exit code of a command that no adapter knows may come of being stopped.
        """
        cut_off = self.truncated or self.cut_tasks > 0 or self.broken_answer
        return self.has_stream and self.finished and self.ok is True and not cut_off


NOTHING_KNOWN = Facts()


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One status, an exit code, a sentence a person can act on, and the facts behind them."""

    status: Outcome
    sentence: str
    exit_code: int
    facts: Facts = NOTHING_KNOWN

    @classmethod
    def of(cls, status: Outcome, facts: Facts) -> Self:
        """Report a status that these facts add up to."""
        sentence = _sentence(status, facts)
        return cls(status=status, sentence=sentence, exit_code=EXIT_CODES[status], facts=facts)


def judge(state: RunState | None, known: Facts = NOTHING_KNOWN) -> Verdict:
    """Judge a run by its stream and by what is known of its process.

    Without a state the program is a command that no adapter knows; its exit code decides.
    """
    facts = _from_exit_code(known) if state is None else _from_stream(state, known)
    return Verdict.of(next(status for status, holds in _RULES if holds(facts)), facts)


def _from_exit_code(known: Facts) -> Facts:
    code = known.agent_exit_code
    return msgspec.structs.replace(
        known,
        has_stream=False,
        heard=known.started,
        finished=code is not None,
        ok=None if code is None else code == 0,
    )


def _from_stream(state: RunState, known: Facts) -> Facts:
    finished = bool(state.results) and len(state.results) >= len(state.turns)
    last = state.results[-1] if finished else None
    failed = last if last is not None and not last.ok else None
    own = OWN_LIMITS.get(failed.reason) if failed else None
    reached = [limit for limit in state.limits.values() if limit.status == "rejected"]
    quota, tool = state.quota_errors, state.unfinished_tool
    denied = {*state.denials, *known.refused}  # guards: refused-counts-as-denied
    return msgspec.structs.replace(
        known,
        heard=state.heard,
        text_only=known.text_only or (state.unreadable > 0 and not state.heard),
        plain_text=None if state.heard else _first_line([state.plain_text]),
        finished=finished,
        ok=last.ok if last else None,
        reason=failed.reason if failed else None,
        message=_first_line(failed.errors or ()) if failed else None,
        no_answer=last is not None and last.ok and not state.has_answer(last),
        passed_limit=known.passed_limit or (PassedLimit(kind=own, by="agent") if own else None),
        results=len(state.results),
        denials=len(denied),
        denied_by_person=tuple(id for id in known.denied_by_person if id in denied),
        cut_tasks=state.cut_tasks,
        truncated=state.closed is not None and state.closed.truncated,
        open_tool=None if tool is None else tool.described(_LONGEST_TITLE),
        asked=(state.asked.name or "a tool") if state.asked else None,
        limited=bool(reached or quota),
        window=reached[-1].window if reached else None,
        resets_at=reached[-1].resets_at if reached else None,
        quota_message=None if reached else _first_line(error.message for error in quota[-1:]),
    )


def _died_unseen(facts: Facts) -> bool:
    return facts.recorder_died and facts.started and not (facts.results or facts.was_stopped)


def _not_started(facts: Facts) -> bool:
    # Some agents write nothing for a long time: one that rook stopped had started.
    is_heard = facts.heard or facts.was_stopped
    return not facts.started or not is_heard or facts.reason == "not_started"


def _interrupted(facts: Facts) -> bool:
    # An agent that rook asks to stop reports an interruption, whatever rook's reason was.
    reported = facts.reason == "interrupted" and not facts.was_stopped
    return reported or _cut_by("interrupted", facts)


def _timed_out(facts: Facts) -> bool:
    return _cut_by("timed_out", facts)


def _cut_by(why: StopReason, facts: Facts) -> bool:
    """Whether rook stopped it for this reason, before it had given a whole good result."""
    return facts.stopped_for == why and not facts.has_whole_result


def _over_budget(facts: Facts) -> bool:
    passed = facts.passed_limit
    unfinished = passed is not None and passed.by == "agent" and not facts.finished
    stopped = facts.stopped_for == "over_budget" and not _had_finished(facts)
    return stopped or facts.reason in OWN_LIMITS or unfinished


def _had_finished(facts: Facts) -> bool:
    """Whether the agent ended well by itself, before it could be stopped."""
    return facts.finished and facts.ok is True and facts.agent_exit_code == 0


def _limited(facts: Facts) -> bool:
    return facts.stopped_for == "limited" or (facts.limited and not facts.ok)


def _stuck(facts: Facts) -> bool:
    return (facts.asked is not None and not facts.finished) or facts.stopped_for == "stuck"


def _incomplete(facts: Facts) -> bool:
    cut_off = facts.truncated and facts.stopped_for != "finished"
    # guards: broken-answer
    partial = facts.reason in _PARTIAL_ANSWERS or (facts.broken_answer and facts.ok is True)
    return not facts.finished or cut_off or partial or facts.cut_tasks > 0


def _ended_by_refusal(facts: Facts) -> bool:
    return facts.ended_by_refusal and not facts.finished and facts.agent_exit_code is not None


def _failed_unreported(facts: Facts) -> bool:
    # What a command prints may look like an error of the agent, which then continues.
    gave_up = facts.agent_exit_code not in (None, 0) and not facts.was_stopped
    # guards: stderr-of-finished-run
    return facts.failure is not None and gave_up and not facts.finished


def _stopped_at_denial(facts: Facts) -> bool:
    # Some agents give up when a tool is denied: there is no answer that could be accepted.
    return facts.reason == "denied"


def _failed(facts: Facts) -> bool:
    return not facts.ok


def _denied(facts: Facts) -> bool:
    return (facts.denials > 0 or bool(facts.refusals)) and not facts.allow_denials


_RULES: tuple[tuple[Outcome, Callable[[Facts], bool]], ...] = (
    ("incomplete", lambda facts: facts.tampered is not None),  # guards: tampered-no-success
    ("lost", lambda facts: facts.lost_worker is not None),
    ("incomplete", _died_unseen),
    ("not_started", _not_started),
    ("interrupted", _interrupted),
    ("timed_out", _timed_out),
    ("over_budget", _over_budget),
    ("limited", _limited),
    ("stuck", _stuck),
    ("denied", _ended_by_refusal),
    ("failed", _failed_unreported),
    ("incomplete", _incomplete),
    ("denied", _stopped_at_denial),
    ("failed", _failed),
    ("denied", _denied),
    ("incomplete", lambda facts: facts.no_answer),
    ("success", lambda _: True),
)
"""The first rule that holds decides."""


def _sentence(status: Outcome, facts: Facts) -> str:
    """Report a status in one sentence, which names what a person can act on."""
    match status:
        case "success":
            passed = facts.passed_limit is not None and facts.passed_limit.by == "rook"
            return f"done, but {passed_limit(facts, _place(facts))}" if passed else "done"
        case "not_started":
            return _why_not_started(facts)
        case "interrupted":
            return _who_interrupted(facts) + _point(facts)
        case "timed_out" | "over_budget":
            return passed_limit(facts, _place(facts))
        case "limited":
            return facts.quota_message or provider_limit(facts.window, facts.resets_at)
        case "stuck":
            return _why_stuck(facts)
        case "lost":
            return f"{facts.lost_worker} was not heard of any more{_place(facts)}"
        case "incomplete":
            return _why_incomplete(facts)
        case "failed":
            return _why_failed(facts)
        case "denied":
            return facts.message or denied_calls(facts, _first_line(facts.refusals))
        case _:
            assert_never(status)


def _why_not_started(facts: Facts) -> str:
    agent = facts.agent or "the agent"
    if facts.reason == "not_started":
        return facts.message or f"{agent} could not start to work"
    if facts.missing_program is not None:
        return f"program {facts.missing_program!r} was not found"
    if not facts.started and facts.stopped_for == "interrupted" and not facts.complaint:
        return f"{_who_interrupted(facts)} before {agent} was started"
    if not facts.started:
        return facts.complaint or f"{agent} could not be started"
    if facts.text_only:
        end = f", and {process_end(facts)}" if process_end(facts) else ""
        text = f": {facts.plain_text}" if facts.plain_text else ""
        return f"{agent} wrote text, but no messages{end}{text}"
    return f"{agent} {process_end(facts) or 'ended'} before its first message"


def _why_stuck(facts: Facts) -> str:
    if facts.asked is not None and not facts.finished:
        return f"no answer to the question whether it may use {facts.asked}"
    if facts.suspicion is not None:
        return f"{facts.suspicion.reason} ({', '.join(facts.suspicion.evidence)})"
    return f"no sign of life{_place(facts)}"


def _why_incomplete(facts: Facts) -> str:
    if facts.tampered is not None:
        return f"the saved output was changed: {facts.tampered}"
    died = "the recorder or the rook process died: " if facts.recorder_died else ""
    if facts.recorder_died and facts.complaint is not None:
        died = f"the recorder failed ({facts.complaint}): "
    return died + _where_it_ended(facts)


def _where_it_ended(facts: Facts) -> str:
    if not facts.finished and facts.signal is not None:
        return f"{process_end(facts)}{_place(facts)}"
    if facts.truncated:
        return f"the output is cut off{_place(facts)}"
    if not facts.finished:
        return f"{process_end(facts) or 'ended'} without a result{_place(facts)}"
    if facts.reason in _PARTIAL_ANSWERS:
        return facts.message or "only a part of the answer arrived"
    if facts.cut_tasks:
        return f"{were(facts.cut_tasks, 'background task')} cut off when the agent ended"
    if facts.broken_answer:
        return "the answer may be cut off: the model gave no reason for its end"
    return "the agent ended without an answer"


def _why_failed(facts: Facts) -> str:
    if not facts.has_stream:
        return process_end(facts) or ""
    message = facts.message if facts.finished else _first_line([facts.failure])
    return message or (facts.reason or "").replace("_", " ") or "the agent gave no reason"


def _who_interrupted(facts: Facts) -> str:
    if facts.stopped_for != "interrupted":
        return f"interrupted, as {facts.agent or 'the agent'} reports"
    return interrupted_by(facts.stopped_by)


def _point(facts: Facts) -> str:
    """At which point a run was interrupted, as the end of a sentence."""
    if facts.has_whole_result or facts.open_tool is not None or not facts.has_stream:
        return "" if facts.has_whole_result else _place(facts)
    return point(
        facts.agent or "the agent",
        asked=None if facts.finished else facts.asked,
        heard=facts.heard,
        background_tasks=facts.cut_tasks,
        at_work=not facts.finished or facts.reason == "interrupted",
    )


_PARTIAL_ANSWERS = frozenset({"cut", "paused", "context_window"})
"""The reasons for which only a part of an answer arrived."""

_LONGEST_TITLE = 60
_LONGEST_COMPLAINT = 300


def process_end(facts: Facts) -> str | None:
    """How the process ended; None if that is unknown."""
    return ended_process(facts.agent_exit_code, facts.signal)


def _place(facts: Facts) -> str:
    return "" if facts.open_tool is None else f", in the middle of {facts.open_tool}"


def _first_line(texts: Iterable[str | None]) -> str | None:
    lines = (first_line(text, _LONGEST_COMPLAINT) for text in texts if text)
    return next(filter(None, lines), None)
