"""A feed: the output of one run or session, decoded and folded, for any number of readers.

What has the bytes (a recorder's logs, a folder, a pipe) drives the feed; readers follow it.

    bytes ──take──▶ decoder ──▶ records ──▶ fold ──▶ state, snapshot
                                   │
                                   ├──▶ recent records ──▶ readers that keep up (`since`)
                                   ├──▶ buffers of readers that rather lose some (`live`)
                                   └──▶ wakes every reader that waits

    the log, from its first byte ──▶ a decoder of its own ──▶ a reader that fell behind

States: a feed is open; `close` ends the stream, which can still yield records (an open call is
reported as cut off); `end` says that nothing more will come. A `StoredFeed` is over from the start.

What each part may rely on:

- Each record is decoded, numbered and folded once, when its bytes are taken, on the thread of the
  event loop. So the state is never behind what a reader has seen, and two readers cannot disagree.
- A reader has a position (the number of its next record), and nothing waits for it. If what it
  wants has left the recent records, it decodes the log again from its first byte: decoders are
  pure, so its records equal those that it missed. A slow screen costs neither memory nor time of
  others; only where no log has the bytes (a full disk) are records kept until they are read.
- A reader cannot miss a wake-up. `count` grows with every ring: a reader notes the count, looks for
  records, and waits only while the count is what it noted. An event that is set and cleared would
  lose a ring between the look and the wait, and a queue for each reader would hold what it does not
  read.
- A stored feed has no driver: its readers pull. The state follows the reader that is furthest,
  so that a display can show the state as it was at each record.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, TypeVar
from weakref import WeakSet

from nightrook.adapter.lines import LineBuffer
from nightrook.model.events import PermissionRequested, UsageReported
from nightrook.model.fold import Beginning, Fold
from nightrook.model.price import Prices
from nightrook.model.records import Record
from nightrook.model.snapshot import Snapshot
from nightrook.model.state import RunState
from nightrook.prices import PriceBook
from nightrook.store.logs import Stream
from nightrook.story.decode import StreamDecoder, text_of
from nightrook.story.tail import Piece

if TYPE_CHECKING:
    import asyncio

RECENT_BYTES = 8 << 20
"""Bytes of a stream whose records stay in memory for readers."""

_BATCH_SIZE = 512  # records; batches are joined up to it, because the collector visits each batch


class ByteReader(Protocol):
    """Reads a stream as far as it is written, from its first byte, without waiting."""

    def read(self) -> list[Piece]:
        """Read the next bytes; nothing if there are none yet."""

    def close(self) -> None:
        """Close the files of the stream."""


class Position(NamedTuple):
    """A point in a feed: the number of the next record, and bytes of each stream before it."""

    seq: int = 0
    stdout: int = 0
    stderr: int = 0


START = Position()

OpenStream = Callable[[Stream], ByteReader]


class Feed:
    """The records and the text of one run, for readers that each go at their own pace.

    What has the bytes drives the feed by `take`, `ring`, `close` and `end`. `open_stream` opens a
    stream from its first byte. `beginning` is what is known before the first message. `find_model`
    returns the model of a session; it is called for tokens of a session whose model the stream has
    not reported. `recent_bytes` is how much of the stream's records stay in memory for readers.
    """

    def __init__(
        self,
        agent: str | None,
        open_stream: OpenStream,
        *,
        detect: bool = False,
        beginning: Beginning | None = None,
        prices: Prices | None = None,
        find_model: Callable[[str], str | None] | None = None,
        label: str | None = None,
        recent_bytes: int = RECENT_BYTES,
    ) -> None:
        self.open_stream = open_stream
        """Opens a stream from its first byte."""
        self.keeps_unread = False
        """True if records stay in memory until read, because the log lacks their bytes."""
        self.count = 0
        """Number of times that there was more to read."""
        self.is_over = False
        """True if nothing more will come."""
        self.is_stored = False
        """True if nothing drives it, because all of it is stored."""
        self._decoder = StreamDecoder(agent, detect=detect)
        self._prices = PriceBook() if prices is None else prices
        self._fold = Fold((), self._prices, beginning)
        self.state: RunState = self._fold.state
        """The state after all records so far; for use on the event loop's thread only."""
        self._find_model = find_model
        self._label = label
        self._recent = RecentRecords(recent_bytes)
        self._waiting: list[asyncio.Future[None]] = []
        self._live: WeakSet[LiveRecords] = WeakSet()  # guards: live-let-go
        self._readers: set[_Reader] = set()

    def load_prices(self) -> None:
        """Load the prices of all models before the first of them is needed; in any thread."""
        if isinstance(self._prices, PriceBook):
            self._prices.load()

    @property
    def agent(self) -> str | None:
        """The name of the agent, once it is known."""
        return self._decoder.agent

    @property
    def label(self) -> str | None:
        """Prefix of the agent's lines, once it is known."""
        return self._label or self._decoder.agent

    @property
    def text_size(self) -> int:
        """Number of first bytes of stdout that are known to be text and no agent's message."""
        return self._decoder.text_size

    def snapshot(self) -> Snapshot:
        """A frozen copy of the state, for other threads, the wire and screens."""
        return self.state.snapshot()

    @property
    def unread(self) -> int:
        """Bytes whose records are in memory only because a reader has not read them."""
        if not self.keeps_unread or not self._readers:
            return 0
        return self._recent.bytes_since(min(reader.seq for reader in self._readers))

    def since(self, seq: int = 0) -> AsyncIterator[Record]:
        """Yield all records from this number on, as they come, up to the end of the run."""
        return self._records(seq)

    def live(self, buffer: int = 256) -> "LiveRecords":
        """The records from now on; those that do not fit the buffer are dropped and counted."""
        live = LiveRecords(self, buffer)
        self._live.add(live)
        return live

    def chunks(self, stream: Stream) -> AsyncIterator[bytes]:
        """The bytes of a stream as they come."""
        return _read_bytes(self, self.open_stream(stream))

    def lines(self, stream: Stream, start: int = 0) -> AsyncIterator[str]:
        """The lines of a stream that are text: all of stderr; stdout up to the first message.

        The first `start` bytes are left out.
        """
        read = _read_bytes if stream == "stderr" else _read_text
        return _lines(read(self, self.open_stream(stream)), start)

    async def more(self, seen: int) -> None:
        """Wait until the count is greater than `seen`, or nothing more will come."""
        import asyncio  # so that what never waits stays quick

        while self.count <= seen and not self.is_over:
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter

    async def ended(self) -> None:
        """Wait until nothing more will come and everything is folded."""
        while not self.is_over:
            await self.more(self.count)

    def take(self, pieces: Iterable[Piece]) -> list[Record]:
        """Decode and fold bytes of stdout, and wake the readers."""
        decoder = self._decoder.decoder or self._decoder
        records: list[Record] = []
        for data, at in pieces:
            records += decoder.feed(data, at)
        if records:
            self._add(records)
        self.ring()
        return records

    def ring(self) -> None:
        """Wake the readers: there is more, perhaps on stderr."""
        self.count += 1
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for waiter in waiting:
                if not waiter.done():
                    waiter.set_result(None)

    def close(self) -> list[Record]:
        """Close the stream: return its last records. Readers still wait for `end`."""
        records = self._decoder.close()
        if records:
            self._add(records)
            self.ring()
        return records

    def end(self) -> None:
        """End the feed: nothing more will come."""
        self.is_over = True
        self.ring()

    def answered(self, event: PermissionRequested) -> None:
        """Record that a question was answered: the stream itself does not report that."""
        self._fold.answered(event)

    def _add(self, records: list[Record]) -> None:
        is_priced = self._find_model is None or self.state.model is not None
        self._fold.take(records if is_priced else self._with_model(records))
        keep_from = None
        if self.keeps_unread and self._readers:
            keep_from = min(reader.seq for reader in self._readers)
        self._recent.add(records, keep_from=keep_from)
        if self._live:  # to look through a set that forgets takes longer than all before
            for live in self._live:
                live.offer(records)

    def _with_model(self, records: list[Record]) -> Iterator[Record]:
        """The same records; the model is looked for when they need it, as they are folded."""
        assert self._find_model is not None
        state = self.state
        for record in records:
            is_unpriced = state.model is None and isinstance(record.event, UsageReported)
            if is_unpriced and state.session is not None:
                model = self._find_model(state.session)
                if model:
                    self._fold.assume_model(model)
            yield record

    async def _records(self, seq: int) -> AsyncIterator[Record]:
        reader = _Reader(seq)
        self._readers.add(reader)
        try:
            while True:
                over, seen = self.is_over, self.count
                records = self._recent.since(reader.seq)
                if records is None:
                    log = reader.log or LogDecoder(self.open_stream("stdout"), self.agent)
                    reader.log = log
                    records = await log.next_after(reader.seq)
                for record in records:
                    yield record
                if records:
                    reader.seq = records[-1].seq + 1
                elif over:
                    return
                else:
                    await self.more(seen)
        finally:
            self._readers.discard(reader)
            if reader.log is not None:
                reader.log.close()


