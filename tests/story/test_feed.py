"""A feed: any number of readers, each at its own pace, all with the same records."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from weakref import ref

import pytest

import nightrook
from nightrook.model.events import TurnStarted
from nightrook.model.fold import Beginning, fold
from nightrook.model.records import Record, dump, load
from nightrook.runs.run import Run
from nightrook.store.logs import Stream
from nightrook.store.run_folder import RunFolder
from nightrook.story.feed import Feed, RecentRecords, iterate
from nightrook.story.story import open_story
from nightrook.story.tail import Piece, Tail
from tests.process.recording import PATIENCE_S
from tests.runs.scripted import make, play

ATTACH = """
import asyncio, sys
from pathlib import Path
from nightrook.model.records import dump
from nightrook.runs.attached import AttachedRun
from nightrook.store.run_folder import RunFolder

async def main():
    attached = AttachedRun(RunFolder(Path(sys.argv[1])))
    following = asyncio.create_task(attached.follow())
    async for record in attached.feed.since(0):
        sys.stdout.buffer.write(dump(record) + b"\\n")
        sys.stdout.buffer.flush()
    await following

asyncio.run(main())
"""


class Bytes:
    """A log in memory, as one reader has it."""

    def __init__(self, pieces: list[Piece]) -> None:
        self._pieces = pieces
        self._next = 0

    def read(self) -> list[Piece]:
        new = self._pieces[self._next : self._next + 1]
        self._next += len(new)
        return new

    def close(self) -> None:
        return


class Written:
    """What an agent has written so far, and the feed of it."""

    def __init__(self, *, agent: str | None = "claude", detect: bool = False) -> None:
        self.streams: dict[Stream, list[Piece]] = {"stdout": [], "stderr": []}
        self.feed = Feed(agent, lambda stream: Bytes(self.streams[stream]), detect=detect)

    def out(self, data: bytes, at: float | None = None) -> None:
        self.streams["stdout"].append((data, at))
        self.feed.take([(data, at)])

    def err(self, data: bytes) -> None:
        self.streams["stderr"].append((data, None))
        self.feed.ring()

    def end(self) -> None:
        self.feed.close()
        self.feed.end()


async def all_of(records: AsyncIterator[Record]) -> list[Record]:
    return [record async for record in records]


def run(coroutine: object) -> None:
    asyncio.run(asyncio.wait_for(coroutine, PATIENCE_S))  # type: ignore[arg-type]


def attach(folder: Path) -> subprocess.Popen[bytes]:
    """Read a run in another process."""
    return subprocess.Popen([sys.executable, "-c", ATTACH, folder], stdout=subprocess.PIPE)


def test_ten_readers_see_the_same_records_though_two_stall_and_one_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RecentRecords.__init__, "__defaults__", (100_000,))
    seen: list[list[Record]] = []

    async def stalled(run: Run) -> list[Record]:
        """Read one record, and the others when the run is over."""
        records = run.feed.since(0)
        first = await anext(records)
        await run.feed.ended()
        return [first, *await all_of(records)]

    async def main() -> None:
        async with AsyncExitStack() as stack:
            run = await stack.enter_async_context(make(tmp_path, "flood=3000000"))
            killed, *attached = (stack.enter_context(attach(run.folder.path)) for _ in range(3))
            readers = [asyncio.create_task(all_of(run.feed.since(0))) for _ in range(5)]
            readers += [asyncio.create_task(stalled(run)) for _ in range(2)]
            assert killed.stdout is not None
            await asyncio.to_thread(killed.stdout.readline)
            os.kill(killed.pid, signal.SIGKILL)
            seen.extend(await asyncio.gather(*readers))
            for process in attached:
                out, _ = await asyncio.to_thread(process.communicate)
                seen.append([load(line) for line in out.splitlines()])
            assert (await run.wait()).status == "success"
            seen.append(list(nightrook.decode(run.folder.path / "stdout.raw")))

    run(main())
    first, *others = seen
    assert first[-1].offset > 10 * 100_000  # a stalled reader finds little of it in memory
    assert len(others) == 9
    decoded = others.pop()
    assert all([dump(one) for one in other] == [dump(one) for one in first] for other in others)
    assert [record.event for record in decoded] == [record.event for record in first]


def test_a_reader_can_start_at_any_record(session: Path) -> None:
    async def main() -> None:
        written = Written()
        written.out(session.read_bytes())
        written.end()
        everything = await all_of(written.feed.since())
        assert await all_of(written.feed.since(5)) == everything[5:]
        assert everything == list(nightrook.decode(session))
        assert written.feed.snapshot().seq == len(everything)

    run(main())


def test_a_second_reader_costs_no_copy(session: Path) -> None:
    async def main() -> None:
        written = Written()
        written.out(session.read_bytes())
        written.end()
        first, second = [await all_of(written.feed.since()) for _ in range(2)]
        assert all(one is other for one, other in zip(first, second, strict=True))

    run(main())


def test_a_reader_that_fell_behind_reads_the_log_and_then_keeps_up_again(session: Path) -> None:
    async def main() -> None:
        written = Written()
        written.feed._recent = RecentRecords(1000)
        lines = session.read_bytes().splitlines(keepends=True)
        records = written.feed.since()
        expected = list(nightrook.decode(session))
        got: list[Record] = []
        for at, line in enumerate(lines):
            written.out(line)
            if at % 20 == 0:  # the others are gone from memory meanwhile
                while len(got) < written.feed.state.records:
                    got.append(await anext(records))
        written.end()
        got += await all_of(records)
        assert got == expected

    run(main())


def test_readers_wait_for_what_comes_and_end_with_the_feed(session: Path) -> None:
    async def main() -> None:
        written = Written()
        reading = asyncio.create_task(all_of(written.feed.since()))
        ended = asyncio.create_task(written.feed.ended())
        await asyncio.sleep(0)
        for line in session.read_bytes().splitlines(keepends=True):
            written.out(line)
            await asyncio.sleep(0)
        assert not reading.done()
        assert not ended.done()
        written.end()
        assert await reading == list(nightrook.decode(session))
        await ended

    run(main())


def test_text_is_given_as_lines_up_to_the_first_message(session: Path) -> None:
    async def main() -> None:
        written = Written(agent=None, detect=True)
        lines = written.feed.lines("stdout")
        written.out(b"> ban")
        written.out(b"ner\nsecond\n{half")
        assert [await anext(lines), await anext(lines)] == ["> banner", "second"]
        written.out(b"\n" + session.read_bytes())
        assert [line async for line in lines] == ["{half"]
        assert written.feed.label == written.feed.agent == "claude"
        written.err(b"one\ntwo")
        written.end()
        assert [line async for line in written.feed.lines("stderr")] == ["one", "two"]
        assert [line async for line in written.feed.lines("stderr", 4)] == ["two"]

    run(main())


def test_text_without_a_message_is_given_to_its_last_byte() -> None:
    async def main() -> None:
        written = Written(agent=None, detect=True)
        written.out(b"one\ntwo")
        written.end()
        assert [line async for line in written.feed.lines("stdout")] == ["one", "two"]
        assert await all_of(written.feed.since()) == []
        assert b"".join([chunk async for chunk in written.feed.chunks("stdout")]) == b"one\ntwo"

    run(main())


def test_records_whose_bytes_no_log_has_are_kept_for_the_slowest_reader(session: Path) -> None:
    async def main() -> None:
        feed = Feed("claude", lambda _: Bytes([]))  # no byte can be read again
        feed.keeps_unread = True
        feed._recent = RecentRecords(1)
        slow = feed.since()
        lines = session.read_bytes().splitlines(keepends=True)
        feed.take([(lines[0], None)])
        first = await anext(slow)
        for line in lines[1:]:
            feed.take([(line, None)])
        assert feed.unread > len(session.read_bytes()) // 2
        feed.close()
        feed.end()
        assert [first, *await all_of(slow)] == list(nightrook.decode(session))
        assert feed.unread == 0

    run(main())


def test_a_stored_feed_folds_each_record_as_the_first_reader_draws_it(tmp_path: Path) -> None:
    folder = play(tmp_path, "say=hi").folder
    feed = open_story(folder).feed
    counts = [(record.seq, feed.state.records) for record in iterate(feed.since())]
    assert counts == [(seq, seq + 1) for seq, _ in counts]
    assert [record.seq for record in iterate(feed.since(2))] == [seq for seq, _ in counts[2:]]
    assert feed.label == "claude"
    assert list(iterate(feed.lines("stdout"))) == []


def test_a_stored_feed_that_ended_is_folded_whole(tmp_path: Path) -> None:
    folder = play(tmp_path, "say=hi").folder

    async def main() -> None:
        feed = open_story(RunFolder(folder.path)).feed
        await feed.ended()
        assert feed.snapshot().seq == len(await all_of(feed.since())) > 0

    run(main())


def test_a_feed_of_a_tail_has_arrival_times(tmp_path: Path) -> None:
    folder = play(tmp_path, "say=hi").folder
    records = list(iterate(open_story(folder).feed.since()))
    assert all(record.at is not None for record in records[:-1])
    with Tail(folder.path, "stdout") as tail:
        assert records[0].at == tail.read()[0][1]


def test_the_state_counts_the_lines_before_the_first_message(session: Path) -> None:
    written = Written(agent=None, detect=True)
    written.out(b"noise\n" + session.read_bytes())
    written.end()
    assert written.feed.agent == "claude"
    assert written.feed.state.unreadable == fold(nightrook.decode(session)).unreadable + 1


def test_a_model_that_the_stream_lacks_is_looked_for_when_tokens_need_it() -> None:
    lines = (
        b'{"type":"thread.started","thread_id":"t"}\n'
        b'{"type":"turn.started"}\n'
        b'{"type":"turn.completed","usage":{"input_tokens":9,"output_tokens":1}}\n'
    )
    asked: list[str] = []

    def found(session: str) -> str:
        asked.append(session)
        return "gpt-5"

    feed = Feed("codex", lambda _: Bytes([]), find_model=found)
    feed.take([(lines, None)])  # all in one piece
    assert (asked, feed.state.model) == (["t"], "gpt-5")
    assert feed.state.ledger.cost.usd
    named = Feed("codex", lambda _: Bytes([]), beginning=Beginning(model="gpt-5"), find_model=found)
    named.take([(lines, None)])
    assert asked == ["t"]
    unknown = Feed("codex", lambda _: Bytes([]), find_model=lambda session: None)
    unknown.take([(lines, None)])
    assert unknown.state.ledger.cost.usd is None


def test_live_records_are_not_kept_for_a_reader_that_has_left(session: Path) -> None:
    written = Written()
    left, reading = ref(written.feed.live()), written.feed.live(buffer=10_000)
    gc.collect()
    assert left() is None, "the feed would fill it until the run ends"
    written.out(session.read_bytes())
    written.end()

    async def main() -> None:
        assert numbers_of(await all_of(reading)) == [*range(written.feed.state.records)]

    run(main())


def test_all_who_wait_are_woken() -> None:
    async def main() -> None:
        feed = Written().feed
        waiting = [asyncio.create_task(feed.more(0)) for _ in range(3)]
        await asyncio.sleep(0)
        feed.ring()
        await asyncio.gather(*waiting)

    run(main())


def test_who_comes_late_does_not_wait_for_what_was_told() -> None:
    async def main() -> None:
        feed = Written().feed
        feed.ring()
        await feed.more(0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(feed.more(feed.count), 0.01)

    run(main())


def test_nobody_waits_when_it_is_over() -> None:
    async def main() -> None:
        feed = Written().feed
        waiting = asyncio.create_task(feed.more(0))
        await asyncio.sleep(0)
        feed.end()
        await waiting
        await feed.more(feed.count)

    run(main())


def test_one_who_was_cancelled_does_not_keep_the_others() -> None:
    async def main() -> None:
        feed = Written().feed
        gone, other = (asyncio.create_task(feed.more(0)) for _ in range(2))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        feed.ring()
        await other

    run(main())


def batch(first: int, count: int, length: int = 10) -> list[Record]:
    return [Record(n, None, n * length, length, TurnStarted()) for n in range(first, first + count)]


def numbers_of(records: list[Record] | None) -> list[int] | None:
    return None if records is None else [record.seq for record in records]


def test_records_are_given_from_a_number_on() -> None:
    recent = RecentRecords()
    assert recent.since(0) == []
    recent.add([])
    recent.add(batch(0, 3))
    recent.add(batch(3, 1000))
    recent.add(batch(1003, 2))
    assert numbers_of(recent.since(0)) == [*range(1005)]
    assert numbers_of(recent.since(2)) == [*range(2, 1005)]
    assert numbers_of(recent.since(3)) == [*range(3, 1005)]
    assert numbers_of(recent.since(1004)) == [1004]
    assert numbers_of(recent.since(1005)) == []


def test_what_was_given_does_not_grow() -> None:
    recent = RecentRecords()
    mine = batch(0, 2)
    recent.add(mine)
    given = recent.since(0)
    recent.add(batch(2, 1))
    assert numbers_of(mine) == numbers_of(given) == [0, 1]


def test_the_oldest_make_room_and_who_wanted_them_is_told() -> None:
    recent = RecentRecords(size=6000)
    for first in range(0, 1200, 300):
        recent.add(batch(first, 300))
    assert recent.since(599) is None
    assert numbers_of(recent.since(600)) == [*range(600, 1200)]


def test_what_is_kept_does_not_grow_with_the_stream() -> None:
    recent = RecentRecords(size=6000)
    for n in range(10_000):
        recent.add(batch(n, 1))
    assert recent.since(9399) is None
    assert numbers_of(recent.since(9900)) == [*range(9900, 10_000)]


def test_the_last_batch_is_kept_however_large_it_is() -> None:
    recent = RecentRecords(size=1)
    recent.add(batch(0, 3))
    assert numbers_of(recent.since(0)) == [0, 1, 2]


def test_records_from_a_number_on_can_be_kept_however_old(  # when no log has their bytes
) -> None:
    recent = RecentRecords(size=6000)
    for first in range(0, 3000, 300):
        recent.add(batch(first, 300), keep_from=100)
    assert numbers_of(recent.since(100)) == [*range(100, 3000)]
    assert recent.bytes_since(100) == 2900 * 10
    recent.add(batch(3000, 300), keep_from=2999)
    assert recent.since(100) is None
    assert recent.bytes_since(3300) == 0
