"""One run of an agent, for its user: start it, read it, stop it, and get its verdict."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from nightrook.adapter.agent import Agent, Invocation
from nightrook.config.options import RunOptions
from nightrook.model.errors import RunFolderError
from nightrook.model.facts import StopReason, StreamFacts
from nightrook.model.records import Record
from nightrook.model.stuck_detection import Suspicion
from nightrook.model.verdict import Verdict
from nightrook.process.liveness import start_ticks
from nightrook.runs.agent_session_log import answer_broke_off, session_model
from nightrook.runs.asking.others import OtherProcesses
from nightrook.runs.asking.peers import Recorder
from nightrook.runs.dialogue import Dialogue, OnPermission
from nightrook.runs.finish import finish, recorded_exit
from nightrook.runs.launch import make_folder, start_recorder
from nightrook.runs.run_result import RunResult
from nightrook.runs.standard_input import PipedInput
from nightrook.runs.supervisor import INTERRUPT_S, Supervisor
from nightrook.runs.watchdog import Silence
from nightrook.store.logs import Stream
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import RunInfo, beginning_of
from nightrook.story.feed import Feed, LiveRecords
from nightrook.story.story import Story
from nightrook.story.tail import Tail, pieces

if TYPE_CHECKING:  # few runs are resumed or have a worktree
    from nightrook.runs.git.worktrees import Worktree
    from nightrook.runs.resume import EarlierRun


class Stats(msgspec.Struct, frozen=True):
    """Counts of the events, and of the lines that could not be understood."""

    events: int
    errors: int


class Run(RunResult):
    """One run of an agent, live or over. Use it in `async with`; leaving the block ends the run.

    `call` has the whole environment of the agent. `before` is the run whose session it resumes;
    a command line may resume a session (`continues`) that no run of ours began. What comes from
    the descriptor `stdin`, which the run closes, is passed on to the agent.
    """

    def __init__(
        self,
        call: Invocation,
        options: RunOptions,
        *,
        agent: Agent | None,
        before: "EarlierRun | None" = None,
        continues: bool = False,
        on_permission: OnPermission | None = None,
        stdin: int | None = None,
        worktree: "Worktree | None" = None,
    ) -> None:
        self.command = call.typed or call.command
        """The command as a person would type it, with the prompt, which may go to stdin instead."""
        self.options = options
        self.agent = agent
        self.called = options.called  # by the user; None is its own name
        self.label = (options.called or agent.name) if agent else "raw"  # before the agent's lines
        self.cwd = options.cwd
        self.worktree = worktree
        """The git worktree made for the run, if one was requested."""
        self.via = options.via
        """The way in which the agent is run; None is its usual one."""
        self.asks = call.keep_stdin_open and options.permission == "ask"
        """True if the agent may ask, and then waits for an answer."""
        self.verdict: Verdict | None = None
        self.on_permission = on_permission
        """Decides what the agent asks for; set it before the start. Without it, only others can."""
        self.others = OtherProcesses()
        """Other processes of the user, which can answer, too."""
        self._call = call
        info = _info(options, call, agent, before, continues=continues)
        self._info = info if worktree is None else _in_worktree(info, worktree)
        self.feed = Feed(
            self._info.agent,
            lambda stream: Tail(self.folder.path, stream),
            beginning=beginning_of(self._info),
            find_model=self._find_model,
            label=self.label,
        )
        """Output of the run, for any number of readers."""
        self.story = Story(self.feed, info=self._info, called=options.called)
        """State and events of the run, for displays."""
        self.state = self.feed.state
        self.silence = Silence()
        """Seconds since the agent last wrote something."""
        self._stdin = stdin
        self._piped: PipedInput | None = None
        self._folder: RunFolder | None = None
        self._supervisor: Supervisor | None = None
        self._following: asyncio.Task[None] | None = None

    @property
    def folder(self) -> RunFolder:
        """The folder of the run."""
        if self._folder is None:
            raise RuntimeError("the run has not been started: use it in `async with`")
        return self._folder

    @property
    def name(self) -> str:
        """The run's name."""
        return self.folder.name

    @property
    def stats(self) -> Stats:
        """Counts of the events, and of the lines that could not be understood."""
        return Stats(self.state.records, self.state.unknown.total() + self.state.unreadable)

    @property
    def last_activity(self) -> float | None:
        """The time of the last message of the agent that was understood."""
        return self.state.last_activity

    @property
    def exit_code(self) -> int | None:
        """The exit code that says how the run ended; None while it is running."""
        return self.verdict.exit_code if self.verdict else None

    @property
    def is_over(self) -> bool:
        """True if the agent's whole process tree has ended and the verdict is there."""
        return self.feed.is_over

    async def __aenter__(self) -> Self:
        if self.worktree is not None:
            await asyncio.to_thread(self.worktree.add)
        home = Path(self.options.home or "")
        if self.asks:
            self.others.listen(home)
        try:
            await self._start(home)
        except BaseException:
            await self.others.close()
            raise
        return self

    async def _start(self, home: Path) -> None:
        """Start the agent, and follow it."""
        runner = os.getpid()  # not that of the process that made the run, if it is detached
        info = msgspec.structs.replace(
            self._info,
            started_at=time.time(),
            runner_pid=runner,
            runner_ticks=start_ticks(runner),
            asks_at=self.others.address,
        )
        folder = self._folder = self.story.folder = make_folder(home, info, self._call)
        self.story.info = info
        dialogue = _dialogue(self, self._call)
        if self._stdin is None and self._call.stdin_is_pipe:
            self._stdin = os.open(os.devnull, os.O_RDONLY)  # nothing follows the call's own input
        if self._stdin is not None:
            self._piped = PipedInput(self._stdin, max_log_size=self.options.max_log_size)
        recorder = await start_recorder(
            folder,
            self._call,
            cwd=self.cwd,
            timeout_s=_recorder_timeout(self.options.timeout, dialogue),
            max_log_size=self.options.max_log_size,
            source=dialogue or self._piped,
        )
        await self.others.begin(Recorder(recorder.pid, recorder.ticks))
        self._supervisor = Supervisor(
            self.feed,
            recorder,
            folder,
            self.options,
            silence=self.silence,
            dialogue=dialogue,
            agent=self.agent,
        )
        self._following = asyncio.create_task(self._follow(self._supervisor))

    async def __aexit__(self, *_: object) -> None:
        if not self.feed.is_over:
            self.stop()
        try:
            await self.wait()
        except asyncio.CancelledError:
            self.kill()
            if self._following is not None:
                await asyncio.shield(self._following)
            raise

    def __aiter__(self) -> AsyncIterator[Record]:
        """Yield every record from the first on, however slow the reader is: it reads the log."""
        return self.feed.since(0)

    def live(self, buffer: int = 256) -> LiveRecords:
        """The records from now on; those that do not fit the buffer are dropped and counted."""
        return self.feed.live(buffer)

    def lines(self, stream: Stream) -> AsyncIterator[str]:
        """The lines that are text as they come: all of stderr; stdout if no agent writes it."""
        return self.feed.lines(stream)

    async def wait(self) -> Verdict:
        """Wait for the end of the run and return its verdict."""
        if self._following is None:
            raise RuntimeError("the run has not been started: use it in `async with`")
        await asyncio.shield(self._following)
        assert self.verdict is not None
        return self.verdict

    def stop(
        self,
        why: StopReason = "interrupted",
        *,
        by: str | None = None,
        suspicion: Suspicion | None = None,
    ) -> None:
        """Ask the agent to end; if it does not, its recorder ends it. A second call insists.

        `by` is the name of the signal that asked for it; `suspicion` is why it seems to be stuck.
        """
        if self._supervisor is not None and not self.feed.is_over:
            self._supervisor.stop(why, by=by, suspicion=suspicion)

    def kill(self) -> None:
        """End the agent's whole process tree at once."""
        if self._supervisor is not None and not self.feed.is_over:
            self._supervisor.kill()

    def stdout(self) -> bytes:
        """Return every byte that the agent has written so far."""
        return b"".join(data for data, _ in pieces(self.folder.path))

    async def _follow(self, supervisor: Supervisor) -> None:
        """Supervise the run to its end, then judge it."""
        try:
            await supervisor.follow()
        finally:
            try:
                started = supervisor.agent_started
                exit = recorded_exit(self.folder, now=time.time(), started=started)
                state = self.state if self.agent else None
                facts = supervisor.facts(exit, self.label if self.agent else None)
                stream = StreamFacts(broken_answer=self._answer_broke_off())
                facts = msgspec.structs.replace(facts, stream=stream)
                self.verdict = finish(self.folder, exit, state, facts, agent=self.agent)
                self.story.end(self.verdict)
            finally:  # even if the end cannot be saved, readers must not wait any longer
                self.feed.end()
                await self.others.close()
                if self._piped is not None:
                    await self._piped.close()

    def _answer_broke_off(self) -> bool:
        """True if the agent's own log of the session shows that its last answer broke off."""
        log, session = self.agent.session_log if self.agent else None, self.state.session
        environment = self._call.environment
        return bool(log and session and answer_broke_off(log, session, environment))

    def _find_model(self, session: str) -> str | None:
        """The model in the agent's own log of a session; kept in run.json for later readers."""
        log = self.agent.session_log if self.agent else None
        model = session_model(log, session, self._call.environment) if log else None
        if model is not None:
            with suppress(RunFolderError):  # without it, only later readers lack the estimate
                info = self.folder.info() or self._info
                self.folder.write_info(msgspec.structs.replace(info, model=model))
        return model