class StoredFeed(Feed):
    """The feed of what is stored whole: nothing drives it, and reading it never waits.

    It may be the part of a log that there is while the run `is_running`: then its end is not an
    end. What is not one log has a log of records instead (`open_records`).
    """

    def __init__(
        self,
        agent: str | None,
        open_stream: OpenStream,
        *,
        beginning: Beginning | None = None,
        label: str | None = None,
        is_running: bool = False,
        open_records: "Callable[[], RecordLog] | None" = None,
    ) -> None:
        super().__init__(agent, open_stream, beginning=beginning, label=label)
        self.is_over = self.is_stored = True
        self._is_running = is_running
        self._open_records = open_records

    def since(self, seq: int = 0) -> AsyncIterator[Record]:
        """Yield all records from this number on; fold each when its first reader gets to it."""
        return self._stored_records(seq)

    def lines(self, stream: Stream, start: int = 0) -> AsyncIterator[str]:
        """The lines of a stream that are text: all of stderr; stdout if no agent wrote it."""
        if stream == "stdout" and self.agent is None:
            return _lines(_read_bytes(self, self.open_stream(stream)), start)
        return super().lines(stream, start)

    async def ended(self) -> None:
        """Fold all records."""
        async for _ in self.since(self.state.records):
            pass

    async def _stored_records(self, seq: int) -> AsyncIterator[Record]:
        log: RecordLog
        if self._open_records is not None:
            log = self._open_records()
        else:
            log = LogDecoder(self.open_stream("stdout"), self.agent)
        try:
            while (records := log.read()) is not None:
                for record in records:
                    self._fold_once(record)
                    if record.seq >= seq:
                        yield record
        finally:
            log.close()
        for record in () if self._is_running else log.end():  # guards: running-call-not-cut
            self._fold_once(record)
            if record.seq >= seq:
                yield record

    def _fold_once(self, record: Record) -> None:
        if record.seq == self.state.records:
            self._fold.take((record,))


