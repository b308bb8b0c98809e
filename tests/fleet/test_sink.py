"""A run folder that is shipped: every byte arrives in the end, whatever happens to the server."""

import asyncio
from pathlib import Path

from rookery.fleet import subjects
from rookery.fleet.connection import Address, Connection, connected
from rookery.fleet.messages import Claimed, Ended, load
from rookery.fleet.mirror import Mirror, Written
from rookery.fleet.reader import Reader
from rookery.fleet.server import LocalServer
from rookery.fleet.sink import Attempt, Sink
from rookery.fleet.streams import make_streams
from rookery.store import runs
from rookery.store.run_formats import RunInfo

ATTEMPT = Attempt("w1", "k7f3")
DATA = bytes(range(256)) * 2_000


def made(home: Path) -> Path:
    return runs.create(home, RunInfo(command=["claude"], cwd="/", started_at=1.0)).path


async def mirrored(connection: Connection, home: Path) -> Path:
    """Read everything that was shipped into a folder, up to the end of the run."""
    folder = runs.create(home, RunInfo(command=["claude"], cwd="/", started_at=1.0))
    reader = Reader(connection, subjects.EV, subjects.events_of("k7f3", 1))
    with Mirror(folder) as mirror:
        async for message in reader.messages():
            if message is None:
                continue
            found = subjects.read_event(message.subject)
            assert found is not None
            if found.what == "claimed" or found.what == "started":
                continue
            if found.what == "ended":
                ended: Ended = load(message.data, Ended)
                assert mirror.has(dict(ended.sizes))
                return folder.path
            offset = int(message.headers[subjects.OFFSET])
            assert mirror.write(found.what, offset, message.data) is not Written.REFUSED
    raise AssertionError


def ended(sizes: dict[str, int]) -> Ended:
    return Ended(sizes=sizes)


def test_a_folder_arrives_byte_for_byte(server: LocalServer, tmp_path: Path) -> None:
    async def whole() -> None:
        async with connected(Address(url=server.url)) as connection:
            await make_streams(connection)
            folder = made(tmp_path / "a")
            (folder / "stdout.raw").write_bytes(DATA)
            (folder / "stderr.raw").write_bytes(b"warning\n")
            sink = Sink(connection, ATTEMPT, folder)
            assert sink.behind == len(DATA) + 8
            await sink.claim(Claimed(instance="i"))
            assert await sink.finish(ended, 20)
            assert sink.behind == 0
            sink.close()
            copy = await mirrored(connection, tmp_path / "b")
            assert (copy / "stdout.raw").read_bytes() == DATA
            assert (copy / "stderr.raw").read_bytes() == b"warning\n"

    asyncio.run(whole())


def test_a_sink_ships_what_grows_and_survives_a_killed_server(
    server: LocalServer, tmp_path: Path
) -> None:
    async def whole() -> None:
        async with connected(Address(url=server.url)) as connection:
            await make_streams(connection)
            folder = made(tmp_path / "a")
            grown, count = asyncio.Event(), 0

            async def more(_: int) -> None:
                await grown.wait()
                grown.clear()

            sink = Sink(connection, ATTEMPT, folder)
            following = asyncio.create_task(sink.follow(more, lambda: count))
            (folder / "stdout.raw").write_bytes(DATA[:1000])
            grown.set()
            while sink.positions.get("stdout") != 1000:
                await asyncio.sleep(0.01)
            server.kill()
            (folder / "stdout.raw").write_bytes(DATA)
            grown.set()
            while sink.problem is None:
                await asyncio.sleep(0.01)
            assert sink.behind == len(DATA) - 1000
            await asyncio.to_thread(server.start)
            following.cancel()
            assert await sink.finish(ended, 30)
            sink.close()
            copy = await mirrored(connection, tmp_path / "b")
            assert (copy / "stdout.raw").read_bytes() == DATA

    asyncio.run(whole())


def test_a_full_stream_refuses_and_is_caught_up_later(server: LocalServer, tmp_path: Path) -> None:
    async def whole() -> None:
        async with connected(Address(url=server.url)) as connection:
            await make_streams(connection, max_bytes=200_000)
            folder = made(tmp_path / "a")
            (folder / "stdout.raw").write_bytes(DATA)
            sink = Sink(connection, ATTEMPT, folder)
            assert not await sink.finish(ended, 1)
            assert sink.problem == "the server stores nothing now: maximum bytes exceeded"
            config = (await connection.streams.stream_info(subjects.EV)).config
            config.max_bytes = 10_000_000
            await connection.streams.update_stream(config)
            assert await sink.finish(ended, 20)
            sink.close()
            copy = await mirrored(connection, tmp_path / "b")
            assert (copy / "stdout.raw").read_bytes() == DATA

    asyncio.run(whole())
