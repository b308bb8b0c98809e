"""The writer beside the event loop: everything in order, and a stalled reader stalls nobody."""

import asyncio
import threading
import time

import pytest

from nightrook.cli.terminal.writer import Writer


def test_everything_is_written_in_order_and_in_few_calls() -> None:
    calls: list[list[str]] = []

    async def write() -> None:
        async with Writer(calls.append) as out:
            for n in range(5000):
                await out.put([f"{n}"])

    asyncio.run(write())
    assert [piece for call in calls for piece in call] == [str(n) for n in range(5000)]
    assert len(calls) < 100


def test_only_the_last_frame_is_drawn_and_after_the_lines() -> None:
    seen: list[object] = []

    async def write() -> None:
        async with Writer(seen.append) as out:
            out.frame(lambda: seen.append("early"))
            await out.put(["line"])
            out.frame(lambda: seen.append("late"))

    asyncio.run(write())
    assert seen == [["line"], "late"]


def test_a_stalled_reader_stops_who_writes_but_not_the_loop() -> None:
    gate = threading.Event()

    def stall(pieces: list[str]) -> None:
        gate.wait(30)

    async def write() -> bool:
        async with Writer(stall) as out:
            writing = asyncio.create_task(fill(out))
            for _ in range(200):
                await asyncio.sleep(0)
            stalled = not writing.done()
            gate.set()
            await writing
        return stalled

    async def fill(out: Writer[str]) -> None:
        for _ in range(100):
            await out.put(["x" * 100_000])

    assert asyncio.run(write())


def test_an_error_in_writing_reaches_who_writes() -> None:
    def broken(pieces: list[str]) -> None:
        raise BrokenPipeError

    async def write() -> None:
        async with Writer(broken) as out:
            for _ in range(1000):
                await out.put(["x"])
                await asyncio.sleep(0.001)

    with pytest.raises(BrokenPipeError):
        asyncio.run(write())


def test_what_was_put_can_be_waited_for() -> None:
    async def whole() -> list[str]:
        seen: list[str] = []

        def put(lines: list[str]) -> None:
            time.sleep(0.05)  # a slow screen
            seen.extend(lines)

        async with Writer(put) as out:
            await out.put(["one"])
            await out.put(["two"])
            await out.written()
            return list(seen)

    assert asyncio.run(whole()) == ["one", "two"]