class RecordLog(Protocol):
    """Decodes a log from its first byte for one reader, without folding."""

    def read(self) -> list[Record] | None:
        """Decode the next records; None if there are none yet."""

    def end(self) -> list[Record]:
        """End the stream; return its last records."""

    def close(self) -> None:
        """Close the log."""


class LogDecoder:
    """Decodes a stream from its first byte for one reader, without folding."""

    def __init__(self, stream: ByteReader, agent: str | None) -> None:
        self._stream = stream
        self._decoder = StreamDecoder(agent)

    def read(self) -> list[Record] | None:
        """Decode the next bytes; None if there are none yet."""
        pieces = self._stream.read()
        if not pieces:
            return None
        return [record for data, at in pieces for record in self._decoder.feed(data, at)]

    async def next_after(self, seq: int) -> list[Record]:
        """Decode up to the next records from `seq` on; nothing if there are none yet."""
        import asyncio  # so that what never waits stays quick

        while (records := self.read()) is not None:
            if records and records[-1].seq >= seq:
                return [record for record in records if record.seq >= seq]
            await asyncio.sleep(0)
        return []

    def end(self) -> list[Record]:
        """End the stream; return its last records."""
        return self._decoder.close()

    def close(self) -> None:
        """Close the log."""
        self._stream.close()


class _Reader:
    """Position of a reader of records; with its own decoder if it ever fell behind."""

    def __init__(self, seq: int) -> None:
        self.seq = seq
        self.log: LogDecoder | None = None


