"""A feed: what one run has written, decoded, for any number of readers."""

from collections.abc import AsyncIterator, Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from nightrook.adapter.lines import LineBuffer
from nightrook.model.records import Record
from nightrook.model.snapshot import Snapshot
from nightrook.model.state import RunState
from nightrook.store.logs import Stream
from nightrook.story.bell import Bell
from nightrook.story.source import Source, StreamDecoder, text_of
from nightrook.story.tail import Piece
from nightrook.story.window import Window

if TYPE_CHECKING:
    from nightrook.story.live_records import LiveRecords


class ByteReader(Protocol):
    """Reads what a stream has, from its first byte, without waiting."""

    def read(self) -> list[Piece]:
        """Read the next bytes; nothing if there are none yet."""

    def close(self) -> None:
        """Close it."""


class RecordLog(Protocol):
    """Decodes a log from its first byte for one reader, without folding."""

    def read(self) -> list[Record] | None:
        """Decode more; None if there is nothing more yet."""

    def end(self) -> list[Record]:
        """End the stream; return its last records."""

    def close(self) -> None:
        """Close the log."""


class Position(NamedTuple):
    """A point in a feed: the number of the next record, and bytes of each stream before it."""

    seq: int = 0
    stdout: int = 0
    stderr: int = 0


START = Position()

OpenStream = Callable[[Stream], ByteReader]


class Feed:
    """The records and the text of one run, for readers that each go at their own pace.

    Readers that keep up share the last records in memory. A reader that falls behind decodes the
    log on its own, so a slow reader costs neither memory nor time of others. Whatever has the
    bytes (a recorder, a folder, a pipe) drives the feed by `take`, `ring`, `close` and `end`.
    A feed that is `complete` needs no driver: the state follows the reader that is furthest. It
    may be the part of a log that there is while the run `is_running`: then its end is not an end.
    What is not one log, but is `complete`, has a log of records instead (`open_records`).
    """

    def __init__(
        self,
        source: Source,
        open_stream: OpenStream,
        *,
        label: str | None = None,
        complete: bool = False,
        is_running: bool = False,
        open_records: Callable[[], RecordLog] | None = None,
    ) -> None:
        self.source = source
        self.keeps_unread = False
        """Whether records stay in memory until read, because the log lacks their bytes."""
        self.open_stream = open_stream
        """Opens a stream from its first byte."""
        self._open_records = open_records
        self._label = label
        self._window = Window()
        self._bell = Bell()
        self._live: list[LiveRecords] = []
        self._readers: set[_Reader] = set()
        self._complete = complete
        self._is_running = is_running
        self._bell.ended = complete

    @property
    def agent(self) -> str | None:
        """The name of the agent, once it is known."""
        return self.source.agent

    @property
    def label(self) -> str | None:
        """What the agent's lines begin with, once it is known."""
        return self._label or self.source.agent

    @property
    def state(self) -> RunState:
        """The state after all records so far; for use on the event loop's thread only."""
        return self.source.state

    def snapshot(self) -> Snapshot:
        """A frozen copy of the state, for other threads, the wire and screens."""
        return self.source.state.snapshot()

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self._bell.ended

    @property
    def count(self) -> int:
        """How often there was more to read."""
        return self._bell.count

    @property
    def unread(self) -> int:
        """Bytes whose records are in memory only because a reader has not read them."""
        if not self.keeps_unread or not self._readers:
            return 0
        return self._window.bytes_since(min(reader.seq for reader in self._readers))

    def since(self, seq: int = 0) -> AsyncIterator[Record]:
        """All records from this number on, as they come, up to the end of the run."""
        if self._complete:
            log = self._open_records() if self._open_records else _log_decoder(self)
            return _stored_records(self, log, seq, ends=not self._is_running)
        return self._records(seq)

    def live(self, buffer: int = 256) -> "LiveRecords":
        """The records from now on; those that do not fit the buffer are dropped and counted."""
        from nightrook.story.live_records import LiveRecords  # so that what never waits stays quick

        live = LiveRecords(buffer)
        if self.is_over:
            live.end()
        self._live.append(live)
        return live

    def chunks(self, stream: Stream) -> AsyncIterator[bytes]:
        """The bytes of a stream as they come."""
        return _read_bytes(self, self.open_stream(stream))

    def lines(self, stream: Stream, start: int = 0) -> AsyncIterator[str]:
        """The lines of a stream that are text: all of stderr; stdout up to the first message.

        The first `start` bytes are left out.
        """
        is_text = stream == "stderr" or (self._complete and self.agent is None)
        read = _read_bytes if is_text else _read_text
        return _lines(read(self, self.open_stream(stream)), start)

    async def more(self, seen: int) -> None:
        """Wait until the count is greater than `seen`, or nothing more will come."""
        await self._bell.wait(seen)

    async def ended(self) -> None:
        """Wait until nothing more will come and everything is folded."""
        if self._complete:
            async for _ in self.since(self.state.records):
                pass
        while not self.is_over:
            await self._bell.wait(self._bell.count)

    def take(self, pieces: Iterable[Piece]) -> list[Record]:
        """Decode and fold what was written to stdout, and wake the readers."""
        records: list[Record] = []
        for data, at in pieces:
            records += self.source.feed(data, at)
        self._add(records)
        self._bell.ring()
        return records

    def ring(self) -> None:
        """Wake the readers: there is more on stderr."""
        self._bell.ring()

    def close(self) -> list[Record]:
        """Close the stream: return its last records. Readers still wait for `end`."""
        records = self.source.close()
        if records:
            self._add(records)
            self._bell.ring()
        return records

    def end(self) -> None:
        """End the feed: nothing more will come."""
        for live in self._live:
            live.end()
        self._bell.end()

    def _add(self, records: list[Record]) -> None:
        keep_from = None
        if self.keeps_unread and self._readers:
            keep_from = min(reader.seq for reader in self._readers)
        self._window.add(records, keep_from=keep_from)
        for live in self._live:
            live.offer(records)

    async def _records(self, seq: int) -> AsyncIterator[Record]:
        reader = _Reader(seq)
        self._readers.add(reader)
        try:
            while True:
                over, seen = self.is_over, self.count
                records = self._window.since(reader.seq)
                if records is None:
                    log = reader.log or _log_decoder(self)
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


class _Reader:
    """Where a reader of records is; if it ever fell behind, it has a decoder of its own."""

    def __init__(self, seq: int) -> None:
        self.seq = seq
        self.log: _LogDecoder | None = None


class _LogDecoder:
    """Decodes a log from its first byte for one reader, without folding."""

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


def _log_decoder(feed: Feed) -> _LogDecoder:
    return _LogDecoder(feed.open_stream("stdout"), feed.agent)


async def _stored_records(
    feed: Feed, log: RecordLog, seq: int, *, ends: bool
) -> AsyncIterator[Record]:
    """The records of a complete log; each is folded when its first reader gets to it."""
    try:
        while (records := log.read()) is not None:
            for record in records:
                feed.source.fold(record)
                if record.seq >= seq:
                    yield record
    finally:
        log.close()
    for record in log.end() if ends else ():
        feed.source.fold(record)
        if record.seq >= seq:
            yield record


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
            known = feed.source.text_size - size
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
