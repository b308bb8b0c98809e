"""One value for the end of something: a run, a session, a loop, a batch, a job of a fleet.

A run's end is known in pieces: its verdict is judged from its stream and its process, the recorder
writes when the process ended, and `run.json` says when it began. An `Ending` joins them. Lists,
reports, pages and last lines read it and compute nothing about an end themselves.
"""

from typing import Generic, TypeVar

import msgspec

from nightrook.model.durations import elapsed_s
from nightrook.model.facts import NOTHING_KNOWN, Facts
from nightrook.model.state import RunState
from nightrook.model.status import (
    BATCH_EXIT_CODES,
    LOOP_EXIT_CODES,
    BatchEnd,
    LoopEnd,
    Outcome,
    SessionEnd,
)
from nightrook.model.text import count
from nightrook.model.verdict import Verdict

_Status = TypeVar("_Status", bound=str, covariant=True)


class Ending(msgspec.Struct, Generic[_Status], frozen=True, kw_only=True):
    """The status of something that is over, the exit code, a sentence, and the duration."""

    status: _Status
    ok: bool
    exit_code: int | None = None
    """The exit code of the `rook` command; None for a stored session."""

    sentence: str = ""
    ended_at: float | None = None
    duration_s: float | None = None
    facts: Facts = NOTHING_KNOWN
    """The facts that decided it; only runs have them."""

    @staticmethod
    def of_run(
        verdict: Verdict, *, started_at: float | None = None, ended_at: float | None = None
    ) -> "Ending[Outcome]":
        """Return the end of a run, or of a job of a fleet, that was judged."""
        return Ending(
            status=verdict.status,
            ok=verdict.status == "success",
            exit_code=verdict.exit_code,
            sentence=verdict.sentence,
            ended_at=ended_at,
            duration_s=elapsed_s(started_at, ended_at),
            facts=verdict.facts,
        )

    @staticmethod
    def of_loop(
        end: LoopEnd, reason: str, *, ended_at: float | None = None, duration_s: float
    ) -> "Ending[LoopEnd]":
        """Return the end of a loop; the duration excludes pauses between its processes."""
        return Ending(
            status=end,
            ok=end == "done",
            exit_code=LOOP_EXIT_CODES[end],
            sentence=reason,
            ended_at=ended_at,
            duration_s=duration_s,
        )

    @staticmethod
    def of_batch(
        end: BatchEnd, *, done: int, failed: int, planned: int, duration_s: float | None = None
    ) -> "Ending[BatchEnd]":
        """Return the end of a batch of `planned` tasks."""
        return Ending(
            status=end,
            ok=end == "success",
            exit_code=BATCH_EXIT_CODES.get(end),
            sentence=f"{done} of {count(planned, 'task')} done, {failed} failed",
            duration_s=duration_s,
        )

    @staticmethod
    def of_session(
        state: RunState, *, started_at: float | None = None, ended_at: float | None = None
    ) -> "Ending[SessionEnd]":
        """Return the end of a stored session: that of its last turn."""
        last = state.turns[-1].result if state.turns else None
        status: SessionEnd = "unfinished" if last is None else "answered" if last.ok else "failed"
        return Ending(
            status=status,
            ok=status != "failed",
            ended_at=ended_at,
            duration_s=elapsed_s(started_at, ended_at),
        )
