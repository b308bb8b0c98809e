"""The runs of a loop as its rules and its displays see them: live, over, or cut short by a crash.

A run of a loop is an ordinary run; its `run.json` names the loop and the number of the run. A crash
of rook therefore loses nothing: the run is found by that number, judged, and reported.
"""

import time
from datetime import tzinfo
from pathlib import Path

import msgspec

from nightrook.loops.limit_resets import SystemZone, from_field, from_text
from nightrook.loops.plan import Goal
from nightrook.loops.state import PendingRun, Report
from nightrook.model.answer import final_text, is_complete, signals
from nightrook.model.facts import Facts, RecorderFacts
from nightrook.model.ledger import Source
from nightrook.model.state import RunState
from nightrook.model.verdict import Verdict
from nightrook.prices import PriceBook
from nightrook.runs.crash_recovery import settle
from nightrook.store.list import runs_of
from nightrook.store.run_folder import RunFolder
from nightrook.story.story import state_of

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
    """True if the main agent's own text says that it is done."""
    if goal.until is not None and not is_complete(state, goal.until):
        return False
    if goal.signals and not signals(state, goal.signals):
        return False
    if goal.ask_done and not _answers_with(state, nonce):
        return False
    return goal.needs_answer


def _answers_with(state: RunState, nonce: str) -> bool:
    """True if the final answer has the word alone on a line."""
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
    """Return the error, in the words of the agent or its provider."""
    if _ended_well(state):
        return None
    last = state.results[-1] if state.results else None
    texts = [text for text in (last.errors or ()) if text] if last else []
    texts += [last.text] if last is not None and last.text else []
    texts += [error.message for error in state.errors[-1:] if error.message]
    return next(iter(texts), None)


class CurrentRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was started, with its cost so far."""

    run: str
    iteration: int
    started_at: float
    ended_at: float | None
    """Time at which the agent ended; its checks run then, unless the loop was killed."""

    spent_usd: float | None
    cost_source: Source


def run_folder(home: Path, loop: str, attempt: int) -> RunFolder | None:
    """The folder of a run that a loop has started; None if the loop did not get that far.

    `attempt` is the number of the run in the loop.
    """
    runs = runs_of(home, loop)
    return next((run.folder for run in runs if run.info and run.info.iteration == attempt), None)


def current_run(home: Path, loop: str, pending: PendingRun) -> CurrentRun | None:
    """Read a run that was started; None if it has no folder."""
    folder = run_folder(home, loop, pending.id)
    info = None if folder is None else folder.info()
    if folder is None or info is None:
        return None
    state, verdict = state_of(folder, info, PriceBook()), folder.verdict()
    return CurrentRun(
        run=folder.name,
        iteration=pending.iteration,
        started_at=pending.started_at,
        ended_at=None if verdict is None else verdict.ended_at,
        spent_usd=None if state is None else state.ledger.spent_usd,
        cost_source="unknown" if state is None else state.ledger.cost.source,
    )


def recovered_report(folder: RunFolder, pending: PendingRun, goal: Goal) -> Report:
    """Read the report of a run cut short by a crash: it is not run, nor paid for, again."""
    kept, info = settle(folder), folder.info()
    state = state_of(folder, info, PriceBook()) if info else None
    verdict = (
        kept.verdict
        if kept
        else Verdict.of("incomplete", Facts(recorder=RecorderFacts(recorder_died=True)))
    )
    if verdict.status == "interrupted":  # rook died, and its agent was stopped for that
        verdict = Verdict.of("incomplete", verdict.facts)
    result = report(
        state or RunState(),
        verdict,
        goal=goal,
        nonce=pending.nonce,
        run=folder.name,
        started_at=pending.started_at,
        ended_at=kept.ended_at if kept else time.time(),
        local=SystemZone(),
    )
    return msgspec.structs.replace(result, recovered=True)
