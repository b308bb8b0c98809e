"""Runs an agent: starts its recorder, follows the log, decides, and tells the truth at the end."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal, Self

import msgspec

from rookery import __version__
from rookery.adapter.agent import Agent, Invocation
from rookery.adapter.lines import LineBuffer
from rookery.config.options import RunOptions
from rookery.feed.live import LiveRecords
from rookery.feed.recent import Recent
from rookery.feed.recorder_logs import Listening
from rookery.feed.source import text_of
from rookery.feed.tail import Piece, Tail
from rookery.feed.wakeup import News
from rookery.model.events import Usage
from rookery.model.fold import Beginning, FoldingDecoder
from rookery.model.records import Record
from rookery.model.state import RunState
from rookery.model.stuck import Suspicion
from rookery.model.verdict import Facts, StopReason, Verdict
from rookery.prices import PriceBook
from rookery.process.liveness import start_ticks
from rookery.process.recorder_process import Plan, RecorderProcess
from rookery.runs.dialogue import Dialogue, OnPermission
from rookery.runs.finish import finish, recorded_exit
from rookery.runs.limits import has_results, passed_limit, reason_to_stop, wants_no_more
from rookery.runs.resume import Earlier
from rookery.runs.silence import Silence
from rookery.runs.watchdog import Life
from rookery.store import runs
from rookery.store.file_names import RECORDER_FILES, STDERR, STDIN, STDOUT
from rookery.store.run_folder import RunFolder
from rookery.store.run_formats import RunInfo

_LETTERS = {"stdout": b"o", "stderr": b"e"}
_LISTEN_S = 2.0  # how long an agent has to break off when it is told to


class Stats(msgspec.Struct, frozen=True):
    """How many events there were, and how many lines could not be understood."""

    events: int
    errors: int


class Run:
    """One run of an agent, live or over. Use it in `async with`; leaving the block ends the run.

    `call` has the whole environment of the agent. `before` is the run whose session it goes on
    with; a command line may go on with one (`continues`) that nobody knows.
    """

    def __init__(
        self,
        call: Invocation,
        options: RunOptions,
        *,
        agent: Agent | None,
        before: Earlier | None = None,
        continues: bool = False,
        on_permission: OnPermission | None = None,
    ) -> None:
        self.command = call.command
        self.options = options
        self.agent = agent
        self.called = options.called  # by the user; None is its own name
        self.label = (options.called or agent.name) if agent else "raw"  # before the agent's lines
        self.cwd = options.cwd
        self.verdict: Verdict | None = None
        self.on_permission = on_permission
        """Decides what the agent asks for; set it before the start. None denies everything."""
        self._call = call
        self._before = before
        self._continues = continues
        self._decoder = self._make_decoder()
        self.state = self._decoder.state if self._decoder else RunState()
        self._folder: RunFolder | None = None
        self._recorder: RecorderProcess | None = None
        self._dialogue: Dialogue | None = None
        self._life: Life | None = None
        self._suspicion: Suspicion | None = None
        self._stop_reason: StopReason | None = None
        self._stopped_by: str | None = None
        self._recent = Recent()
        self._synced = 0  # results after which the logs were synced to disk
        self._silence = Silence()
        self._news = News()
        self._over = asyncio.Event()
        self._following: asyncio.Task[None] | None = None
        self._live: list[LiveRecords] = []

    @property
    def folder(self) -> RunFolder:
        """Where everything about the run is kept."""
        if self._folder is None:
            raise RuntimeError("the run has not been started: use it in `async with`")
        return self._folder

    @property
    def name(self) -> str:
        """The run's name."""
        return self.folder.name

    @property
    def via(self) -> str | None:
        """In which of its ways the agent is run; None is its usual one."""
        return self.options.via

    @property
    def asks(self) -> bool:
        """Whether the agent may ask, and waits for an answer then."""
        return self._call.keep_stdin_open and self.options.permission == "ask"

    @property
    def stats(self) -> Stats:
        """How many events, and how many lines that could not be understood."""
        return Stats(self.state.records, self.state.unknown.total() + self.state.unreadable)

    @property
    def last_activity(self) -> float | None:
        """When the agent last wrote something that we understood."""
        return self.state.last_activity

    @property
    def silent_s(self) -> float:
        """For how long the agent has not written a byte; a sleep of the machine does not count."""
        return self._silence.seconds

    @property
    def exit_code(self) -> int | None:
        """The exit code that tells how the run ended; None while it is going on."""
        return self.verdict.exit_code if self.verdict else None

    async def __aenter__(self) -> Self:
        self._folder = self._make_folder()
        if self.options.idle_timeout is not None:
            self._life = Life(str(self._folder.path), self.options.idle_timeout)
        control = self._call.control or (self.agent.control if self.agent else None)
        if self._call.keep_stdin_open and control:
            self._dialogue = Dialogue(control, self.on_permission, self.options.ask_timeout)
        try:
            self._recorder = RecorderProcess(self._plan())
            if self._dialogue is not None:
                self._dialogue.begin(self._folder, self._call.stdin or b"")
            self._tell_who_runs(self._recorder.pid)
        except BaseException:  # nobody would end them: the block is never entered
            if self._dialogue is not None:
                await self._dialogue.close()
            if self._recorder is not None:
                self._recorder.close()
            raise
        self._following = asyncio.create_task(self._follow())
        return self

    async def __aexit__(self, *_: object) -> None:
        if not self._over.is_set():
            self.stop()
        try:
            await self.wait()
        except asyncio.CancelledError:
            self.kill()
            if self._following is not None:
                await asyncio.shield(self._following)
            raise

    def __aiter__(self) -> AsyncIterator[Record]:
        """Give every record from the first on, however slow the reader is: it reads the log."""
        return self._records()

    def live(self, buffer: int = 256) -> LiveRecords:
        """Give the records from now on, for screens: what does not fit the buffer is dropped."""
        viewer = LiveRecords(buffer)
        if self._over.is_set():
            viewer.end()
        self._live.append(viewer)
        return viewer

    async def wait(self) -> Verdict:
        """Wait for the end of the run and give its verdict."""
        if self._following is None:
            raise RuntimeError("the run has not been started: use it in `async with`")
        await asyncio.shield(self._following)
        assert self.verdict is not None
        return self.verdict

    def stop(self, why: StopReason = "interrupted", *, by: str | None = None) -> None:
        """Ask the agent to end; if it does not, it is made to. A second call insists.

        `by` is the name of the signal that asked for it.
        """
        if self._recorder is None or self._over.is_set():
            return
        if self._stop_reason is None:
            self._stop_reason, self._stopped_by = why, by
            if self._dialogue is None:
                self._recorder.stop(why)
            else:  # it can be told; a signal follows if it does not listen
                self._dialogue.interrupt()
                asyncio.get_running_loop().call_later(_LISTEN_S, self._recorder.stop, why)
        else:
            self.kill()

    def kill(self) -> None:
        """End the agent's whole tree at once."""
        if self._recorder is not None and not self._over.is_set():
            self._stop_reason = self._stop_reason or "interrupted"
            self._recorder.kill(self._stop_reason)

    def stdout(self) -> bytes:
        """Every byte that the agent has written so far."""
        try:
            return (self.folder.path / STDOUT).read_bytes()
        except FileNotFoundError:  # it could not be started
            return b""

    @property
    def is_over(self) -> bool:
        """Whether the agent and its whole tree have ended and the verdict is there."""
        return self._over.is_set()

    @property
    def news(self) -> int:
        """How often more was recorded."""
        return self._news.count

    async def next_news(self, seen: int) -> None:
        """Wait until more was recorded than at that count of news, or the run is over."""
        await self._news.wait(seen)

    async def lines(self, stream: Literal["stdout", "stderr"]) -> AsyncIterator[str]:
        """Give the lines of a raw log as they come; of one that is too long, only that it is."""
        buffer = LineBuffer()
        with self._tail(f"{stream}.raw", _LETTERS[stream]) as tail:
            while True:
                over, seen = self.is_over, self.news
                data = b"".join(piece for piece, _ in tail.read())
                for line in buffer.feed(data):
                    yield text_of(line)
                if over and not data:
                    break
                if not data:
                    await self.next_news(seen)
        if (last := buffer.close()) is not None:
            yield text_of(last)

    async def _records(self) -> AsyncIterator[Record]:
        """Give what the runner has decoded anyway; to a reader that falls behind, the log."""
        seq = 0
        while True:
            over, seen = self.is_over, self.news
            records = self._recent.since(seq)
            if records is None:
                break
            for record in records:
                yield record
            seq += len(records)
            if over and not records:
                return
            if not records:
                await self.next_news(seen)
        async for record in self._from_log():
            if record.seq >= seq:
                yield record

    async def _from_log(self) -> AsyncIterator[Record]:
        decoder = self.agent.decoder() if self.agent else None
        if decoder is None:
            return
        with self._tail(STDOUT, b"o") as tail:
            while True:
                over, seen = self.is_over, self.news
                pieces = tail.read()
                for data, at in pieces:
                    for record in decoder.feed(data, at):
                        yield record
                if over and not pieces:
                    break
                if not pieces:
                    await self.next_news(seen)
        for record in decoder.close():
            yield record

    def _tail(self, name: str, letter: bytes) -> Tail:
        return Tail(self.folder.path, name, letter)

    def _make_decoder(self) -> FoldingDecoder | None:
        if self.agent is None:
            return None
        known = Beginning(model=self.options.model, cwd=self.cwd)
        if self._continues:
            known = msgspec.structs.replace(known, earlier=self._earlier)
        return FoldingDecoder(self.agent.decoder(), PriceBook(), known)

    @property
    def _earlier(self) -> Usage | None:
        """What the session that is gone on with had used; None if nobody knows."""
        return self._before.total if self._before else None

    def _make_folder(self) -> RunFolder:
        options = self.options
        folder = runs.create(
            Path(options.home or ""),
            RunInfo(
                agent=self.agent.name if self.agent else None,
                called=self.called,
                via=self.via or _usual_way(self.agent),
                program=list(options.program or ()) or None,
                command=list(self.command),
                cwd=self.cwd,
                prompt=options.prompt,
                model=options.model,
                permission=options.permission,
                allow_denials=options.allow_denials,
                started_at=time.time(),
                runner_pid=os.getpid(),
                runner_ticks=start_ticks(os.getpid()),
                resumed_from=self._before.run if self._before else None,
                continues=self._continues,
                earlier=self._earlier,
                loop=options.loop[0] if options.loop else None,
                iteration=options.loop[1] if options.loop else None,
            ),
        )
        folder.reserve()
        if self._call.stdin is not None and not self._call.keep_stdin_open:
            with folder.opened() as files:
                files.create(STDIN, self._call.stdin)
        return folder

    def _tell_who_runs(self, recorder: int) -> None:
        """Keep who is at work, so that a folder whose processes died can be healed."""
        info = self.folder.info()
        if info is not None:
            self.folder.write_info(
                msgspec.structs.replace(
                    info,
                    runner_pid=os.getpid(),
                    runner_ticks=start_ticks(os.getpid()),
                    recorder_pid=recorder,
                    recorder_ticks=start_ticks(recorder),
                    rookery_version=__version__,
                )
            )

    def _plan(self) -> Plan:
        environment = {**self._call.environment, "ROOKERY_RUN_DIR": str(self.folder.path)}
        kept = "file" if self._call.stdin is not None else "null"
        return Plan(
            folder=self.folder.path,
            files=RECORDER_FILES,
            command=self.command,
            cwd=self.cwd,
            environment=environment,
            stdin=self._dialogue.reading if self._dialogue else kept,
            deadline_s=self.options.timeout,
            ask_signal=self._call.stop_signal,
        )

    async def _follow(self) -> None:
        """Read, fold and decide until the recorder has ended; then judge."""
        assert self._recorder is not None
        recorder = self._recorder
        decoder = self._decoder
        self._silence.end()
        try:
            with self._tail(STDOUT, b"o") as tail, self._tail(STDERR, b"e") as errors:
                logs = ((tail, self._take), (errors, self._take_errors))
                listening = Listening(recorder, logs, tick=self._tick)
                await listening.until_it_ends()
                while listening.read():
                    await asyncio.sleep(0)
                if decoder is not None:
                    self._tell(decoder.close())
        finally:
            if self._dialogue is not None:
                await self._dialogue.close()
            await asyncio.to_thread(recorder.close)
            try:
                self._end()
            finally:  # whatever cannot be kept, nobody may wait for more
                for viewer in self._live:
                    viewer.end()
                self._over.set()
                self._news.end()

    def _take(self, pieces: list[Piece]) -> None:
        """Fold what the agent wrote, and decide."""
        self._silence.end()
        if self._decoder is not None:
            for data, at in pieces:
                self._tell(self._decoder.feed(data, at))
        self._news.tell()
        self._decide()

    def _take_errors(self, _pieces: list[Piece]) -> None:
        """What it wrote to stderr is a sign of life, and news for who shows it."""
        self._silence.end()
        self._news.tell()

    def _tick(self) -> None:
        self._silence.look()
        self._decide()

    def _tell(self, records: list[Record]) -> None:
        """Hand what was folded to those who watch, and have a result kept safe."""
        self._recent.add(records)
        for viewer in self._live:
            for record in records:
                viewer.offer(record)
        if len(self.state.results) > self._synced and self._recorder is not None:
            self._synced = len(self.state.results)
            self._recorder.sync()
        if self._dialogue is not None and self._decoder is not None:
            for record in records if self._stop_reason is None else ():
                self._dialogue.take(record, self._decoder.answered)

    def _decide(self) -> None:
        if self._dialogue is not None and self._dialogue.waits:
            self._silence.end()  # it is a person who is silent
        silent = self._silence.seconds
        if self._dialogue is not None and (
            wants_no_more(self.state, self.options, silent_s=silent)
            or (self._stop_reason is not None and has_results(self.state))
        ):
            self._dialogue.end()
        if self._stop_reason is None:
            why = reason_to_stop(self.state, self.options, silent_s=silent)
            if why is None and self._life is not None and self._life.is_due(silent):
                self._suspicion = self._life.look(
                    self.state.snapshot(), silent_s=silent, news=self.news
                )
                why = "stuck" if self._suspicion else None
            if why is not None:
                self.stop(why)

    def _end(self) -> None:
        """Judge how it ended, and save the verdict and the answer."""
        exit = recorded_exit(self.folder, now=time.time())
        timed_out = exit.stopped_for == "timed_out"
        known = Facts(
            agent=self.label if self.agent else None,
            stopped_for=self._stop_reason,
            stopped_by=self._stopped_by,
            passed_limit=passed_limit(self.state, self.options, timed_out=timed_out),
            suspicion=self._suspicion,
            allow_denials=self.options.allow_denials,
        )
        state = self.state if self.agent else None
        self.verdict = finish(self.folder, exit, state, known, agent=self.agent)


def _usual_way(agent: Agent | None) -> str | None:
    return next((way.name for way in agent.ways), None) if agent else None
