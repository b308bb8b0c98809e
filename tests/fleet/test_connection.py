"""A connection that the server drops without a word is made again, and leaves nothing open."""

import asyncio
import gc
from asyncio import StreamReader, StreamWriter
from contextlib import suppress

import pytest

from nightrook.fleet import connection
from nightrook.fleet.connection import Address, connected
from nightrook.fleet.nats_server import LocalServer


class Doorkeeper:
    """Listens in front of a server; those who come while it is deaf get no answer."""

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._writers: list[StreamWriter] = []
        self.deaf = 0
        self.tries = 0

    async def meet(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Pass on what a client and the server send each other."""
        self._writers.append(writer)
        self.tries += 1
        if self.deaf:
            self.deaf -= 1
            return
        there, back = await asyncio.open_connection("127.0.0.1", self._server_port)
        self._writers.append(back)
        await asyncio.gather(_pass_on(reader, back), _pass_on(there, writer))

    def drop(self) -> None:
        """Drop all connections."""
        for writer in self._writers:
            writer.close()


async def _pass_on(reader: StreamReader, writer: StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
    writer.close()


def test_a_server_that_does_not_answer_is_asked_again_and_no_socket_stays_open(
    server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_CONNECT_S", 1.0)
    door = Doorkeeper(server.port or 0)

    async def whole() -> None:
        async with await asyncio.start_server(door.meet, "127.0.0.1", 0) as listening:
            url = f"nats://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
            door.deaf = 1
            async with connected(Address(url=url), patience_s=0) as made:
                assert door.tries == 2
                door.deaf = 1
                await made.renew()
                while not made.is_up:
                    await asyncio.sleep(0.01)
                assert door.tries == 4
            door.drop()
            await asyncio.sleep(0)

    asyncio.run(whole())
    gc.collect()  # what is left open is a warning, and warnings are errors
