"""What the rules need to know about a run, from its state and its verdict, live or from disk."""

from datetime import tzinfo

import msgspec

from nightrook.loops.plan import Goal
from nightrook.loops.state import Report
from nightrook.loops.waits.resets import from_field, from_text
from nightrook.model.answer import final_text, is_complete, signals
from nightrook.model.state import RunState
from nightrook.model.verdict import Verdict

_LONGEST_ANSWER = 64 * 1024


def report(
    state: RunState,
    verdict: Verdict,
    *,
    goal: Goal,
    nonce: str,
    run: str | None,
    started_at: float,
    ended_at: float,
    local: tzinfo,
) -> Report:
    """Summarise a run for the rules."""
    answer = final_text(state)
    reported = _reported_error(state)
    field = from_field(verdict.facts.stream.resets_at)
    resets_at = field
    if verdict.status == "limited" and resets_at is None:
        message = reported or verdict.facts.stream.quota_message
        resets_at = from_text(message, now=ended_at, local=local)
    windows = [limit for limit in state.limits.values() if limit.used is not None]
    fullest = max(windows, key=lambda limit: limit.used or 0.0, default=None)
    return Report(
        run=run,
        status=verdict.status,
        sentence=verdict.sentence,
        started_at=started_at,
        ended_at=ended_at,
        spent_usd=state.ledger.spent_usd,
        cost_source=state.ledger.cost.source,
        tokens=state.ledger.tokens.total if state.ledger.has_usage else None,
        turns=state.ledger.steps or None,
        answer=None if answer is None else answer[-_LONGEST_ANSWER:],
        said_done=says_done(state, goal, nonce),
        error=None if _ended_well(state) else reported or verdict.sentence,
        error_kind=state.errors[-1].kind if state.errors else None,
        needs_payment=state.needs_payment or msgspec.UNSET,
        cost_unknown=_stopped_for_unknown_cost(verdict) or msgspec.UNSET,
        denials=tuple(sorted({d.fix or d.name or "a tool" for d in state.denials.values()})),
        files_changed=len(state.files),
        resets_at=resets_at,
        reset_from_field=field is not None,
        quota=fullest.used if fullest else None,
        quota_resets_at=from_field(fullest.resets_at) if fullest else None,
        session=state.session,
    )


def says_done(state: RunState, goal: Goal, nonce: str) -> bool:
    """Whether the main agent's own text says that it is done."""
    if goal.until is not None and not is_complete(state, goal.until):
        return False
    if goal.signals and not signals(state, goal.signals):
        return False
    if goal.ask_done and not _answers_with(state, nonce):
        return False
    return goal.needs_answer


def _answers_with(state: RunState, nonce: str) -> bool:
    """Whether the final answer has the word alone on a line."""
    if not state.results or not state.results[-1].ok:
        return False
    answer = final_text(state) or ""
    return nonce in {line.strip() for line in answer.split("\n")}


def _stopped_for_unknown_cost(verdict: Verdict) -> bool:
    passed = verdict.facts.person.passed_limit
    return verdict.status == "over_budget" and passed is not None and passed.is_unknown


def _ended_well(state: RunState) -> bool:
    return bool(state.results) and state.results[-1].ok is True


def _reported_error(state: RunState) -> str | None:
    """What went wrong, in the words of the agent or its provider."""
    if _ended_well(state):
        return None
    last = state.results[-1] if state.results else None
    texts = [text for text in (last.errors or ()) if text] if last else []
    texts += [last.text] if last is not None and last.text else []
    texts += [error.message for error in state.errors[-1:] if error.message]
    return next(iter(texts), None)
