"""Tells how a run ended: its answer or its summary to stdout, the rest to stderr."""

import sys
from typing import NamedTuple, TextIO

import msgspec

from rookery import agents
from rookery.cli.screens import put
from rookery.core.completion import final_text
from rookery.core.safe import safe, safe_line
from rookery.core.state import RunState
from rookery.core.summary import summarise
from rookery.core.verdict import Verdict
from rookery.folder.runs import RunFolder, VerdictInfo

_RESUME = ' · rook run --resume {} "…"'


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is shown."""

    verbose: bool = False
    quiet: bool = False
    text: bool = True
    json: bool = False
    ask_timeout_s: float | None = None
    """How long one may take to answer what the agent asks."""


class Ended(NamedTuple):
    """A run that is over, and where it is kept, if it is."""

    verdict: Verdict | VerdictInfo
    state: RunState
    agent: str | None
    folder: RunFolder | None


def tell_result(out: TextIO, manner: Manner, ended: Ended) -> None:
    """Write what was asked for in place of the lines: one JSON object, or the answer alone."""
    verdict, state, agent, folder = ended
    if manner.json:
        summary = summarise(state, file=str(folder.path) if folder else "-", agent=agent)
        ok = verdict.status == "success" if agent is None else summary.ok
        told = msgspec.structs.replace(summary, ok=ok, status=verdict.status)
        put(out, msgspec.json.encode(told).decode())
    elif manner.quiet and agent is not None:
        put(out, safe(final_text(state) or ""))


def tell_end(manner: Manner, ended: Ended) -> None:
    """Say how it ended and what to do next."""
    verdict, state, agent, folder = ended
    exit = folder.exit() if folder else None
    if exit and (lost := exit.lost_stdout + exit.lost_stderr):
        _say(f"WARNING: the disk was full: {lost} bytes of its output were lost")
    if manner.verbose:
        errors = state.unknown.total() + state.unreadable
        _say(f"stream stats: {state.records} events, {errors} errors")
    _say(f"{verdict.status.replace('_', ' ')} · {safe_line(verdict.sentence)}")
    if verdict.status == "not_started" and agent and "was found" in verdict.sentence:
        install = agents.agent(agent).install
        _say(f"install it:  {install}   ·   or see it work without:  rook demo")
    elif folder and verdict.status != "not_started":
        _say(
            f"rook show {folder.name}"
            + (_RESUME.format(folder.name) if agent and state.session else "")
        )


def _say(words: str) -> None:
    put(sys.stderr, f"[rook] {words}")
