"""A viewer reads what there is and what comes, without a consumer."""

import asyncio

import pytest

from nightrook.fleet.connection import connected
from nightrook.fleet.stream_reader import JetStreamReader
from nightrook.fleet.streams import make_streams
from tests.fleet.accounts.fleet import Fleet

pytestmark = pytest.mark.usefixtures("readable_again")


def test_a_viewer_reads_every_message_in_order_across_requests(fleet: Fleet) -> None:
    async def read() -> tuple[list[bytes], int]:
        async with (
            connected(fleet.address("boss")) as boss,
            connected(fleet.address("viewer")) as viewer,
        ):
            await make_streams(boss)
            for number in range(300):  # more than one request returns
                await boss.publish("ev.ada.run.1.stdout", b"%d" % number)
                await boss.publish("ev.bob.run.1.stdout", b"not asked for")
            messages: list[bytes] = []
            async for message in JetStreamReader(viewer, "EV", "ev.ada.>").messages():
                if message is not None:
                    messages.append(message.data)
                elif len(messages) == 300:
                    await boss.publish("ev.ada.run.1.stdout", b"later")
                if len(messages) > 300:
                    break
            info = await boss.streams.stream_info("EV")
            return messages, info.state.consumer_count

    messages, consumers = asyncio.run(asyncio.wait_for(read(), 30))
    assert messages[:301] == [*(b"%d" % number for number in range(300)), b"later"]
    assert consumers == 0
