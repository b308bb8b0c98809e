"""Follows a run while its logs grow. No other module looks for bytes appended to a log.

Whoever appends, and wherever the reader is, the way is the same: something wakes the follower, and
it reads on from its position, one piece at a time, in turns with everything else on the loop.

    wake ◀── the recorder's bell        a run of this process         `LogFollower.listen`
         ◀── whoever writes the folder  a run copied from a fleet     `RunFollower.wake`
         ◀── a change in the folder     the runs that a page shows    `RunFollower.wake`
         ◀── a timer                    a run of another process      `RunFollower.follow`
         ◀── the next look              `rook watch`                  `RunFollower.read`

`LogFollower` has a position in each log and passes on what is new. `RunFollower` adds what only a
run's folder shows: its verdict, and the decisions on what its agent asked.

States of a run that is followed by its folder: it grows; its verdict is there, so its logs are as
long as its exit says and are read to that end; it is complete, its feed has ended, and its verdict
has been compared with the bytes that were read.

What each part may rely on:

- A wake-up carries no data and may be lost, doubled or too early; only positions in the logs count.
  So nothing is lost or read twice, and a spurious wake-up costs one short read.
- Bytes are passed on with the time of their arrival. What no bell and no line of `arrivals` has
  reported yet is left for the next wake-up, unless the writer has ended.
- The verdict is looked for before the logs are read: once it is there, nothing more is written, and
  the read that follows is the last.
- What is read is hashed as it is read. A log that was changed behind its recorder is noticed
  without a second look at all of it.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from nightrook.model.errors import RunFolderError
from nightrook.model.records import Record
from nightrook.process.digest import Digest
from nightrook.store.logs import Stream, parse_arrival
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import ExitInfo, VerdictInfo
from nightrook.story.feed import Position
from nightrook.story.integrity import not_as_written
from nightrook.story.story import Story
from nightrook.story.tail import Piece, Tail

if TYPE_CHECKING:
    import asyncio

    from nightrook.process.recorder_process import RecorderProcess

_TICK_S = 0.25
_LOOK_S = 0.05  # between two looks at logs whose writer wakes nobody

Take = Callable[[list[Piece]], None]


class LogFollower:
    """Reads the logs of a run folder from their first bytes on, and passes on appended bytes."""

    def __init__(self, folder: RunFolder, takers: Mapping[Stream, Take]) -> None:
        self._logs = [(Tail(folder.path, stream), take) for stream, take in takers.items()]
        for tail, _ in self._logs:
            tail.digest = Digest()
        self._by_stream = {tail.stream: tail for tail, _ in self._logs}

    def position(self, stream: Stream) -> int:
        """Return the offset up to which a log was read."""
        return self._by_stream[stream].position

    def read(self, *, timed: bool = False, only: frozenset[Stream] | None = None) -> bool:
        """Pass on the next pieces of each log; return whether there is more than was read.

        With `timed`, bytes whose arrival nothing has reported yet are left for later.
        """
        more, problem = False, None
        for tail, take in self._logs:
            if only is not None and tail.stream not in only:
                continue
            try:
                pieces = tail.read(timed=timed)
            except RunFolderError as error:
                problem = error
                continue
            if pieces:
                take(pieces)
                more = more or tail.is_behind
        if problem is not None and not more:
            raise problem  # what the other logs have was read first
        return more

    def limit(self, sizes: Mapping[str, int]) -> None:
        """Read nothing behind these sizes: the writer has ended."""
        for tail, _ in self._logs:
            tail.end = sizes.get(tail.stream)  # guards: reported-end

    def changed(self, exit: ExitInfo) -> str | None:
        """Return how what was read differs from what the recorder wrote; None if it does not."""
        for tail, _ in self._logs:
            written = exit.logs.get(tail.stream)
            assert tail.digest is not None
            # guards: decoded-compared
            if written is not None and tail.digest.hexdigest() != written.sha256:
                return not_as_written(tail.stream)
        return None

    def close(self) -> None:
        """Close the logs."""
        for tail, _ in self._logs:
            tail.close()

    async def listen(self, recorder: "RecorderProcess", tick: Callable[[], None]) -> None:
        """Read at each ring of a recorder's bell until it ends; then the last bytes may be unread.

        `tick` is called a few times a second, whether there is anything new or not. An exception
        that it or a `Take` raises is raised here.
        """
        import asyncio  # so that what never waits stays quick

        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()

        def guarded(step: Callable[[], None]) -> None:
            if not ended.done():
                try:
                    step()
                except Exception as error:
                    ended.set_exception(error)

        def on_bell() -> None:
            bells = recorder.hear()
            catch_up(self._hear(bells) if bells else None)
            if bells is None:
                ended.set_result(None)

        def catch_up(only: frozenset[Stream] | None = None) -> None:
            if self.read(timed=True, only=only):  # the others have their turn before the rest
                loop.call_soon(guarded, catch_up)

        def on_tick() -> None:
            loop.call_later(_TICK_S, guarded, on_tick)
            catch_up()  # in case a bell was lost
            tick()

        loop.add_reader(recorder.bell, guarded, on_bell)
        loop.call_later(_TICK_S, guarded, on_tick)
        try:
            await ended
        finally:
            ended.cancel()
            loop.remove_reader(recorder.bell)

    def _hear(self, bells: bytes) -> frozenset[Stream] | None:
        """Learn from bells, which are lines of `arrivals`, what has come and when.

        Return the streams that they name; None is all, if a line of them was cut.
        """
        heard: set[Stream] = set()
        *lines, rest = bells.split(b"\n")
        is_whole = not rest
        for line in lines:
            arrival = parse_arrival(line)
            if arrival is None:
                is_whole = False
            elif (tail := self._by_stream.get(arrival.stream)) is not None:
                tail.hear(arrival, len(line) + 1)
                heard.add(arrival.stream)
        return frozenset(heard) if is_whole else None


class RunFollower:
    """Follows a run by its folder alone until it has its verdict, whichever process runs it.

    Any number can follow a run at once. `on_change` is called after each piece, and when the run
    is complete.
    """

    def __init__(self, story: Story, on_change: Callable[[], None] | None = None) -> None:
        assert story.folder is not None
        self.story = story
        self.folder = story.folder
        self.verdict: VerdictInfo | None = None
        """Verdict on the run; compared with the logs once it is complete."""
        self.is_complete = False
        """True if everything was read: nothing more will come."""
        self.problem: Exception | None = None
        """Reason why it could not be read further; the next wake-up tries again."""
        self.is_pushed = False
        """True if the writer of its folder is in this process and wakes it: no timer must."""
        self.arrived_at: float | None = None
        """Time at which its last bytes arrived."""
        self._on_change = on_change
        self._logs = LogFollower(
            self.folder, {"stdout": self._take, "stderr": lambda _: story.feed.ring()}
        )
        self._is_reading = self._is_closed = False
        self._may_have_ended = self._may_have_decided = False
        self._new: list[Record] | None = None  # what `read` returns
        self._woken: asyncio.Event | None = None

    @property
    def position(self) -> Position:
        """Position up to which it has been read."""
        logs = self._logs
        seq = self.story.state.records
        return Position(seq, logs.position("stdout"), logs.position("stderr"))

    @property
    def is_reading(self) -> bool:
        """True if there is more to read right now."""
        return self._is_reading

    def wake(self, *, ended: bool = True, decided: bool = True) -> None:
        """Read on soon: there may be more, a verdict, or a decision."""
        self._may_have_ended |= ended
        self._may_have_decided |= decided
        if self._woken is not None:
            self._woken.set()
        if not (self._is_reading or self._is_closed or self.is_complete):
            import asyncio  # so that what never waits stays quick

            self._is_reading = True
            asyncio.get_running_loop().call_soon(self._turn)

    async def caught_up(self, enough: Callable[[], bool] = lambda: False) -> None:
        """Wait until all that is there was read, or enough of it."""
        while self._is_reading and not enough():
            await self.story.feed.more(self.story.feed.count)

    def read(self) -> list[Record]:
        """Read all that is there now, without an event loop; return the new records."""
        self._may_have_ended = self._may_have_decided = True
        new = self._new = []
        while self._step():
            pass
        self._new = None
        return new

    async def before_look(self) -> None:
        """Do what must be done before each look; nothing here."""

    async def follow(self) -> VerdictInfo:
        """Follow the run to its end and return its verdict."""
        import asyncio  # so that what never waits stays quick

        self._woken = asyncio.Event()
        try:
            while True:
                await self.before_look()
                self.wake()
                await self.caught_up()
                if self.problem is not None:
                    raise self.problem
                if self.is_complete:
                    assert self.verdict is not None, "a complete run has its verdict"
                    return self.verdict
                await self._pause()
        finally:
            self._woken = None
            self.story.feed.end()
            self.close()

    def end(self, verdict: VerdictInfo) -> None:
        """Record the end of the run: nothing more is written, and the logs are read to the end."""
        self.verdict = verdict
        exit = self.folder.exit()
        self._logs.limit(exit.log_sizes if exit else {})

    def close(self) -> None:
        """Read no more, and close the logs."""
        self._is_closed = True
        self._logs.close()

    async def _pause(self) -> None:
        """Wait for the next look: for the writer's wake-up, or for a moment."""
        import asyncio  # so that what never waits stays quick

        assert self._woken is not None
        self._woken.clear()
        if self.is_pushed:
            await self._woken.wait()
        else:
            await asyncio.sleep(_LOOK_S)

    def _turn(self) -> None:
        """Read one piece; if that was not all, read the next after others had their turn."""
        import asyncio  # so that what never waits stays quick

        more = False
        try:
            more = not self._is_closed and self._step()
            self.problem = None
        except Exception as error:  # whatever it is, who waits for the run must hear of it
            self.problem = error
        self._is_reading = more
        if more:
            asyncio.get_running_loop().call_soon(self._turn)
        self.story.feed.ring()
        if self._on_change is not None:
            self._on_change()

    def _step(self) -> bool:
        """Read the next pieces, and the folder's other files; False if that was all."""
        if self._may_have_ended and self.verdict is None:
            self._may_have_ended = False
            verdict = self.folder.verdict()
            if verdict is not None:
                self.end(verdict)
        if self._logs.read(timed=self.verdict is None):
            return True
        if self.verdict is not None:
            self._complete(self.verdict)
        elif self._may_have_decided:
            self._may_have_decided = False
            self.story.note_decisions()
        return False

    def _take(self, pieces: list[Piece]) -> None:
        self.arrived_at = pieces[-1][1] or self.arrived_at
        self._keep(self.story.take(pieces))

    def _keep(self, records: list[Record]) -> None:
        if self._new is not None:
            self._new += records

    def _complete(self, verdict: VerdictInfo) -> None:
        self._keep(self.story.close())
        exit = self.folder.exit()
        if exit is not None and verdict.tampered is None:
            how = self.folder.changed_size(exit.log_sizes) or self._logs.changed(exit)
            if how is not None:
                verdict = verdict.with_tampered_logs(how)
        self.verdict = verdict
        self.story.end(verdict.verdict)
        self._logs.close()
        self.is_complete = True
        self.story.feed.end()
