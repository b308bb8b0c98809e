"""What the rules ask of a run: read from its folded state and its verdict, live or from disk."""

from datetime import tzinfo

from rookery.loops.plan import Goal
from rookery.loops.resets import from_field, from_text
from rookery.loops.state import Report
from rookery.model.completion import final_text, is_complete, signals
from rookery.model.state import RunState
from rookery.model.verdict import Verdict

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
    """Sum a run up for the rules."""
    answer = final_text(state)
    error = _error(state, verdict)
    told = from_field(verdict.facts.resets_at)
    resets_at = told
    if verdict.status == "limited" and resets_at is None:
        resets_at = from_text(error, now=ended_at, local=local)
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
        error=error,
        error_kind=state.errors[-1].kind if state.errors else None,
        denials=tuple(sorted({d.fix or d.name or "a tool" for d in state.denials.values()})),
        files_changed=len(state.files),
        resets_at=resets_at,
        reset_is_told=told is not None,
        quota=fullest.used if fullest else None,
        quota_resets_at=from_field(fullest.resets_at) if fullest else None,
        session=state.session,
    )


def says_done(state: RunState, goal: Goal, nonce: str) -> bool:
    """Whether the main agent's own words say that it is done."""
    if goal.until is not None and not is_complete(state, goal.until):
        return False
    if goal.signals and not signals(state, goal.signals):
        return False
    if goal.ask_done and not _ends_with_word(state, nonce):
        return False
    return goal.asks_for_words


def _ends_with_word(state: RunState, nonce: str) -> bool:
    """Whether the answer itself, not something said on the way, holds the word on a line."""
    if not state.results or not state.results[-1].ok:
        return False
    answer = final_text(state) or ""
    return nonce in {line.strip() for line in answer.split("\n")}


def _error(state: RunState, verdict: Verdict) -> str | None:
    """What went wrong, in the words of the main agent's last result."""
    last = state.results[-1] if state.results else None
    if last is not None and last.ok:
        return None
    told = [text for text in (last.errors or ()) if text] if last else []
    told += [last.text] if last is not None and last.text else []
    told += [error.message for error in state.errors[-1:] if error.message]
    return next(iter(told), None) or verdict.sentence
