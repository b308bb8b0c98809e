"""The folder of a fleet: private, complete, and changed while the server runs."""

import asyncio
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import nats.errors
import pytest

from nightrook.fleet.accounts import folder, members
from nightrook.fleet.accounts.folder import Listening
from nightrook.fleet.accounts.reload import reload_server
from nightrook.fleet.connection import FleetError
from nightrook.fleet.nats_server import LocalServer
from nightrook.model.errors import NightrookError
from tests.fleet.accounts.conftest import LOCAL
from tests.fleet.accounts.fleet import Fleet, free_local, mode, refusal
from tests.rules import each

pytestmark = pytest.mark.usefixtures("readable_again")

ABROAD = Listening("0.0.0.0", 4222, "127.0.0.1")


async def _beat(fleet: Fleet, worker: str) -> bool:
    """Connect and beat until a beat arrives: what connects during a reload may reach nothing."""
    while True:
        with suppress(FleetError, nats.errors.Error):
            async with (
                fleet.connected("boss") as boss,
                fleet.connected(f"worker-{worker}") as connection,
            ):
                beats = await boss.subscribe(f"beat.{worker}")
                await boss.flush(2)
                await connection.publish(f"beat.{worker}", b"{}")
                return (await beats.next_msg(timeout=1)).data == b"{}"


def _started(path: Path) -> LocalServer:
    return LocalServer(path, configuration=path / "server.conf", port=members.load(path).port)


def test_every_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        folder.create(tmp_path / "fleet", ABROAD)
        folder.add_worker(tmp_path / "fleet", "ada", labels=("any",), agents=("claude",))
    finally:
        os.umask(old)
    made = list((tmp_path / "fleet").rglob("*"))
    assert {str(path.relative_to(tmp_path / "fleet")): oct(mode(path)) for path in made} == {
        "credentials": "0o700",
        "credentials/boss.json": "0o600",
        "credentials/viewer.json": "0o600",
        "credentials/worker-ada.json": "0o600",
        "members.json": "0o600",
        "lock": "0o600",
        "server.conf": "0o600",
        "tls": "0o700",
        "tls/ca.pem": "0o600",
        "tls/server.key": "0o600",
        "tls/server.pem": "0o600",
    }


def test_the_servers_file_has_no_seed(tmp_path: Path) -> None:
    folder.create(tmp_path, LOCAL)
    place, _ = folder.add_worker(tmp_path, "ada", labels=("any",), agents=("claude",))
    seed = Fleet(tmp_path, LocalServer(tmp_path)).credentials("worker-ada").seed
    assert seed in place.read_text()
    assert seed not in (tmp_path / "server.conf").read_text()
    assert seed not in (tmp_path / "members.json").read_text()


def test_a_worker_that_is_added_is_known_to_the_running_server(tmp_path: Path) -> None:
    folder.create(tmp_path, free_local())
    with _started(tmp_path) as server:
        for name in ("ada", "bob"):
            assert folder.add_worker(tmp_path, name, labels=("any",), agents=("claude",))[1]
            assert asyncio.run(asyncio.wait_for(_beat(Fleet(tmp_path, server), name), 30))


def test_a_worker_that_is_removed_loses_its_connection_and_cannot_come_back(
    tmp_path: Path,
) -> None:
    folder.create(tmp_path, LOCAL)
    folder.add_worker(tmp_path, "ada", labels=("any",), agents=("claude",))
    folder.add_worker(tmp_path, "bob", labels=("any",), agents=("claude",))

    async def remove(fleet: Fleet) -> None:
        address = fleet.address("worker-ada")
        async with fleet.connected("worker-bob") as bob, fleet.connected("worker-ada") as ada:
            assert folder.remove_worker(tmp_path, "ada")
            async with asyncio.timeout(30):
                while ada.is_connected:
                    await asyncio.sleep(0.01)
            assert bob.is_connected
            assert await asyncio.wait_for(_beat(fleet, "bob"), 30)
        assert "does not let 'ada' in" in str(await refusal(address))

    with _started(tmp_path) as server:
        asyncio.run(remove(Fleet(tmp_path, server)))
    assert not (tmp_path / "credentials" / "worker-ada.json").exists()


def test_other_machines_get_tls_and_only_the_fleets_authority_is_trusted(tmp_path: Path) -> None:
    folder.create(tmp_path / "one", ABROAD)
    folder.create(tmp_path / "two", ABROAD)

    async def check(fleet: Fleet, other: Fleet) -> None:
        address = replace(fleet.address("boss"), url=fleet.server.url.replace("nats:", "tls:"))
        assert await refusal(address) is None
        wrong = replace(address, authority=other.address("boss").authority)
        assert "certificate verify failed" in str(await refusal(wrong))

    with LocalServer(tmp_path / "one", configuration=tmp_path / "one" / "server.conf") as server:
        asyncio.run(check(Fleet(tmp_path / "one", server), Fleet(tmp_path / "two", server)))


def test_a_second_fleet_in_a_folder_is_refused(tmp_path: Path) -> None:
    folder.create(tmp_path, LOCAL)
    before = (tmp_path / "server.conf").read_bytes()
    with pytest.raises(NightrookError, match="has a fleet already"):
        folder.create(tmp_path, LOCAL)
    assert (tmp_path / "server.conf").read_bytes() == before


@each("name", ["", "a.b", "*", "boss", "viewer", "ada", 'x"}', "a" * 65])
def test_a_worker_with_a_bad_or_taken_name_is_refused(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("fleet")
    folder.create(path, LOCAL)
    folder.add_worker(path, "ada", labels=("any",), agents=("claude",))
    before = (path / "server.conf").read_bytes()
    with pytest.raises(NightrookError):
        folder.add_worker(path, name, labels=("any",), agents=("claude",))
    assert (path / "server.conf").read_bytes() == before


@each("host", ["", "a b", 'a"', "-a", "a,b", "a\nb", "a" * 300])
def test_a_host_that_is_not_one_is_refused(
    host: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("fleet")
    with pytest.raises(NightrookError):
        folder.create(path, Listening("127.0.0.1", 4222, host))
    assert not list(path.iterdir())


def test_an_address_to_which_no_client_can_connect_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NightrookError, match="--address"):
        folder.create(tmp_path, Listening("0.0.0.0", 4222, "0.0.0.0"))


def test_a_folder_without_a_fleet_stays_as_it_is(tmp_path: Path) -> None:
    for action in (
        lambda: folder.add_worker(tmp_path, "ada", labels=("any",), agents=("claude",)),
        lambda: folder.remove_worker(tmp_path, "ada"),
    ):
        with pytest.raises(NightrookError, match="not the folder of a fleet"):
            action()
    assert not list(tmp_path.iterdir())


def test_a_damaged_list_of_members_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    (tmp_path / members.FILE).write_text("{")
    with pytest.raises(NightrookError, match=r"members\.json is damaged"):
        members.load(tmp_path)


def test_a_process_that_is_not_the_server_gets_no_signal(tmp_path: Path) -> None:
    folder.create(tmp_path, LOCAL)
    other = subprocess.Popen([sys.executable, "-I", "-c", "input()"], stdin=subprocess.PIPE)
    (tmp_path / "server.pid").write_text(str(other.pid))
    is_sent = reload_server(tmp_path)
    other.communicate(b"\n")
    assert (is_sent, other.returncode) == (False, 0)
