"""The one end of a run: judge it, save its answer, save its verdict."""

import re
from contextlib import suppress
from itertools import islice
from typing import get_args

from msgspec.structs import replace

from nightrook.adapter.agent import Agent
from nightrook.model.answer import final_text
from nightrook.model.errors import (
    NightrookError,
    RunFolderError,
    UndetectedAgentError,
    UnknownAgentError,
)
from nightrook.model.facts import (
    NOTHING_KNOWN,
    OWN_LIMITS,
    Facts,
    PassedLimit,
    ProcessFacts,
    StopReason,
)
from nightrook.model.fold import fold
from nightrook.model.safe import without_sequences
from nightrook.model.state import RunState
from nightrook.model.verdict import Verdict, judge
from nightrook.store.decisions import denied, denied_by_person
from nightrook.store.file_names import RECORDER_LOG
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import ExitInfo, VerdictInfo
from nightrook.story.decode import decode_pieces
from nightrook.story.final_answer import run_answer
from nightrook.story.tail import last_bytes, pieces

_MOST_STDERR = 1024 * 1024  # bytes, in which refusals are looked for
_MOST_REFUSALS = 100
_MOST_FILES = 200  # of those saved with the verdict, for which there is room on a full disk
_RECORDER_DIED = ("lost", "runner_gone")
_DIED = "its recorder died"
_REASONS: dict[str | None, StopReason] = {
    **{reason: reason for reason in get_args(StopReason)},
    "stopped": "interrupted",
}


def finish(
    folder: RunFolder | None,
    exit: ExitInfo,
    state: RunState | None,
    known: Facts = NOTHING_KNOWN,
    *,
    agent: Agent | None = None,
    overwrite: bool = True,
) -> Verdict:
    """Judge a run and save how it ended; `facts.recorder.unsaved` says why that could not be saved.

    `known` is what the caller knows beside the recorded exit. Without a state the program is a
    command that no adapter knows. With `overwrite` false, a verdict that is there stays.
    """
    facts = _with_decisions(_with_exit(known, exit, agent), folder)
    facts = _with_errors(facts, folder, agent)
    if folder is not None and facts.recorder.tampered is None:
        recorder = replace(facts.recorder, tampered=_changed_size(folder, exit))
        facts = replace(facts, recorder=recorder)
    verdict = judge(state, facts)
    if folder is None:
        return verdict
    folder.release()  # guards: verdict-space-freed
    info = verdict_info(verdict, state or RunState(), exit)
    try:
        try:
            # guards: changed-answer-unsaved
            if facts.recorder.tampered is None:  # else the answer may be anybody's
                folder.write_output(run_answer(folder.path, state))
        finally:  # a full disk may have no room for the answer, but for the verdict
            saved = folder.write_verdict(info, overwrite=overwrite)
    except RunFolderError as error:
        return _unsaved(verdict, str(error))
    return verdict if saved else _unsaved(verdict, "another process has judged the run")


def recorded_exit(
    folder: RunFolder, *, now: float, started: bool = True, overwrite: bool = True
) -> ExitInfo:
    """Read how the process ended; if its recorder died, the last sign of life is the end.

    `started` is false if that recorder died before it could start the agent. With `overwrite`
    false, an exit.json that cannot be read is an error.
    """
    try:
        exit = folder.exit()
    except RunFolderError:
        if not overwrite:
            raise
        exit = None
    if exit is not None:
        return exit
    lost = _lost(folder, now, started=started)
    try:
        folder.write_exit(lost, overwrite=overwrite)
    except RunFolderError:
        if not overwrite:
            raise
    return lost  # the verdict includes it, too


def write_output_from_stream(folder: RunFolder) -> bool:
    """Save the answer that the agent's output holds; False as for `write_output`."""
    if folder.has_output:
        return False
    info = folder.info()
    agent = info.agent if info else None
    try:
        state = fold(decode_pieces(pieces(folder.path), agent, folder.name))
    except (UndetectedAgentError, UnknownAgentError):
        return False
    return folder.write_output(final_text(state))


def _with_exit(known: Facts, exit: ExitInfo, agent: Agent | None) -> Facts:
    """Add the recorder's facts to those of the caller."""
    code, died = exit.exit_code, exit.stopped_for in _RECORDER_DIED
    recorded, person = _REASONS.get(exit.stopped_for), known.person
    own = OWN_LIMITS.get(agent.limit_codes.get(code)) if agent and code is not None else None
    stopped_by_others = exit.stopped_for == "stopped" and person.stopped_for is None
    return Facts(
        process=ProcessFacts(
            agent=known.process.agent or (agent.name if agent else None),
            started=exit.started,
            complaint=None if exit.complaint == _DIED else exit.complaint,
            missing_program=exit.missing_program,
            agent_exit_code=code,
            signal=exit.signal,
            left_behind=tuple(exit.left_behind),
        ),
        stream=known.stream,
        person=replace(
            person,
            stopped_for=recorded if recorded == "timed_out" else person.stopped_for or recorded,
            stopped_by="rook stop" if stopped_by_others else person.stopped_by,
            passed_limit=person.passed_limit
            or (PassedLimit(kind=own, by="agent") if own else None),
        ),
        recorder=replace(
            known.recorder,
            recorder_died=died,  # guards: dead-recorder
            lost_bytes=_sum(exit.lost_stdout, exit.lost_stderr),
            log_limit=exit.log_limit,
        ),
    )


