"""A stream that is piped to us: kept as it comes, whoever looks at it, and judged at its end."""

import os
import select
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import msgspec

from rookery import __version__
from rookery.feed.flow import Flow, FlowReader
from rookery.feed.source import Reading, Told
from rookery.model.errors import RookeryError
from rookery.model.state import RunState
from rookery.model.verdict import Facts, Verdict, judge
from rookery.process.liveness import start_ticks
from rookery.process.raw_log import Arrivals, Log
from rookery.runs.finish import finish
from rookery.store import runs
from rookery.store.file_names import ARRIVALS, STDOUT
from rookery.store.run_folder import RunFolder
from rookery.store.run_formats import ExitInfo, RunInfo

_CHUNK = 1 << 20
_SYNC_S = 1.0
_JOIN_S = 0.1
_LOOK_S = 0.1  # between two turns of whoever shows a stream that tells nothing
_FULL = "the disk is full: what comes now is shown but not kept"


class Piped:
    """A run that somebody else started; use it in `with`, which begins to read.

    Every byte is in the log of a run folder before anybody decodes it; without a `home` none is
    kept. What is read goes on to `tee`, a descriptor, untouched. Neither a slow screen nor a slow
    reader of `tee` keeps the agent waiting, unless no log has what they have yet to read.
    """

    def __init__(
        self, source: int, *, home: Path | None, agent: str | None = None, tee: int | None = None
    ) -> None:
        self.folder: RunFolder | None = None
        """Where it is kept, from its first byte on."""
        self.trouble: str | None = None
        """Why something could not be kept."""
        self._source = source
        self._home = home
        self._reading = Reading(agent, detect=agent is None)
        self._named = agent
        self._flow = Flow()
        self._reader = self._flow.reader()
        self._started_at = time.time()
        self._recording: _Recording | None = None
        self._interrupted = False
        self._stopped = False
        self._wake, self._waker = os.pipe()
        self._threads = [threading.Thread(target=self._take_in, daemon=True)]
        if tee is not None:
            passing = threading.Thread(
                target=self._pass_on, args=(tee, self._flow.reader()), daemon=True
            )
            self._threads.append(passing)

    @property
    def agent(self) -> str | None:
        """The name of the agent, once it is known."""
        return self._reading.agent

    @property
    def label(self) -> str | None:
        """What the lines of the agent begin with, once it is known."""
        return self.agent

    @property
    def state(self) -> RunState:
        """What the stream has told so far."""
        return self._reading.state

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
        self._threads[0].join()
        self._reader.close()
        os.close(self._wake)
        os.close(self._waker)

    def news(self) -> Iterator[list[Told]]:
        """Give what the stream tells as it comes, up to its end; nothing while nothing comes.

        So whoever shows it gets a turn some times a second, whether there is news or not.
        """
        while (pieces := self._reader.read(_LOOK_S)) is not None:
            told: list[Told] = []
            for data, at in pieces:
                told += self._reading.feed(data, at)
            self._tell_agent()
            yield told
        last = self._reading.close()
        self._tell_agent()
        yield last

    @property
    def is_draining(self) -> bool:
        """Whether it is read on only for what the agent still says."""
        return self._interrupted

    def drain(self) -> None:
        """Take note that the user wants it to end: if it does so without a result, that is why."""
        self._interrupted = True

    def stop(self) -> None:
        """Read no more; safe in a handler of signals."""
        self._stopped = True
        self._flow.given_up = True
        os.write(self._waker, b".")

    def end(self) -> Verdict:
        """Judge how it ended, save that, and wait for those to whom the stream is passed on."""
        verdict = self._finish()
        while any(thread.is_alive() for thread in self._threads) and not self._stopped:
            for thread in self._threads:
                thread.join(_JOIN_S)
        return verdict

    def _finish(self) -> Verdict:
        """Judge by what the stream told: how the process ended is not known to us."""
        lost = 0
        if self._recording is not None:
            self._recording.close()
            self._tell_agent()  # if there was no room before, there is some now
            lost = self._recording.log.lost
        exit = ExitInfo(
            started=True,
            stopped_for="stopped" if self._stopped else None,
            started_at=self._started_at,
            ended_at=time.time(),
            lost_stdout=lost,
        )
        try:
            if self.folder is not None:
                self.folder.write_exit(exit)
        except RookeryError as error:
            self.trouble = str(error)
        verdict = finish(self.folder, exit, self.state, self._facts())
        self.trouble = verdict.facts.unsaved or self.trouble
        return verdict

    def _facts(self) -> Facts:
        known = Facts(agent=self.agent, text_only=self._reading.only_text)
        unfinished = self.agent is None or judge(self.state, known).status == "incomplete"
        if self._stopped or (self._interrupted and unfinished):
            by = "SIGINT" if self._interrupted else None
            return msgspec.structs.replace(known, stopped_for="interrupted", stopped_by=by)
        return known

    def _tell_agent(self) -> None:
        """Keep who writes, as soon as it is known."""
        if self.agent == self._named or self.folder is None:
            return
        try:
            if (info := self.folder.info()) is not None:
                self.folder.write_info(msgspec.structs.replace(info, agent=self.agent))
            self._named = self.agent
        except RookeryError as error:
            self.trouble = str(error)

    def _take_in(self) -> None:
        """Keep what comes, and tell the readers, until it ends or nobody wants more."""
        try:
            while data := _next(self._source, self._wake):
                at = time.time()
                if self._home is not None and self._recording is None and self.trouble is None:
                    self._begin(self._home)
                kept, loose = self._recording.keep(data) if self._recording else (0, data)
                if loose and self._recording:
                    self.trouble = self.trouble or _FULL
                self._flow.add(kept, loose, at)
        finally:
            self._flow.end()

    def _begin(self, home: Path) -> None:
        """Make the run folder; if that cannot be, the stream is shown all the same."""
        try:
            folder = runs.create(home, _info(self._started_at, self._named))
            self._recording = _Recording(folder)
        except (RookeryError, OSError) as error:
            self.trouble = f"nothing is kept: {error}"
            return
        self.folder = folder
        self._flow.folder = folder.path

    def _pass_on(self, tee: int, reader: FlowReader) -> None:
        """Write the stream to another reader, who may leave before its end."""
        try:
            while (pieces := reader.read()) is not None:
                for data, _ in pieces:
                    _write_all(tee, data)
        except BrokenPipeError:
            return
        except OSError as error:
            self.trouble = f"the stream could not be passed on: {error.strerror}"
        finally:
            reader.close()


