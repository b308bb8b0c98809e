"""Supervises a run: feeds what its recorder wrote, enforces its limits, answers, stops it."""

import asyncio
from contextlib import suppress

from nightrook.adapter.agent import Agent
from nightrook.config.options import RunOptions
from nightrook.model.errors import NightrookError, UnsafeRunError
from nightrook.model.events import Unreadable
from nightrook.model.facts import Facts, PersonFacts, ProcessFacts, RecorderFacts, StopReason
from nightrook.model.records import Record
from nightrook.model.stuck_detection import WAITS_FOR_LOGIN, Suspicion
from nightrook.process.recorder_process import RecorderProcess
from nightrook.runs.dialogue import Dialogue
from nightrook.runs.limits import (
    RunLimits,
    has_results,
    needs_known_cost,
    wants_no_more,
)
from nightrook.runs.watchdog import Silence, Watchdog
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import ExitInfo
from nightrook.story.feed import Feed
from nightrook.story.follow import LogFollower
from nightrook.story.tail import Piece

_LATE_S = 1.0  # how long after its deadline a recorder is reminded of it

INTERRUPT_S = 2.0
"""An agent that can be interrupted by a message gets a signal after this long."""


class Supervisor:
    """Follows one run, from the start of its recorder to its end."""

    def __init__(
        self,
        feed: Feed,
        recorder: RecorderProcess,
        folder: RunFolder,
        options: RunOptions,
        *,
        silence: Silence,
        dialogue: Dialogue | None = None,
        agent: Agent | None = None,
    ) -> None:
        self.stop_reason: StopReason | None = None
        """Reason why the agent was asked to stop."""
        self._stopped_by: str | None = None
        self._suspicion: Suspicion | None = None
        self._silence = silence
        self._feed = feed
        self._recorder = recorder
        self._folder = folder
        self._options = options
        self._limits = RunLimits(options)
        self._dialogue = dialogue
        self._login_prompt = agent.login_prompt if agent else None
        self._needs_cost = needs_known_cost(agent, options)
        idle_s = options.idle_timeout
        self._watchdog = None if idle_s is None else Watchdog(str(folder.path), idle_s)
        self._synced_results = 0  # the logs are on disk up to this result
        self._logs = LogFollower(folder, {"stdout": self._take, "stderr": self._take_errors})
        self._is_read = False  # to the end of both logs
        self._refused: str | None = None

    async def follow(self) -> None:
        """Read, fold and decide until the recorder has ended and everything is read."""
        self._silence.end()
        timer = self._start_timer()
        try:
            if self._options.max_cost is not None:  # a limit must not wait for what it costs
                # guards: prices-loaded-first
                await asyncio.to_thread(self._feed.load_prices)
            await self._logs.listen(self._recorder, self._tick)
            self._logs.limit(self._sizes())
            while self._logs.read():
                await asyncio.sleep(0)
            self._is_read = True
        except UnsafeRunError as error:  # something else is in a log's place
            self._refused = str(error)
        finally:
            self._logs.close()
            if timer is not None:
                timer.cancel()
            if self._dialogue is not None:
                await self._dialogue.close()
            await asyncio.to_thread(self._recorder.close)
        self._act_on(self._feed.close())

    def _start_timer(self) -> asyncio.TimerHandle | None:
        """Stop an agent that can be interrupted at the time limit; its recorder stops any other.

        A recorder that did not, since it is stopped, is woken and told.
        """
        timeout_s = self._options.timeout
        if timeout_s is None:
            return None
        later = asyncio.get_running_loop().call_later
        if self._dialogue is None:
            # guards: runner-keeps-time
            return later(timeout_s + _LATE_S, self._recorder.stop, "timed_out")
        return later(timeout_s, self._time_out)

    def _time_out(self) -> None:
        if self.stop_reason is None:
            self.stop("timed_out")

    @property
    def agent_started(self) -> bool:
        """True if the recorder got as far as starting the agent."""
        return self._recorder.has_started

    def _sizes(self) -> dict[str, int]:
        """Return the bytes the recorder wrote to each log; empty if it died."""
        with suppress(NightrookError):
            exit = self._folder.exit()
            return exit.log_sizes if exit else {}
        return {}

    def _tampering(self, exit: ExitInfo) -> str | None:
        """Return how what was read differs from what the recorder wrote; None if it does not."""
        if self._is_read and (how := self._logs.changed(exit)) is not None:
            return how
        return self._refused

    def facts(self, exit: ExitInfo, agent: str | None) -> Facts:
        """Return the facts on the end of the run; `agent` is its name in sentences."""
        timed_out = "timed_out" in (exit.stopped_for, self.stop_reason)
        passed = self._limits.passed(
            self._feed.state,
            timed_out=timed_out,
            needs_cost=self._needs_cost and self.stop_reason == "over_budget",
        )
        return Facts(
            process=ProcessFacts(agent=agent),
            person=PersonFacts(
                stopped_for=self.stop_reason,
                stopped_by=self._stopped_by,
                passed_limit=passed,
                suspicion=self._suspicion,
                allow_denials=self._options.allow_denials,
            ),
            recorder=RecorderFacts(
                tampered=self._tampering(exit), recorder_stopped=self._recorder.was_stopped
            ),
        )

    def stop(
        self, why: StopReason, *, by: str | None = None, suspicion: Suspicion | None = None
    ) -> None:
        """Ask the agent to end; if it does not, its recorder ends it. A second call kills it."""
        if self.stop_reason is not None:
            self.kill()
            return
        self.stop_reason, self._stopped_by = why, by
        self._suspicion = suspicion
        if self._dialogue is None:
            self._recorder.stop(why)
        else:  # a message can interrupt it; a signal follows if that does not help
            self._dialogue.interrupt()
            asyncio.get_running_loop().call_later(INTERRUPT_S, self._recorder.stop, why)

    def kill(self) -> None:
        """End the agent's whole process tree at once."""
        self.stop_reason = self.stop_reason or "interrupted"
        self._recorder.kill(self.stop_reason)

    def _take(self, pieces: list[Piece]) -> None:
        self._silence.end()
        if self._dialogue is not None:
            for data, _ in pieces:
                self._dialogue.hear(data)
        self._act_on(self._feed.take(pieces))
        self._decide()

    def _take_errors(self, _: list[Piece]) -> None:
        """Count output on stderr as a sign of life."""
        self._silence.end()
        self._feed.ring()

    def _tick(self) -> None:
        self._recorder.keep_running()  # guards: recorder-kept-running
        if self._recorder.is_unresponsive:  # guards: unresponsive-recorder
            self._recorder.abandon()
        self._silence.look()
        self._decide()

    def _act_on(self, records: list[Record]) -> None:
        """Sync the logs at a result, and answer the agent's requests."""
        results = len(self._feed.state.results)
        if results > self._synced_results:
            self._synced_results = results
            self._recorder.sync()  # guards: result-synced
        if self._dialogue is not None:
            for record in records if self.stop_reason is None else ():
                self._dialogue.take(record, self._feed.answered)
        if self._login_prompt is not None and self.stop_reason is None:
            self._stop_at_login(records, self._login_prompt)

    def _stop_at_login(self, records: list[Record], prompt: str) -> None:
        """Stop an agent that waits for a login, which would take for ever."""
        lines = [r.event.preview or "" for r in records if isinstance(r.event, Unreadable)]
        asked = next((line for line in lines if line.startswith(prompt)), None)
        if asked is not None:
            self.stop("stuck", suspicion=Suspicion(WAITS_FOR_LOGIN, (asked,)))

    def _decide(self) -> None:
        """Stop the run if a limit was passed, it has finished, or it is stuck."""
        state = self._feed.state
        if self._dialogue is not None and self._dialogue.waits:
            self._silence.end()  # it waits for a person
        silent_s = self._silence.seconds
        if self._dialogue is not None and (
            wants_no_more(state, self._options, silent_s=silent_s)
            or (self.stop_reason is not None and has_results(state))
        ):
            self._dialogue.end()
        if self.stop_reason is None:
            suspicion = None
            why = self._limits.reason_to_stop(state, silent_s=silent_s, needs_cost=self._needs_cost)
            if why is None and self._watchdog is not None and self._watchdog.is_due(silent_s):
                suspicion = self._watchdog.look(
                    self._feed.snapshot(), silent_s=silent_s, count=self._feed.count
                )
                why = "stuck" if suspicion else None
            if why is not None:
                self.stop(why, suspicion=suspicion)
