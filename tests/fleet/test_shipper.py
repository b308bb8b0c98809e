"""A run folder that is shipped: every byte arrives in the end, whatever happens to the server."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from nightrook.fleet import ship_run, subjects
from nightrook.fleet.connection import Address, Connection, connected
from nightrook.fleet.messages import Claimed, Ended, load
from nightrook.fleet.mirror import Mirror, Written
from nightrook.fleet.nats_server import LocalServer
from nightrook.fleet.shipper import Attempt, Shipper
from nightrook.fleet.stream_reader import JetStreamReader
from nightrook.fleet.streams import make_streams
from nightrook.store.list import find_run
from nightrook.store.run_folder import create_run
from nightrook.store.run_formats import RunInfo

ATTEMPT = Attempt("w1", "k7f3")
DATA = bytes(range(256)) * 2_000


def made(home: Path) -> Path:
    return create_run(home, RunInfo(command=["claude"], cwd="/", started_at=1.0)).path


async def mirrored(connection: Connection, home: Path) -> Path:
    """Read everything that was shipped into a folder, up to the end of the run."""
    folder = create_run(home, RunInfo(command=["claude"], cwd="/", started_at=1.0))
    reader = JetStreamReader(connection, subjects.EV, subjects.events_of("k7f3", 1))
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
            shipper = Shipper(connection, ATTEMPT, folder)
            assert shipper.behind == len(DATA) + 8
            await shipper.claim(Claimed(instance="i"))
            assert await shipper.finish(ended, 20)
            assert shipper.behind == 0
            shipper.close()
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

            shipper = Shipper(connection, ATTEMPT, folder)
            following = asyncio.create_task(shipper.follow(more, lambda: count))
            (folder / "stdout.raw").write_bytes(DATA[:1000])
            grown.set()
            while shipper.positions.get("stdout") != 1000:
                await asyncio.sleep(0.01)
            server.kill()
            (folder / "stdout.raw").write_bytes(DATA)
            grown.set()
            while shipper.problem is None:
                await asyncio.sleep(0.01)
            assert shipper.behind == len(DATA) - 1000
            await asyncio.to_thread(server.start)
            following.cancel()
            assert await shipper.finish(ended, 30)
            shipper.close()
            copy = await mirrored(connection, tmp_path / "b")
            assert (copy / "stdout.raw").read_bytes() == DATA

    asyncio.run(whole())


def test_a_full_stream_refuses_and_is_caught_up_later(server: LocalServer, tmp_path: Path) -> None:
    async def whole() -> None:
        async with connected(Address(url=server.url)) as connection:
            await make_streams(connection, max_bytes=200_000)
            folder = made(tmp_path / "a")
            (folder / "stdout.raw").write_bytes(DATA)
            shipper = Shipper(connection, ATTEMPT, folder)
            assert not await shipper.finish(ended, 1)
            assert shipper.problem == "the server stores nothing now: maximum bytes exceeded"
            config = (await connection.streams.stream_info(subjects.EV)).config
            config.max_bytes = 10_000_000
            await connection.streams.update_stream(config)
            assert await shipper.finish(ended, 20)
            shipper.close()
            copy = await mirrored(connection, tmp_path / "b")
            assert (copy / "stdout.raw").read_bytes() == DATA

    asyncio.run(whole())


def test_a_run_that_is_over_before_it_was_claimed_is_claimed_first(
    server: LocalServer, tmp_path: Path
) -> None:
    async def whole() -> list[str]:
        async with connected(Address(url=server.url, user="w1")) as connection:
            await make_streams(connection)
            run = SimpleNamespace(
                name="k7f3", folder=find_run(tmp_path / "a", made(tmp_path / "a").name)
            )
            (run.folder.path / "stdout.raw").write_bytes(DATA)
            over = asyncio.create_task(asyncio.sleep(0, result=True))
            await over
            said: list[str] = []
            await ship_run._ship_over(connection, run, over, said.append)  # type: ignore[arg-type]
            assert said == []
            reader = JetStreamReader(connection, subjects.EV, subjects.events_of("k7f3", 1))
            kinds: list[str] = []
            async for message in reader.messages():
                if message is not None:
                    kinds.append(message.subject.rpartition(".")[2])
                if kinds[-1:] == ["ended"]:
                    return kinds
        raise AssertionError

    kinds = asyncio.run(whole())
    assert (kinds[0], kinds[-1], set(kinds[1:-1])) == ("claimed", "ended", {"stdout"})


@pytest.mark.parametrize("more", [[b"2", b"3"], [b"2", b"3", b"4"]])
def test_a_message_that_is_lost_on_the_way_is_read_again(
    server: LocalServer, more: list[bytes]
) -> None:
    async def whole() -> list[bytes]:
        async with connected(Address(url=server.url)) as connection:
            await make_streams(connection)
            subject = subjects.log(*ATTEMPT, "stdout")
            await connection.publish(subject, b"1")
            reader, found = JetStreamReader(connection, subjects.EV, subject), list[bytes]()
            async for message in reader.messages():
                if message is not None:
                    found.append(message.data)
                    continue
                if found == [b"1"]:  # another one gets what was meant for the reader
                    await steal(connection, reader)
                    for each in more:
                        await connection.publish(subject, each)
                if found[-1] == more[-1]:
                    return found
        raise AssertionError

    async def steal(connection: Connection, reader: JetStreamReader) -> None:
        wanted = json.dumps({"batch": 1, "expires": 10_000_000_000}).encode()
        next_of = f"$JS.API.CONSUMER.MSG.NEXT.{subjects.EV}.{reader._consumer}"
        await connection.client.subscribe(inbox := connection.client.new_inbox())
        await connection.client.publish(next_of, wanted, inbox)
        await connection.client.flush()

    assert asyncio.run(asyncio.wait_for(whole(), 60)) == [b"1", *more]
