"""Following a run while its logs grow: all it wrote, in turns, whoever wakes the follower."""

import ast
import asyncio
from pathlib import Path

import pytest

from nightrook.store.run_folder import RunFolder
from nightrook.story.follow import LogFollower, RunFollower
from nightrook.story.story import growing_story
from nightrook.story.tail import Piece
from tests.conftest import SESSION
from tests.process.recording import PATIENCE_S, python, start
from tests.runs.folders import live
from tests.runs.scripted import play
from tests.store.samples import append

SOURCE = Path(__file__).parent.parent.parent / "src" / "nightrook"


def follow(folder: Path, code: str, take: object = None, tick: object = None) -> bytes:
    """Follow a piece of Python to its end; give what was handed on of its stdout."""
    got: list[bytes] = []

    async def main() -> None:
        recorder = start(folder, python(code))
        taker = take or (lambda pieces: got.extend(data for data, _ in pieces))
        logs = LogFollower(RunFolder(folder), {"stdout": taker})  # type: ignore[dict-item]
        try:
            async with asyncio.timeout(30):
                await logs.listen(recorder, tick or (lambda: None))  # type: ignore[arg-type]
            while logs.read():
                pass
        finally:
            logs.close()
            await asyncio.to_thread(recorder.close)

    asyncio.run(main())
    return b"".join(got)


def test_everything_is_handed_on_in_order(tmp_path: Path) -> None:
    code = "import sys\nfor n in range(200_000): sys.stdout.write(f'{n}\\n')"
    expected = "".join(f"{n}\n" for n in range(200_000)).encode()
    assert follow(tmp_path, code) == expected


def test_what_a_taker_raises_ends_the_following(tmp_path: Path) -> None:
    def broken(pieces: list[Piece]) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        follow(tmp_path, "import time; print(1, flush=True); time.sleep(60)", broken)


def test_time_is_kept_while_nothing_is_written(tmp_path: Path) -> None:
    ticks: list[None] = []

    def tick() -> None:
        ticks.append(None)
        if len(ticks) == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        follow(tmp_path, "import time; time.sleep(60)", tick=tick)


class Followed:
    """A run that a test writes, and its follower."""

    def __init__(self, home: Path) -> None:
        self.folder = live(home, 0, loop=None)
        append(self.folder, "stdout", b"")
        info = self.folder.info()
        assert info is not None
        self.follower = RunFollower(growing_story(self.folder, info))
        self.size = 0

    def write(self, data: bytes, *, timed: bool = True) -> None:
        append(self.folder, "stdout", data)
        if timed:
            append(self.folder, "arrivals", b"1.000000 o %d %d\n" % (self.size, len(data)))
        self.size += len(data)


def test_a_wake_up_that_is_doubled_or_too_early_changes_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        run = Followed(tmp_path)
        lines = SESSION.read_bytes().splitlines(keepends=True)
        for _ in range(3):
            run.follower.wake()
        await run.follower.caught_up()
        assert run.follower.story.state.records == 0
        for line in lines:
            run.write(line)
            run.follower.wake()
            run.follower.wake()
            await run.follower.caught_up()
        assert run.follower.position.stdout == run.size
        seqs = [record.seq async for record in _first(run.follower)]
        assert seqs == [*range(run.follower.story.state.records)]

    asyncio.run(asyncio.wait_for(main(), PATIENCE_S))


async def _first(follower: RunFollower):  # type: ignore[no-untyped-def]
    async for record in follower.story.feed.since(0):
        yield record
        if record.seq + 1 == follower.story.state.records:
            return


def test_bytes_that_nothing_has_reported_yet_are_left_for_later(tmp_path: Path) -> None:
    run = Followed(tmp_path)
    run.write(SESSION.read_bytes(), timed=False)
    assert run.follower.read() == []
    append(run.folder, "arrivals", b"1.000000 o 0 %d\n" % run.size)
    assert run.follower.read()


def test_reading_without_an_event_loop_returns_what_is_new_and_then_the_end(tmp_path: Path) -> None:
    folder = play(tmp_path, "say=hi").folder
    info = folder.info()
    assert info is not None
    follower = RunFollower(growing_story(folder, info))
    records = follower.read()
    assert [record.seq for record in records] == [*range(len(records))]
    assert follower.is_complete
    assert follower.verdict == folder.verdict()
    assert follower.read() == []


def test_a_log_that_was_changed_behind_its_recorder_is_noticed(tmp_path: Path) -> None:
    folder = play(tmp_path, "say=hi").folder
    log, info = folder.path / "stdout.raw", folder.info()
    assert info is not None
    log.write_bytes(log.read_bytes().replace(b"hi", b"ho"))
    follower = RunFollower(growing_story(folder, info))
    follower.read()
    assert follower.verdict is not None
    assert follower.verdict.status == "incomplete"
    assert follower.verdict.tampered == "stdout.raw is not what the recorder wrote"


def test_whoever_writes_the_folder_wakes_the_follower_and_no_timer_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        run = Followed(tmp_path)
        run.follower.is_pushed = True
        reads: list[None] = []
        step = run.follower._step

        def counted() -> bool:
            reads.append(None)
            return step()

        monkeypatch.setattr(run.follower, "_step", counted)
        following = asyncio.create_task(run.follower.follow())
        await asyncio.sleep(0.3)
        assert len(reads) == 1
        run.write(SESSION.read_bytes())
        run.follower.wake()
        await asyncio.sleep(0.3)
        assert run.follower.position.stdout == run.size
        assert len(reads) <= 4
        following.cancel()
        await asyncio.wait([following])

    asyncio.run(asyncio.wait_for(main(), PATIENCE_S))


def test_following_a_folder_that_grows_stands_in_one_place() -> None:
    """Nothing else reads on in a log: other modules open it for a reader that comes later."""
    reads_on = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and any(word.arg == "timed" for word in node.keywords):
                reads_on.add(path.relative_to(SOURCE).as_posix())
    assert reads_on == {"story/follow.py"}
    takes = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name | ast.Attribute)
        and getattr(node.func, "id", getattr(node.func, "attr", "")) in ("Tail", "LogFollower")
    }
    assert takes == {
        "story/follow.py",
        "story/tail.py",  # a log that is read once, to its present end
        "runs/pipe.py",  # for a slow reader of what this process has written itself
        "runs/run.py",  # for a slow reader of a feed
        "runs/supervisor.py",
    }