def _dialogue(run: Run, call: Invocation) -> Dialogue | None:
    """Return the dialogue that answers the agent; None if it reads no answers."""
    control = call.control or (run.agent.control if run.agent else None)
    if not call.keep_stdin_open or control is None:
        return None
    return Dialogue(
        control,
        run.on_permission,
        run.options.ask_timeout,
        questions=run.others.questions,
        is_attended=run.others.are_there,
    )


def _info(
    options: RunOptions,
    call: Invocation,
    agent: Agent | None,
    before: "EarlierRun | None",
    *,
    continues: bool,
) -> RunInfo:
    """Return the record of a run before it starts."""
    return RunInfo(
        agent=agent.name if agent else None,
        called=options.called,
        via=options.via,
        program=list(options.program or ()) or None,
        command=list(call.typed or call.command),
        argv=list(call.command) if call.typed else None,
        cwd=options.cwd,
        prompt=options.prompt,
        model=options.model,
        permission=options.permission,
        allow_denials=options.allow_denials,
        started_at=time.time(),
        resumed_from=before.run if before else None,
        continues=continues,
        earlier=before.total if before else None,
        earlier_usd=before.total_usd if before else None,
        loop=options.loop[0] if options.loop else None,
        iteration=options.loop[1] if options.loop else None,
    )


def _recorder_timeout(timeout_s: float | None, dialogue: Dialogue | None) -> float | None:
    """Return when the recorder stops the agent: later, if a message can interrupt it first."""
    return timeout_s if timeout_s is None or dialogue is None else timeout_s + 2 * INTERRUPT_S


def _in_worktree(info: RunInfo, worktree: "Worktree") -> RunInfo:
    return msgspec.structs.replace(info, name=worktree.name, worktree=worktree.path)
