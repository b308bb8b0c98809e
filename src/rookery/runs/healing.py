"""Gives a run its end if those who should have told it are dead."""

from collections.abc import Callable

import msgspec

from rookery import agents
from rookery.adapter.agent import Agent
from rookery.feed.decode import decode
from rookery.model.completion import final_text, response_in
from rookery.model.errors import RookeryError, UndetectedAgentError, UnknownAgentError
from rookery.model.fold import fold
from rookery.model.price import Prices, no_prices
from rookery.model.state import RunState
from rookery.model.verdict import EXIT_CODES, Verdict, judge
from rookery.runs.finish import ending_of, judge_raw, verdict_info
from rookery.store.output import last_output, write_output
from rookery.store.runs import ExitInfo, RunFolder, RunInfo, at_work, beginning_of

_DIED = "its recorder or its runner died"


def heal(
    folder: RunFolder,
    *,
    alive: Callable[[int, int | None], bool],
    now: float,
    prices: Prices = no_prices,
) -> bool:
    """Judge a run that nobody saw end by what its log tells; tell whether that was needed.

    What is there is never changed, so it can be tried at any time, and by several at once. A folder
    that cannot be read or written is left as it is.
    """
    try:
        info = folder.info()
        if info is None or folder.verdict() is not None or at_work(info, alive):
            return False
        return _end(folder, info, now, prices)
    except RookeryError:
        return False


def _end(folder: RunFolder, info: RunInfo, now: float, prices: Prices) -> bool:
    """Keep how a run ended; if nobody told, its last sign of life is its end."""
    last = min(now, max((arrival.at for arrival in folder.arrivals()), default=now))
    lost = ExitInfo(
        started=True,
        stopped_for="lost",
        started_at=info.started_at,
        ended_at=last,
        complaint="its recorder died",
    )
    folder.release()
    told = folder.exit() or lost
    state = state_of(folder, info, prices)
    verdict = _judge(told, state, _agent(info))
    folder.add_exit(lost)
    write_output(folder, _answer(folder, state))
    kept = verdict_info(verdict, state or RunState(), ended_at=told.ended_at)
    return folder.add_verdict(kept)


def state_of(folder: RunFolder, info: RunInfo, prices: Prices) -> RunState | None:
    """What the log tells; None if it is not an agent's stream that we can read."""
    if info.agent is None and not info.piped:
        return None
    try:
        records = decode(folder.chunks("stdout"), info.agent)
        return fold(records, prices, beginning_of(info))
    except (UndetectedAgentError, UnknownAgentError):
        return None


def _agent(info: RunInfo) -> Agent | None:
    try:
        return agents.agent(info.agent) if info.agent else None
    except UnknownAgentError:
        return None


def _judge(told: ExitInfo, state: RunState | None, agent: Agent | None) -> Verdict:
    """Judge by the table; where it finds no result, the reason is that somebody died."""
    if told.stopped_for not in ("lost", "runner_gone"):
        ending = ending_of(told, agent)
        return judge_raw(ending) if state is None else judge(state, ending)
    if state is not None and state.results:
        verdict = judge(state, ending_of(msgspec.structs.replace(told, stopped_for=None), agent))
        if verdict.status != "incomplete":
            return verdict
        sentence = f"{_DIED}: {verdict.sentence}"
        return msgspec.structs.replace(verdict, sentence=sentence)
    return Verdict(status="incomplete", sentence=_DIED, exit_code=EXIT_CODES["incomplete"])


def _answer(folder: RunFolder, state: RunState | None) -> str | None:
    """What to keep as the answer, as of a run that was seen to its end."""
    return final_text(state) if state is not None else response_in(last_output(folder))