def _changed_size(folder: RunFolder, exit: ExitInfo) -> str | None:
    with suppress(NightrookError):  # a folder that is gone is reported when the verdict is saved
        return folder.changed_size(exit.log_sizes)
    return None


def _sum(*counts: int | None) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None  # guards: lost-is-unknown


def _with_decisions(known: Facts, folder: RunFolder | None) -> Facts:
    """Add which calls were denied, and which of them by a person."""
    with suppress(NightrookError):  # a folder that is gone is reported when the verdict is saved
        if folder is not None:
            by_person, refused = sorted(denied_by_person(folder)), sorted(denied(folder))
            person = replace(
                known.person, denied_by_person=tuple(by_person), refused=tuple(refused)
            )
            return replace(known, person=person)
    return known


def _with_errors(known: Facts, folder: RunFolder | None, agent: Agent | None) -> Facts:
    """Add the refusals and failures that an agent reports only on stderr."""
    if folder is None or agent is None or (agent.refusals or agent.failures) is None:
        return known
    text = ""
    with suppress(NightrookError):
        text = last_bytes(folder.path, "stderr", _MOST_STDERR).decode("utf-8", "replace")
    lines = without_sequences(text).split("\n")  # guards: stderr-uncoloured
    reasons = _matches(agent.refusals, lines)[:_MOST_REFUSALS]
    stream = replace(
        known.stream,
        refusals=reasons,
        refusal_fix=_fix(agent, reasons),
        ended_by_refusal=bool(reasons) and agent.refusal_ends,
        failure=next(reversed(_matches(agent.failures, lines)), None),
    )
    return replace(known, stream=stream)


def _fix(agent: Agent, reasons: tuple[str, ...]) -> str | None:
    """Return the option that would allow the first call for which there is one."""
    fixes = agent.refusal_fixes.items()
    found = (fix for reason in reasons for start, fix in fixes if reason.startswith(start))
    return next(found, None)


def _matches(pattern: re.Pattern[str] | None, lines: list[str]) -> tuple[str, ...]:
    """Return the matches of a pattern's first group in the lines."""
    found = map(pattern.search, lines) if pattern else ()
    return tuple(match[1] for match in found if match)


def _unsaved(verdict: Verdict, why: str) -> Verdict:
    recorder = replace(verdict.facts.recorder, unsaved=why)
    return replace(verdict, facts=replace(verdict.facts, recorder=recorder))


def verdict_info(verdict: Verdict, state: RunState, exit: ExitInfo) -> VerdictInfo:
    """The verdict as it is saved, with when the run ended and what it cost."""
    cost = state.ledger.cost
    native = state.ledger.native_usd
    return VerdictInfo(
        status=verdict.status,
        sentence=verdict.sentence,
        exit_code=verdict.exit_code,
        ended_at=exit.ended_at,
        cost_usd=cost.usd if native is None else native,
        spent_usd=state.ledger.spent_usd,
        cost_source=cost.source if native is None else "native",
        cost_at_least=cost.at_least or verdict.status == "lost",
        turns=len(state.turns),
        session=state.session,
        model=state.model,
        total=state.ledger.total,
        total_usd=state.ledger.total_usd,
        tokens=state.token_counts,
        files=list(islice(state.files, _MOST_FILES)),
        log_sizes=exit.log_sizes,
        saved_facts=verdict.facts.flat(),
    )


def _lost(folder: RunFolder, now: float, *, started: bool) -> ExitInfo:
    info, last = None, now
    with suppress(RunFolderError):
        info = folder.info()
        last = min(now, max((arrival.at for arrival in folder.arrivals()), default=now))
    return ExitInfo(
        started=started,
        stopped_for="lost",
        started_at=info.started_at if info else None,
        ended_at=last,
        complaint=_last_error(folder) or _DIED,
        lost_stdout=None,
        lost_stderr=None,
    )


def _last_error(folder: RunFolder) -> str | None:
    """The last line that the recorder wrote about itself; None if it wrote nothing."""
    with suppress(RunFolderError), folder.opened() as files:
        lines = (files.read(RECORDER_LOG) or b"").decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), None)
    return None