class _Recording:
    """The logs of a piped run, written as a recorder writes them."""

    def __init__(self, folder: RunFolder) -> None:
        for log in ("stdout", "stderr", "arrivals"):  # made private under any umask
            os.close(folder.open_log(log))
        self._folder = folder
        folder.reserve()
        where = os.open(folder.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            self._arrivals = Arrivals(where, ARRIVALS)
            self.log = Log(where, STDOUT, b"o", self._arrivals)
        finally:
            os.close(where)
        self._over = threading.Event()
        self._syncing = threading.Thread(target=self._keep_syncing, daemon=True)
        self._syncing.start()

    def keep(self, data: bytes) -> tuple[int, bytes]:
        """Append; give how much the log has now, and what it could not take."""
        lost = self.log.lost
        self.log.append(data)
        return self.log.size, data[len(data) - (self.log.lost - lost) :]

    def close(self) -> None:
        """Bring everything to the disk and make room for the end to be told."""
        self._over.set()
        self._syncing.join()
        self.log.close()
        self._arrivals.close()
        self._folder.release()

    def _keep_syncing(self) -> None:
        over = False
        while not over:
            over = self._over.wait(_SYNC_S)
            try:
                self.log.sync()
            except OSError:
                return  # a failed fsync is not tried again: what it lost, it lost


def _info(started_at: float, agent: str | None) -> RunInfo:
    me = os.getpid()
    ticks = start_ticks(me)
    return RunInfo(
        agent=agent,
        command=[],
        cwd=_cwd(),
        started_at=started_at,
        piped=True,
        runner_pid=me,
        runner_ticks=ticks,
        recorder_pid=me,
        recorder_ticks=ticks,
        rookery_version=__version__,
    )


def _cwd() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return ""  # it was removed


def _next(source: int, wake: int) -> bytes:
    """Wait for the next bytes; nothing at the end, or when woken."""
    poll = select.poll()
    poll.register(source, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while True:
        ready = [fd for fd, _ in poll.poll()]
        if wake in ready:
            return b""
        try:
            return os.read(source, _CHUNK)
        except BlockingIOError:
            continue
        except OSError:
            return b""


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:  # another program made the pipe so
            poll = select.poll()
            poll.register(fd, select.POLLOUT)
            poll.poll()
