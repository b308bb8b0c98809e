"""Decoding without blocking an event loop."""

import asyncio
import io
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

import nightrook
from nightrook.story.decode_async import AsyncSource


async def collect(source: AsyncSource, agent: str | None = None) -> list[nightrook.Record]:
    return [record async for record in nightrook.decode_async(source, agent)]


def test_it_gives_what_the_synchronous_twin_gives(session: Path) -> None:
    data = session.read_bytes()

    async def pieces() -> AsyncIterator[bytes]:
        yield data[:1234]
        yield data[1234:]

    expected = list(nightrook.decode(session))
    assert asyncio.run(collect(session)) == expected
    assert asyncio.run(collect(io.BytesIO(data))) == expected
    assert asyncio.run(collect([data[:7], data[7:]])) == expected
    assert asyncio.run(collect(pieces())) == expected
    assert asyncio.run(collect(session, "claude")) == expected


def test_a_missing_file_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(nightrook.UnreadableSourceError, match="no such file"):
        asyncio.run(collect(tmp_path / "missing"))


def test_cancelling_stops_it_and_closes_its_source(session: Path) -> None:
    closed: list[bool] = []

    async def source(started: asyncio.Event) -> AsyncIterator[bytes]:
        try:
            yield session.read_bytes()
            started.set()
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    async def main() -> None:
        started = asyncio.Event()
        task = asyncio.create_task(collect(source(started)))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert closed == [True]


def test_cancelling_while_a_silent_pipe_is_read_stops_it_and_closes_the_pipe(session: Path) -> None:
    async def main() -> None:
        reading, writing = os.pipe()
        file = os.fdopen(reading, "rb", buffering=0)
        os.write(writing, session.read_bytes()[:4000])
        records = nightrook.decode_async(file, "claude")
        first = await anext(records)
        assert first.seq == 0
        task = asyncio.ensure_future(_drain(records))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert file.closed
        os.close(writing)

    asyncio.run(main())


def test_a_pipe_is_read_to_its_end(session: Path) -> None:
    async def main() -> list[nightrook.Record]:
        reading, writing = os.pipe()
        task = asyncio.create_task(collect(os.fdopen(reading, "rb", buffering=0), "claude"))
        await asyncio.to_thread(os.write, writing, session.read_bytes())
        os.close(writing)
        return await task

    assert asyncio.run(main()) == list(nightrook.decode(session))


def test_leaving_early_closes_every_kind_of_source(session: Path) -> None:
    closed: list[str] = []

    def pieces() -> Iterator[bytes]:
        try:
            yield session.read_bytes()
            yield b"never read"
        finally:
            closed.append("iterator")

    async def main() -> None:
        file = session.open("rb")
        for source in (pieces(), file, session):
            async with aclosing(nightrook.decode_async(source)) as records:  # type: ignore[type-var]
                await anext(records)
        assert file.closed

    asyncio.run(main())
    assert closed == ["iterator"]


async def _drain(records: AsyncIterator[nightrook.Record]) -> None:
    async for _ in records:
        pass
