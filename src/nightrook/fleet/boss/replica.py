"""The local replica of an attempt's folder: its worker's messages, written one by one.

Only the worker that was given the job knows its claim, so only that one is believed. What it
sends can spoil this run, and no other.
"""

import hashlib
import time
from contextlib import suppress

from msgspec.structs import replace

from nightrook.fleet import subjects
from nightrook.fleet.boss.folders import FleetState, merged_info, write_state
from nightrook.fleet.boss.questions import RemoteQuestions
from nightrook.fleet.messages import BadMessageError, Claimed, Ended, load
from nightrook.fleet.mirror import Mirror, Written
from nightrook.fleet.stream_reader import JetStreamReader, StoredMessage
from nightrook.fleet.subjects import Moment, ShippedLog
from nightrook.model.errors import NightrookError
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import RunInfo

_SAVE_S = 1.0
_LONGEST_OFFSET = 16
_LONGEST_NOTE = 2000


class Replica:
    """The folder of one attempt here, while messages are written into it."""

    def __init__(
        self,
        folder: RunFolder,
        state: FleetState,
        reader: JetStreamReader,
        mirror: Mirror,
        questions: RemoteQuestions,
    ) -> None:
        self.state = state
        self.mirror = mirror
        self.ended: Ended | None = None
        """The end of the attempt, as its worker reports it."""
        self.ended_at = 0.0
        self._folder = folder
        self._reader = reader
        self._questions = questions
        self._again_after: int | None = None  # the message before the first that came too early
        self._saved_at = 0.0

    def take(self, message: StoredMessage) -> None:
        """Write one message; report one that is not from the worker of this attempt."""
        event = subjects.read_event(message.subject)
        if event is None:
            return
        try:
            if event.what in ("claimed", "ended"):
                self._take_moment(event.worker, event.what, message.data)
            elif event.worker == self.state.worker:
                self._take_more(event.what, message)
        except (BadMessageError, ValueError) as error:
            problem = f"{event.worker} sent something that cannot be read: {error}"
            self._report(problem, is_stranger=event.worker != self.state.worker)

    def save_position(self, *, now: bool = False) -> None:
        """Save how far the stream was read, unless something in it is still needed."""
        position = self._reader.position
        due = now or time.monotonic() - self._saved_at > _SAVE_S
        if due and position > self.state.seq and self._again_after is None:
            self._saved_at = time.monotonic()
            self._save(replace(self.state, seq=position))

    def note_left_out(self, *notes: str | None) -> None:
        """Record the parts of the repository that did not come back, if any."""
        note = "; ".join(filter(None, notes))[:_LONGEST_NOTE] or None
        if note != self.state.note:
            self._save(replace(self.state, note=note))

    def _take_moment(self, worker: str, what: ShippedLog | Moment, data: bytes) -> None:
        message: Claimed | Ended = load(data, Claimed if what == "claimed" else Ended)
        if not self._is_claim(message.claim):
            problem = f"{worker} says that it runs this, but was not given it"
            self._report(problem, is_stranger=worker != self.state.worker)
            return
        if self.state.worker is None:
            instance = message.instance if isinstance(message, Claimed) else None
            self._save(replace(self.state, worker=worker, instance=instance))
        if worker != self.state.worker:
            return
        if isinstance(message, Ended):
            self.ended, self.ended_at = message, time.monotonic()
        self._update_info(message.info)

    def _take_more(self, what: ShippedLog | Moment, message: StoredMessage) -> None:
        if what == "started":
            started: Claimed = load(message.data, Claimed)
            if self._is_claim(started.claim):
                self._update_info(started.info)
        elif what != "claimed" and what != "ended":
            self._take_chunk(what, message)

    def _take_chunk(self, log: ShippedLog, message: StoredMessage) -> None:
        offset = message.headers.get(subjects.OFFSET, "")
        if not offset.isdecimal() or len(offset) > _LONGEST_OFFSET:
            raise BadMessageError("a chunk without its position")
        match self.mirror.write(log, int(offset), message.data):
            case Written.BEYOND:
                before = message.seq - 1
                self._again_after = min(before, self._again_after or before)
            case Written.REFUSED:
                self._report(self.mirror.problem)
            case _ if self._again_after is not None and not self.mirror.missing:
                self._reader.rewind(self._again_after)
                self._again_after = None
        if log == "questions":
            self._questions.read()

    def _is_claim(self, claim: str) -> bool:
        # guards: job-claim
        return hashlib.sha256(claim.encode()).hexdigest() == self.state.job.claim_sha256

    def _update_info(self, there: RunInfo | None) -> None:
        with suppress(NightrookError):
            here = self._folder.info()
            if here is not None:
                merged = merged_info(here, there, worker=self.state.worker)
                self._folder.write_info(self._questions.in_info(merged))

    def _report(self, problem: str | None, *, is_stranger: bool = False) -> None:
        """Record the first problem; one caused by a stranger does not spoil the run."""
        if is_stranger and self.state.stranger is None:  # guards: stranger-harmless
            self._save(replace(self.state, stranger=problem))
        elif not is_stranger and problem is not None and self.state.problem is None:
            self._save(replace(self.state, problem=problem))

    def _save(self, state: FleetState) -> None:
        self.state = state
        write_state(self._folder, state)
