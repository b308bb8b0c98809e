"""Tells how a run ended: its answer or its summary to stdout, the rest to stderr."""

import os
import sys
import time
from typing import Any, NamedTuple, TextIO

import msgspec

from rookery import agents
from rookery.cli.demo_player import is_played
from rookery.cli.live.output import put
from rookery.cli.options.view_options import Manner
from rookery.display.console.look import Look, columns, look_of
from rookery.display.console.markdown import markdown
from rookery.display.ending import End, summary
from rookery.display.words import is_told_whole
from rookery.model.completion import final_text
from rookery.model.safe import safe
from rookery.model.state import RunState
from rookery.model.verdict import Verdict
from rookery.runs.summary import summarise
from rookery.store.runs import RunFolder, VerdictInfo

_WIDEST_ANSWER = 100


class Ended(NamedTuple):
    """A run that is over, and where it is kept, if it is."""

    verdict: Verdict | VerdictInfo
    state: RunState
    agent: str | None
    folder: RunFolder | None
    trouble: str | None = None
    """What of its end could not be kept, and why."""

    called: str | None = None
    """What the user calls the agent, where no folder tells it."""


def tell_result(out: TextIO, manner: Manner, ended: Ended) -> None:
    """Write what was asked for: one JSON object, the answer alone, or what no line told of it."""
    verdict, state, agent, folder, *_ = ended
    if manner.json:
        summary = summarise(state, file=str(folder.path) if folder else "-", agent=agent)
        ok = verdict.status == "success" if agent is None else summary.ok
        told = msgspec.structs.replace(summary, ok=ok, status=verdict.status)
        put(out, msgspec.json.encode({**msgspec.structs.asdict(told), **_beside(ended)}).decode())
    elif agent is not None and manner.form == "text":
        _tell_answer(out, manner, final_text(state) or "")


def _beside(ended: Ended) -> dict[str, Any]:
    """What is known of a run beside what its stream tells."""
    end = _end(ended)
    return {
        "run": end.run,
        "session": ended.state.session,
        "steps": ended.state.steps,
        "exit_code": ended.verdict.exit_code,
        "sentence": end.sentence,
        "duration_s": end.seconds,
        "resets_in_s": end.resets_in_s,
    }


def _tell_answer(out: TextIO, manner: Manner, answer: str) -> None:
    look = look_of(out, os.environ)
    if not answer:
        return
    if manner.quiet:
        put(out, _laid_out(out, look, answer) if look.terminal else safe(answer))
    elif look.terminal and manner.text and not is_told_whole(answer):
        put(out, f"\n{_laid_out(out, look, answer)}\n")


def _laid_out(out: TextIO, look: Look, answer: str) -> str:
    return markdown(answer, width=min(columns(out), _WIDEST_ANSWER), colour=look.colour)


def tell_end(manner: Manner, ended: Ended) -> None:
    """Say how it ended, what it did and what to do next."""
    state, folder = ended.state, ended.folder
    exit = folder.exit() if folder else None
    if exit and (lost := exit.lost_stdout + exit.lost_stderr):
        _say(f"WARNING: the disk was full: {lost} bytes of its output were lost")
    if ended.trouble:
        _say(f"WARNING: how it ended could not be kept: {ended.trouble}")
    if manner.verbose:
        errors = state.unknown.total() + state.unreadable
        _say(f"stream stats: {state.records} events, {errors} errors")
    for line in summary(_end(ended), state, look_of(sys.stderr, os.environ).paint()):
        put(sys.stderr, line)


def _end(ended: Ended) -> End:
    verdict, state, agent, folder, *_ = ended
    info, exit = (folder.info(), folder.exit()) if folder else (None, None)
    unstarted_pipe = verdict.status == "not_started" and info is not None and info.piped
    missing = verdict.status == "not_started" and "was found" in verdict.sentence
    resets_at = verdict.facts.resets_at if isinstance(verdict, Verdict) else None
    called = info.called if info else ended.called
    played = info is not None and is_played(info.program)
    others = [name for name in agents.NAMES if name != agent]
    return End(
        run=folder.name if folder and not unstarted_pipe else None,
        status=verdict.status,
        sentence=verdict.sentence,
        seconds=exit.ended_at - info.started_at if exit and info else None,
        resets_in_s=None if resets_at is None else resets_at - time.time(),
        resumable=state.session is not None and not played and can_resume(agent),
        install=agents.agent(agent).install if agent and missing and not called else None,
        missing=called if missing else None,
        other_agent=others[0] if others else None,
        lost=bool(exit and (exit.lost_stdout or exit.lost_stderr)),
    )


def can_resume(agent: str | None) -> bool:
    """Whether an agent can go on with a session of its own."""
    return agent is not None and agents.agent(agent).capabilities.resume != "no"


def _say(words: str) -> None:
    put(sys.stderr, f"[rook] {words}")
