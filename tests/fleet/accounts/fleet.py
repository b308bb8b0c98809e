"""A fleet on this machine as its members reach it."""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from nats.aio.client import Client

from nightrook.fleet.accounts.credentials import Credentials, read_credentials
from nightrook.fleet.accounts.folder import Listening
from nightrook.fleet.connection import Address, FleetError, connected
from nightrook.fleet.nats_server import LocalServer


@dataclass(frozen=True)
class Fleet:
    """A folder with credentials, and the server that knows them."""

    path: Path
    server: LocalServer

    def credentials(self, member: str) -> Credentials:
        """What `boss`, `viewer` or `worker-NAME` connects with."""
        return read_credentials(str(self.path / "credentials" / f"{member}.json"))

    def address(self, member: str) -> Address:
        """The server as it listens now, and as whom to connect."""
        return replace(self.credentials(member).address(), url=self.server.url)

    @asynccontextmanager
    async def connected(self, member: str) -> AsyncIterator[Client]:
        """Connect as that member."""
        async with connected(self.address(member)) as connection:
            yield connection.client


async def refusal(address: Address) -> str | None:
    """Why the server does not let a client in; None if it does."""
    try:
        async with connected(address, patience_s=0):
            return None
    except FleetError as error:
        return str(error)


def free_local() -> Listening:
    """A free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return Listening("127.0.0.1", listening.getsockname()[1], "127.0.0.1")


def mode(path: Path) -> int:
    """The permissions of a file."""
    return os.stat(path).st_mode & 0o777
