"""The verdict on a run: one status, concluded from facts of four origins by one table of rules.

An exit code can't say how a run ended. Agents exit with 0 after a failed turn, with 1 after a good
one, or are killed while their answer is already complete; a shell script that trusts the code is
wrong both ways. So the end is judged from everything that is known (`nightrook.model.facts`):

```
 process    started? exit code? signal? ────┐
 stream     heard? results? errors? cut? ───┤
 person     stopped? limits? answers? ──────┼──▶ Facts ──▶ first rule that holds ──▶ Verdict
 recorder   all saved? unchanged? alive? ───┘                (_RULES)                status, exit
                                                                                     code, sentence
```

What the parts may rely on:

- `judge` is pure. It reads no clock, no file and no process, so the same facts lead to the same
  verdict in the process that ran the agent, in one that finds the folder after a crash, on another
  machine, and in a test. `runs/finish.py` collects the facts and saves the verdict; of a run whose
  worker is lost, `fleet/boss` does.
- The facts of the stream are read here, from the folded state; callers report the rest. An agent
  reports a result long before its process ends, and the two may disagree.
- A result is whole (`Facts.has_whole_result`) if its turn ended well and nothing was cut off after
  it, no call of the main agent is open, and no foreign signal killed it. After a whole result being
  stopped does not make the run worse. An exit code is only reported, unless it is one by which the
  agent reports a limit of its own (`Agent.limit_codes`).
- What is unknown is None or a default, never a guess: no rule holds because a fact is missing,
  except those that need a sign of life (`not_started`) or a result (`incomplete`).

The order of the rules is the order of trust:

1. The record itself: a changed log proves nothing, a lost worker or a dead recorder leaves the end
   unknown. No success can follow from it.
2. Whether there was a run at all (`not_started`), and why rook ended it: an agent that is stopped
   reports whatever it reports, often a failure or an interruption, so rook's reason comes first.
3. What the agent was stopped by or waits for: limits of the provider, an unanswered question.
4. The stream: whether it is complete, then whether its last result is good. Completeness first,
   because of an incomplete stream the last result may be missing.
5. A good result that is not enough: tools were denied, or there is no answer.

A verdict is saved once (`verdict.json`) and never changed by a rule of a later version. Only a log
that is found changed replaces it (`VerdictInfo.with_tampered_logs`).
"""

from collections.abc import Callable
from typing import Self

import msgspec
from msgspec.structs import replace

from nightrook.model.facts import (
    NOTHING_KNOWN,
    OWN_LIMITS,
    PARTIAL_ANSWERS,
    Facts,
    PassedLimit,
    StopReason,
)
from nightrook.model.sentences import first_line_of, sentence
from nightrook.model.state import RunState
from nightrook.model.status import EXIT_CODES, Outcome

