"""Makes the server on this machine read its file again, so that members come and go at once."""

import asyncio
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import nats.errors

from nightrook.fleet.accounts import members
from nightrook.fleet.accounts.credentials import Credentials
from nightrook.fleet.accounts.server_file import PID_FILE
from nightrook.fleet.connection import FleetError, connected
from nightrook.fleet.subjects import EV, log
from nightrook.model.errors import NightrookError
from nightrook.process.systems.this_system import system
from nightrook.store.files import Folder

if TYPE_CHECKING:
    from nats.aio.msg import Msg

_SERVER = "nats-server"
_PATIENCE_S = 60.0
_FLUSH_S = 2
_LOOK_S = 0.2


def reload_server(path: Path) -> bool:
    """Ask the server of this fleet to read its file again; False if none runs on this machine."""
    with Folder.made(path) as folder:
        pid = (folder.read(PID_FILE) or b"").strip()
    if not pid.isdigit():
        return False
    process = system.stat(int(pid))
    # guards: only-the-server-signalled
    if process is None or not process.is_alive or process.name != _SERVER:
        return False  # the number of a server that has ended may be another's now
    os.kill(int(pid), signal.SIGHUP)
    return True


def introduce(path: Path, boss: Credentials, newcomer: Credentials) -> bool:
    """Make the server accept a new worker; False if no server runs on this machine.

    nats-server 2.15 connects the imports of an account that a reload added only at the next one, so
    it is reloaded until a request of the newcomer arrives.
    """
    if not reload_server(path):
        return False
    url = members.load(path).local_url
    here = [msgspec.structs.replace(member, server=url) for member in (boss, newcomer)]
    try:
        asyncio.run(asyncio.wait_for(_until_known(path, *here), _PATIENCE_S))
    except TimeoutError:
        raise NightrookError(
            f"the server does not know {newcomer.name}: see its log, or start it again"
        ) from None
    return True


async def _until_known(path: Path, boss: Credentials, newcomer: Credentials) -> None:
    while not await _is_answered(boss, newcomer):
        reload_server(path)
        await asyncio.sleep(_LOOK_S)


async def _is_answered(boss: Credentials, newcomer: Credentials) -> bool:
    """Return whether a request of the newcomer reaches the boss.

    Both connect again each time: a connection that is made while the server reloads its file may be
    dropped by the server without a word.
    """
    # A worker may read its own logs. There is none of this name, and the stream may not exist yet,
    # so the boss answers: any answer shows that requests pass from account to account.
    probe = f"$JS.API.DIRECT.GET.{EV}.{log(newcomer.name, 'introduction', 1, 'nothing')}"
    try:
        async with connected(boss.address()) as one, connected(newcomer.address()) as other:
            await one.client.subscribe(probe, cb=_answer)
            await one.client.flush(_FLUSH_S)
            await other.ask(probe, timeout_s=_LOOK_S)
    except (FleetError, nats.errors.Error):
        return False
    return True


async def _answer(message: "Msg") -> None:
    await message.respond(b"")
