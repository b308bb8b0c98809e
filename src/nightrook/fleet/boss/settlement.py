"""Settles the ending of an attempt: judged here, recorded once on the server.

The first settlement of an attempt is stored only if its subject is empty. `lost` is what the boss
assumes when a worker is silent; it may be replaced once, by what really happened: that one is
stored only if the last message on the subject is the lost one. So each attempt has exactly one
final settlement, however many bosses follow it and however often they are killed.
"""

import time

from nightrook.fleet import subjects
from nightrook.fleet.boss.budgets import Budgets
from nightrook.fleet.connection import ConflictError, Connection, ServerAwayError
from nightrook.fleet.messages import Ended, Job, Settlement, dump, load
from nightrook.model.facts import Facts, PersonFacts, ProcessFacts, RecorderFacts
from nightrook.model.state import RunState
from nightrook.model.verdict import Verdict, judge
from nightrook.prices import PriceBook
from nightrook.runs.finish import verdict_info
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import ExitInfo, VerdictInfo
from nightrook.story.story import state_of

_LOST = "lost"


async def stored_settlement(connection: Connection, job: Job) -> tuple[Settlement, int] | None:
    """The settlement of an attempt and its number; None if there is none yet."""
    subject = subjects.settle(job.run, job.attempt)
    what = f"how {job.run} was settled"
    message = await connection.last_message(subjects.RUNS, subject, what=what)
    return None if message is None else (load(message.data or b"", Settlement), message.seq or 0)


async def settle(connection: Connection, job: Job, settlement: Settlement) -> Settlement:
    """Settle an attempt, and its share of a budget; return the settlement that counts."""
    counts = await _stored_once(connection, job, settlement)
    if job.budget is not None:
        await Budgets(connection).settle(
            job.budget, job.id, counts.spent_usd or 0.0, at_least=counts.status == "lost"
        )
    return counts


async def _stored_once(connection: Connection, job: Job, settlement: Settlement) -> Settlement:
    subject, data = subjects.settle(job.run, job.attempt), dump(settlement)
    expected = 0
    while True:
        try:
            await connection.publish(subject, data, expected=expected)
            return settlement
        except ConflictError:
            found = await stored_settlement(connection, job)
        if found is None or found[1] == expected:
            raise ServerAwayError(f"{job.run} cannot be settled now")
        stored, expected = found
        if stored.status != "lost" or settlement.status == "lost":  # guards: lost-replaced-once
            return stored


def save_ended(folder: RunFolder, ended: Ended, *, problem: str | None) -> VerdictInfo:
    """Save how a run ended as its worker reports it, and return its verdict, not saved yet."""
    if ended.end != "ran" or ended.exit is None or ended.verdict is None:
        return judge_refused(ended.reason or "its worker could not start it")
    folder.write_exit(ended.exit)
    how = problem or folder.changed_size(ended.exit.log_sizes)
    return ended.verdict if how is None else ended.verdict.with_tampered_logs(how)


def judge_lost(folder: RunFolder, what: str) -> VerdictInfo:
    """Judge a run whose worker is silent by the bytes that came; its cost is a lower bound."""
    info = folder.info()
    last = max((arrival.at for arrival in folder.arrivals()), default=time.time())
    exit = ExitInfo(
        started=True,
        stopped_for=_LOST,
        started_at=info.started_at if info else None,
        ended_at=last,
        lost_stdout=None,
        lost_stderr=None,
    )
    state = (state_of(folder, info, PriceBook()) if info else None) or RunState()
    facts = Facts(
        process=ProcessFacts(agent=info.label if info else None),
        recorder=RecorderFacts(lost_worker=what),
    )
    return verdict_info(judge(state, facts), state, exit)


def judge_unstarted(folder: RunFolder, by: str | None) -> VerdictInfo:
    """The verdict on a run that was stopped before a worker took it."""
    info = folder.info()
    facts = Facts(
        process=ProcessFacts(agent=info.label if info else None, started=False),
        person=PersonFacts(stopped_for="interrupted", stopped_by=by),
    )
    return _free(Verdict.of("not_started", facts))


def judge_refused(reason: str) -> VerdictInfo:
    """The verdict on a run that was not started for this reason."""
    facts = Facts(process=ProcessFacts(started=False, complaint=reason))
    return _free(Verdict.of("not_started", facts))


def _free(verdict: Verdict) -> VerdictInfo:
    """The verdict on a run that spent nothing."""
    return VerdictInfo(
        status=verdict.status,
        sentence=verdict.sentence,
        exit_code=verdict.exit_code,
        ended_at=time.time(),
        spent_usd=0.0,
        cost_source="native",
        saved_facts=verdict.facts.flat(),
    )
