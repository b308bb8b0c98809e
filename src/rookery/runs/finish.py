"""From how a process ended to the verdict that is kept."""

from typing import get_args

from rookery.adapter.agent import Agent
from rookery.feed.decode import decode
from rookery.model.completion import final_text
from rookery.model.errors import UndetectedAgentError, UnknownAgentError
from rookery.model.events import SessionStarted
from rookery.model.fold import fold
from rookery.model.records import Record
from rookery.model.state import RunState
from rookery.model.verdict import Ending, StopReason, Verdict, judge
from rookery.store.output import has_output, write_output
from rookery.store.runs import ExitInfo, RunFolder, VerdictInfo

_REASONS: dict[str | None, StopReason] = {
    **{reason: reason for reason in get_args(StopReason)},
    "stopped": "interrupted",
    "runner_gone": "interrupted",
}


def ending_of(exit: ExitInfo, agent: Agent | None, stopped_for: StopReason | None = None) -> Ending:
    """How a process ended, from what its recorder wrote and why we stopped it, if we know more."""
    code = exit.exit_code
    told = _REASONS.get(exit.stopped_for)
    return Ending(
        started=exit.started,
        exit_code=code,
        signal=exit.signal,
        limit=agent.limit_codes.get(code) if agent is not None and code is not None else None,
        stopped_for=told if told == "timed_out" else stopped_for or told,
        complaint=exit.complaint,
    )


def judge_raw(ending: Ending) -> Verdict:
    """Judge a command that no adapter knows: by how it ended, and by its exit code."""
    # That it was started is all it need have said: a silent command can be stopped, too.
    started = Record(seq=0, at=None, offset=0, length=0, event=SessionStarted())
    state = fold([started] if ending.started else [])
    if not ending.started or ending.stopped_for not in (None, "finished"):
        return judge(state, ending)
    if ending.signal is not None:
        return Verdict(
            status="incomplete", sentence=f"it was killed by signal {ending.signal}", exit_code=3
        )
    if ending.exit_code:
        return Verdict(status="failed", sentence=f"it exited with {ending.exit_code}", exit_code=1)
    return Verdict(status="success", sentence="done", exit_code=0)


def verdict_info(verdict: Verdict, state: RunState, *, ended_at: float) -> VerdictInfo:
    """The verdict as it is kept, with when the run ended and what it cost."""
    cost = state.ledger.cost
    native = state.ledger.native_usd
    return VerdictInfo(
        status=verdict.status,
        sentence=verdict.sentence,
        exit_code=verdict.exit_code,
        ended_at=ended_at,
        cost_usd=cost.usd if native is None else native,
        spent_usd=state.ledger.spent_usd,
        cost_source=cost.source if native is None else "native",
        turns=len(state.turns),
        session=state.session,
        model=state.model,
        total=state.ledger.total,
    )


def write_output_from_stream(folder: RunFolder) -> bool:
    """Keep the answer that stands in what the agent wrote; False as for `write_output`."""
    if has_output(folder):
        return False
    info = folder.info()
    agent = info.agent if info else None
    try:
        state = fold(decode(folder.chunks("stdout"), agent))
    except (UndetectedAgentError, UnknownAgentError):
        return False
    return write_output(folder, final_text(state))
