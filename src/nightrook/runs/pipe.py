"""A stream that is piped to rook: recorded as it arrives, decoded, and judged at its end."""

import asyncio
import os
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

import msgspec

from nightrook.model.errors import NightrookError
from nightrook.model.facts import Facts, PersonFacts, ProcessFacts, StreamFacts
from nightrook.model.verdict import Verdict, judge
from nightrook.process.liveness import start_ticks
from nightrook.process.raw_log import Arrivals, Log
from nightrook.runs.finish import finish
from nightrook.store.file_names import ARRIVALS, STDOUT
from nightrook.store.logs import Stream
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import ExitInfo, RunInfo, WrittenLog
from nightrook.story.feed import ByteReader, Feed
from nightrook.story.story import Story
from nightrook.story.tail import Piece, Tail
from nightrook.version import __version__

_CHUNK = 256 << 10
_MOST_UNREAD = 16 << 20  # bytes in memory only, before the agent has to wait for slow readers
_SYNC_S = 1.0
_POLL_S = 0.02
_FULL = "the disk is full: from now on the stream is shown but not recorded"


class PipedRun:
    """A run that another program started, and whose stream comes through a descriptor.

    Every byte is in the log of a run folder before it is decoded; without a `home` nothing is
    stored. Slow readers of the feed do not stall the agent, unless the log lacks what they have
    yet to read. `warn` is called with what goes wrong meanwhile.
    """

    def __init__(
        self,
        source: int,
        *,
        home: Path | None,
        agent: str | None = None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.folder: RunFolder | None = None
        """Folder of the run, from its first byte on."""
        self.feed = Feed(agent, self._open_stream, detect=agent is None)
        self.story = Story(self.feed)
        """State and events of the run, for displays."""
        self._input = _Input(source)
        self._home = home
        self._warn = warn
        self._spool = Spool()
        self._recorded_agent = agent
        self._started_at = time.time()
        self._recording: _Recording | None = None
        self._interrupted = False

    def interrupt(self) -> None:
        """Record that the user wants the agent to end: the reason if it then has no result."""
        self._interrupted = True

    def stop(self) -> None:
        """Read no more, whatever the agent still writes."""
        self._input.stop()

    async def record(self) -> Verdict:
        """Read to the end of the stream; return how the agent ended."""
        try:
            while data := await self._input.read():
                self._take(data)
                while self._is_behind():
                    await asyncio.sleep(_POLL_S)
            self.feed.close()
            self._record_agent()
            return await self._finish()
        finally:
            self.feed.end()

    def _open_stream(self, stream: Stream) -> ByteReader:
        return self._spool.reader() if stream == "stdout" else _Empty()

    def _is_behind(self) -> bool:
        unread = max(self._spool.unread, self.feed.unread)
        return unread > _MOST_UNREAD and not self._input.stopped

    def _take(self, data: bytes) -> None:
        """Store the next bytes, then decode them."""
        at = time.time()
        if self._home is not None and self._recording is None:
            self._start_recording(self._home)
        logged, unlogged = self._recording.append(data) if self._recording else (0, data)
        if unlogged and not self.feed.keeps_unread:
            self.feed.keeps_unread = True
            if self._recording is not None:
                self._warn(_FULL)
        self._spool.add(logged, unlogged, at)
        self.feed.take([(data, at)])
        self._record_agent()

    def _start_recording(self, home: Path) -> None:
        """Make the run folder; if that fails, the stream is still decoded."""
        try:
            folder = create_run(home, _info(self._started_at, self._recorded_agent))
            self._recording = _Recording(folder)
        except (NightrookError, OSError) as error:
            self._home = None
            self._warn(f"nothing is recorded: {error}")
            return
        self.folder = self.story.folder = folder
        self._spool.folder = folder.path

    def _record_agent(self) -> None:
        """Record the agent's name as soon as it is known."""
        agent = self.feed.agent
        if agent == self._recorded_agent or self.folder is None:
            return
        try:
            if (info := self.folder.info()) is not None:
                self.folder.write_info(msgspec.structs.replace(info, agent=agent))
            self._recorded_agent = agent
        except NightrookError as error:
            self._warn(str(error))

    async def _finish(self) -> Verdict:
        """Judge by the stream alone: how the process ended is unknown."""
        lost, logs = 0, dict[str, WrittenLog]()
        if self._recording is not None:
            await self._recording.close()
            self._record_agent()  # if there was no room before, there is some now
            log = self._recording.log
            lost, logs = log.lost, {"stdout": WrittenLog(size=log.size, sha256=log.sha256)}
        exit = ExitInfo(
            started=True,
            stopped_for="stopped" if self._input.stopped else None,
            started_at=self._started_at,
            ended_at=time.time(),
            lost_stdout=lost,
            logs=logs,
        )
        try:
            if self.folder is not None:
                self.folder.write_exit(exit)
        except NightrookError as error:
            self._warn(str(error))
        verdict = finish(self.folder, exit, self.feed.state, self._facts())
        self.story.end(verdict)
        return verdict

    def _facts(self) -> Facts:
        agent, state = self.feed.agent, self.feed.state
        text_only = agent is None and self.feed.text_size > 0
        known = Facts(process=ProcessFacts(agent=agent), stream=StreamFacts(text_only=text_only))
        unfinished = agent is None or judge(state, known).status == "incomplete"
        if self._input.stopped or (self._interrupted and unfinished):
            by = "SIGINT" if self._interrupted else "SIGTERM"  # as the command line stops it
            person = PersonFacts(stopped_for="interrupted", stopped_by=by)
            return msgspec.structs.replace(known, person=person)
        return known


class _Unlogged(NamedTuple):
    """Bytes that the log could not take, and the position in it where they belong."""

    position: int
    data: bytes
    at: float


class Spool:
    """Bytes for any number of readers, each at its own pace.

    Bytes in the log cost no memory. The others are kept until every reader has read them.
    """

    def __init__(self) -> None:
        self.folder: Path | None = None
        """The run folder with the log, once there is one."""
        self.unread = 0
        """Bytes in memory because a reader has not read them yet."""
        self._logged = 0
        self._unlogged: deque[_Unlogged] = deque()
        self._released = 0  # pieces that every reader has read
        self._readers: list[SpoolReader] = []

    def add(self, logged: int, unlogged: bytes, at: float) -> None:
        """Record the size of the log, and keep the pieces that it could not take."""
        self._logged = logged
        if unlogged and self._readers:  # guards: unlogged-for-readers
            self._unlogged.append(_Unlogged(logged, unlogged, at))
            self.unread += len(unlogged)

    def reader(self) -> "SpoolReader":
        """A reader of everything from the first byte; create it before the first byte comes."""
        reader = SpoolReader(self)
        self._readers.append(reader)
        return reader

    def next_for(self, reader: "SpoolReader") -> int | _Unlogged | None:
        """Return what comes next: the log up to a position, a piece, or None for nothing yet."""
        index = reader.pieces - self._released
        piece = self._unlogged[index] if index < len(self._unlogged) else None
        until = self._logged if piece is None else piece.position
        if reader.position < until:
            return until
        if piece is not None:
            reader.pieces += 1
            self._release()
        return piece

    def leave(self, reader: "SpoolReader") -> None:
        """Stop keeping pieces for this reader."""
        if reader in self._readers:
            self._readers.remove(reader)
            self._release()

    def _release(self) -> None:
        last = self._released + len(self._unlogged)
        least = min((reader.pieces for reader in self._readers), default=last)
        while self._released < least:
            self.unread -= len(self._unlogged.popleft().data)
            self._released += 1


class SpoolReader:
    """Reads a spool from its first byte."""

    def __init__(self, spool: Spool) -> None:
        self.pieces = 0
        """Number of pieces it has read that are not in the log."""
        self._spool = spool
        self._tail: Tail | None = None

    @property
    def position(self) -> int:
        """Position in the log."""
        return 0 if self._tail is None else self._tail.position

    def read(self) -> list[Piece]:
        """Read the next bytes; nothing if there are none yet."""
        following = self._spool.next_for(self)
        if following is None:
            return []
        if isinstance(following, _Unlogged):
            return [(following.data, following.at)]
        if self._tail is None:
            assert self._spool.folder is not None
            self._tail = Tail(self._spool.folder, "stdout")
        return self._tail.read(following)

    def close(self) -> None:
        """Leave the spool and close the log."""
        self._spool.leave(self)
        if self._tail is not None:
            self._tail.close()


class _Input:
    """The descriptor that the stream comes from: a pipe, a terminal or a file."""

    def __init__(self, fd: int) -> None:
        self.stopped = False
        self._fd = fd
        self._ready: asyncio.Future[None] | None = None

    async def read(self) -> bytes:
        """Wait for the next bytes; nothing at the end, or when stopped."""
        while not self.stopped:
            if await self._wait():
                try:
                    return os.read(self._fd, _CHUNK)
                except BlockingIOError:
                    continue
                except OSError:
                    return b""
        return b""

    def stop(self) -> None:
        """End the stream here."""
        self.stopped = True
        self._wake()

    async def _wait(self) -> bool:
        """Wait until there is something to read; False if it was stopped."""
        loop = asyncio.get_running_loop()
        self._ready = loop.create_future()
        if not self._watch(loop):
            await asyncio.sleep(0)
            return not self.stopped
        try:
            await self._ready
        finally:
            loop.remove_reader(self._fd)
        return not self.stopped

    def _watch(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Ask to be woken when there is something to read; False where there always is.

        Linux refuses to watch a plain file; macOS accepts it and never reports its end.
        """
        try:
            if S_ISREG(os.fstat(self._fd).st_mode):  # guards: plain-file-end
                return False
            loop.add_reader(self._fd, self._wake)
        except OSError:
            return False
        return True

    def _wake(self) -> None:
        if self._ready is not None and not self._ready.done():
            self._ready.set_result(None)


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
        self._syncing = asyncio.create_task(self._keep_syncing())

    def append(self, data: bytes) -> tuple[int, bytes]:
        """Append; return the size of the log, and the bytes that it could not take."""
        lost = self.log.lost
        self.log.append(data)
        return self.log.size, data[len(data) - (self.log.lost - lost) :]

    async def close(self) -> None:
        """Sync everything to disk and make room for the verdict."""
        self._syncing.cancel()
        await asyncio.wait([self._syncing])
        await asyncio.to_thread(self.log.close)
        self._arrivals.close()
        self._folder.release()

    async def _keep_syncing(self) -> None:
        while True:
            await asyncio.sleep(_SYNC_S)
            try:
                await asyncio.to_thread(self.log.sync)
            except OSError:
                return  # a failed fsync is not repeated: it would not save what was lost


class _Empty:
    """The stderr of a pipe, which rook never sees."""

    def read(self) -> list[Piece]:
        return []

    def close(self) -> None:
        return


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
        nightrook_version=__version__,
    )


def _cwd() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return ""  # it was removed