_LONGEST_TITLE = 60


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One status, an exit code, a sentence a person can act on, and the facts behind them."""

    status: Outcome
    sentence: str
    exit_code: int
    facts: Facts = NOTHING_KNOWN

    @classmethod
    def of(cls, status: Outcome, facts: Facts) -> Self:
        """Return the status that follows from these facts."""
        words = sentence(status, facts)
        return cls(status=status, sentence=words, exit_code=EXIT_CODES[status], facts=facts)


def judge(state: RunState | None, known: Facts = NOTHING_KNOWN) -> Verdict:
    """Judge a run by its stream and by the facts about its process.

    Without a state the program is a command that no adapter knows; its exit code decides.
    """
    facts = _from_exit_code(known) if state is None else _from_stream(state, known)
    return Verdict.of(next(status for status, holds in _RULES if holds(facts)), facts)


def _from_exit_code(known: Facts) -> Facts:
    code = known.process.agent_exit_code
    stream = replace(
        known.stream,
        has_stream=False,
        heard=known.process.started,
        finished=code is not None,
        ok=None if code is None else code == 0,
    )
    return replace(known, stream=stream)


def _from_stream(state: RunState, known: Facts) -> Facts:
    finished = bool(state.results) and len(state.results) >= len(state.turns)
    last = state.results[-1] if finished else None
    failed = last if last is not None and not last.ok else None
    own = OWN_LIMITS.get(failed.reason) if failed else None
    reached = [limit for limit in state.limits.values() if limit.status == "rejected"]
    open_call = state.open_call if last is not None and last.ok else None
    quota, tool = state.quota_errors, open_call or state.unfinished_tool
    denied = {*state.denials, *known.person.refused}  # guards: refused-counts-as-denied
    stream = replace(
        known.stream,
        heard=state.heard,
        text_only=known.stream.text_only or (state.unreadable > 0 and not state.heard),
        plain_text=None if state.heard else first_line_of([state.plain_text]),
        finished=finished,
        ok=last.ok if last else None,
        reason=failed.reason if failed else None,
        message=first_line_of(failed.errors or ()) if failed else None,
        no_answer=last is not None and last.ok and not state.has_answer(last),
        results=len(state.results),
        denials=len(denied),
        cut_tasks=state.cut_tasks,
        truncated=state.closed is not None and state.closed.truncated,
        open_tool=None if tool is None else tool.described(_LONGEST_TITLE),
        open_at_result=open_call is not None,
        asked=(state.asked.name or "a tool") if state.asked else None,
        limited=bool(reached or quota),
        window=reached[-1].window if reached else None,
        resets_at=reached[-1].resets_at if reached else None,
        quota_message=None if reached else first_line_of(error.message for error in quota[-1:]),
    )
    passed = known.person.passed_limit or (PassedLimit(kind=own, by="agent") if own else None)
    by_person = tuple(id for id in known.person.denied_by_person if id in denied)
    person = replace(known.person, passed_limit=passed, denied_by_person=by_person)
    return replace(known, stream=stream, person=person)


def _died_unseen(facts: Facts) -> bool:
    is_known = facts.stream.results or facts.person.was_stopped
    return facts.recorder.recorder_died and facts.process.started and not is_known


def _not_started(facts: Facts) -> bool:
    # Some agents write nothing for a long time: one that rook stopped had started.
    is_heard = facts.stream.heard or facts.person.was_stopped
    return not facts.process.started or not is_heard or facts.stream.reason == "not_started"


def _interrupted(facts: Facts) -> bool:
    # An agent that rook asks to stop reports an interruption, whatever rook's reason was.
    reported = facts.stream.reason == "interrupted" and not facts.person.was_stopped
    return reported or _cut_by("interrupted", facts)


def _timed_out(facts: Facts) -> bool:
    return _cut_by("timed_out", facts)


def _cut_by(why: StopReason, facts: Facts) -> bool:
    """True if rook stopped it for this reason before it had given a whole good result."""
    return facts.person.stopped_for == why and not facts.has_whole_result


def _over_budget(facts: Facts) -> bool:
    person, stream = facts.person, facts.stream
    passed = person.passed_limit
    unfinished = passed is not None and passed.by == "agent" and not stream.finished
    stopped = person.stopped_for == "over_budget" and not _had_finished(facts)
    return stopped or stream.reason in OWN_LIMITS or unfinished


def _had_finished(facts: Facts) -> bool:
    """True if the agent ended well by itself before it could be stopped."""
    is_good = facts.stream.finished and facts.stream.ok is True
    return is_good and facts.process.agent_exit_code == 0


def _limited(facts: Facts) -> bool:
    is_reported = facts.stream.limited and not facts.stream.ok
    return facts.person.stopped_for == "limited" or is_reported


def _stuck(facts: Facts) -> bool:
    is_asking = facts.stream.asked is not None and not facts.stream.finished
    return is_asking or facts.person.stopped_for == "stuck"


def _ended_by_refusal(facts: Facts) -> bool:
    ended = facts.process.agent_exit_code is not None and not facts.stream.finished
    return facts.stream.ended_by_refusal and ended


def _failed_unreported(facts: Facts) -> bool:
    # What a command prints may look like an error of the agent, which then continues.
    gave_up = facts.process.agent_exit_code not in (None, 0) and not facts.person.was_stopped
    # guards: stderr-of-finished-run
    return facts.stream.failure is not None and gave_up and not facts.stream.finished


def _incomplete(facts: Facts) -> bool:
    stream = facts.stream
    cut_off = stream.truncated and facts.person.stopped_for != "finished"
    # guards: broken-answer
    partial = stream.reason in PARTIAL_ANSWERS or (stream.broken_answer and stream.ok is True)
    # guards: open-call-no-success
    cut_off = cut_off or stream.open_at_result
    return not stream.finished or cut_off or partial or stream.cut_tasks > 0


def _contradicted(facts: Facts) -> bool:
    """True if the end of the process contradicts a good result: it was killed, or at a limit."""
    if not facts.stream.has_stream or not facts.stream.ok:
        return False
    passed = facts.person.passed_limit
    at_limit = passed is not None and passed.by == "agent" and facts.is_code_doubtful
    return facts.was_killed or at_limit  # guards: killed-no-success


def _stopped_at_denial(facts: Facts) -> bool:
    # Some agents give up when a tool is denied: there is no answer that could be accepted.
    return facts.stream.reason == "denied"


def _denied(facts: Facts) -> bool:
    denied = facts.stream.denials > 0 or bool(facts.stream.refusals)
    return denied and not facts.person.allow_denials


_RULES: tuple[tuple[Outcome, Callable[[Facts], bool]], ...] = (
    # 1. the record
    # guards: tampered-no-success
    ("incomplete", lambda facts: facts.recorder.tampered is not None),
    ("lost", lambda facts: facts.recorder.lost_worker is not None),
    ("incomplete", _died_unseen),
    # 2. whether it ran, and why rook ended it
    ("not_started", _not_started),
    ("interrupted", _interrupted),
    ("timed_out", _timed_out),
    ("over_budget", _over_budget),
    # 3. what it was stopped by, or waits for
    ("limited", _limited),
    ("stuck", _stuck),
    ("denied", _ended_by_refusal),
    ("failed", _failed_unreported),
    # 4. the stream
    ("incomplete", _incomplete),
    ("incomplete", _contradicted),
    ("denied", _stopped_at_denial),
    ("failed", lambda facts: not facts.stream.ok),
    # 5. a good result that is not enough
    ("denied", _denied),
    ("incomplete", lambda facts: facts.stream.no_answer),
    ("success", lambda _: True),
)
"""The first rule that holds decides."""