class RecentRecords:
    """The last records of a feed, as many as came from some megabytes of the stream.

    All readers that keep up share them.
    """

    def __init__(self, size: int = RECENT_BYTES) -> None:
        self._size = size
        self._batches: deque[list[Record]] = deque()
        self._next = 0
        self._end = 0

    def add(self, records: list[Record], *, keep_from: int | None = None) -> None:
        """Add the next records; the oldest make room, except those from `keep_from` on."""
        if not records:
            return
        last = records[-1]
        self._next = last.seq + 1
        self._end = last.offset + last.length
        if not self._size:
            return
        batches = self._batches
        if batches and len(batches[-1]) + len(records) <= _BATCH_SIZE:
            batches[-1].extend(records)
        else:
            batches.append(records.copy())
        oldest = self._end - self._size
        while batches[0][0].offset < oldest and len(batches) > 1:  # guards: window-bounded
            if keep_from is not None and batches[1][0].seq > keep_from:
                break
            batches.popleft()

    def since(self, seq: int) -> list[Record] | None:
        """The records from a number on; None if some of them have left."""
        if seq >= self._next:
            return []
        if not self._batches or seq < self._batches[0][0].seq:
            return None
        parts: list[list[Record]] = []
        for batch in reversed(self._batches):
            first = batch[0].seq
            parts.append(batch[max(0, seq - first) :])
            if first <= seq:
                break
        return parts[0] if len(parts) == 1 else [each for part in parts[::-1] for each in part]

    def bytes_since(self, seq: int) -> int:
        """Return the bytes of the stream that the records from a number on came from."""
        for batch in self._batches:
            if seq <= batch[-1].seq:
                return self._end - batch[max(0, seq - batch[0].seq)].offset
        return 0


class LiveRecords:
    """The records from now on: when the buffer is full, new ones are dropped and counted.

    The feed does not keep it: it gets records for as long as its reader holds it.
    """

    def __init__(self, feed: Feed, buffer: int) -> None:
        self.dropped = 0
        self._feed = feed
        self._buffer = buffer
        self._records: deque[Record] = deque()

    def offer(self, records: list[Record]) -> None:
        """Add the records that fit; the others are dropped."""
        room = max(0, self._buffer - len(self._records))
        self._records.extend(records[:room])
        self.dropped += max(0, len(records) - room)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Record:
        while not self._records:
            if self._feed.is_over:
                raise StopAsyncIteration
            await self._feed.more(self._feed.count)
        return self._records.popleft()


Item = TypeVar("Item")


def iterate(items: AsyncIterator[Item]) -> Iterator[Item]:
    """Iterate without an event loop over what a stored feed yields: it never waits."""
    while True:
        try:
            items.__anext__().send(None)  # type: ignore[attr-defined]
        except StopIteration as result:
            yield result.value
        except StopAsyncIteration:
            return


async def _read_bytes(feed: Feed, reader: ByteReader) -> AsyncIterator[bytes]:
    try:
        while True:
            over, seen = feed.is_over, feed.count
            if pieces := reader.read():
                yield b"".join(data for data, _ in pieces)
            elif over:
                return
            else:
                await feed.more(seen)
    finally:
        reader.close()


async def _read_text(feed: Feed, reader: ByteReader) -> AsyncIterator[bytes]:
    """The first bytes of stdout, as far as they are known to be text."""
    size, rest = 0, b""
    try:
        while True:
            over, seen = feed.is_over, feed.count
            known = feed.text_size - size
            if len(rest) < known:
                rest += b"".join(data for data, _ in reader.read())
            if text := rest[:known]:
                size, rest = size + len(text), rest[len(text) :]
                yield text
            elif over or feed.agent is not None:
                return
            else:
                await feed.more(seen)
    finally:
        reader.close()


async def _lines(chunks: AsyncIterator[bytes], start: int) -> AsyncIterator[str]:
    """Cut bytes into lines of text, without the first `start` bytes."""
    buffer = LineBuffer()
    async for chunk in chunks:
        skipped = min(start, len(chunk))
        start -= skipped
        for line in buffer.feed(chunk[skipped:]):
            yield text_of(line)
    if (last := buffer.close()) is not None:
        yield text_of(last)
