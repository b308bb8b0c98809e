"""Address and token of the server of a home: a second `rook web` finds the first here."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from secrets import token_urlsafe

import msgspec

from nightrook.model.errors import NightrookError
from nightrook.process.liveness import is_same_process, start_ticks
from nightrook.store.files import Folder

_TOKEN_BYTES = 32
_BACKLOG = 128


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """A server: how a browser reaches it, and which process it is."""

    host: str
    port: int
    token: str
    scheme: str = "http"
    read_only: bool = False
    pid: int
    ticks: int | None = None

    @property
    def origin(self) -> str:
        """The address without the token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def url(self, run: str | None = None) -> str:
        """The address to open; a browser sends nothing of what follows the `#`."""
        to = "" if run is None else f"&to=/runs/{run}"
        return f"{self.origin}/#token={self.token}{to}"

    @property
    def is_alive(self) -> bool:
        """True if its process lives."""
        return is_same_process(self.pid, self.ticks)


class AddressBook:
    """The file that has the address of the server of a home; only the user can read it."""

    def __init__(self, folder: Path, home: Path) -> None:
        self._folder = folder
        self._file = f"web-{sha256(os.fsencode(os.path.abspath(home))).hexdigest()[:12]}"

    def read(self) -> Address | None:
        """The last address that was written; None if there is none."""
        folder = Folder.at(self._folder)
        if folder is None:
            return None
        with folder:
            try:
                data = folder.read(self._file)
                return None if data is None else msgspec.json.decode(data, type=Address)
            except (NightrookError, ValueError):
                return None

    def write(self, address: Address) -> None:
        """Store an address."""
        with Folder.made(self._folder) as folder:
            folder.replace(self._file, msgspec.json.encode(address))

    @contextmanager
    def lock(self) -> Iterator[bool]:
        """Lock the address as the only server of the home; False if there is another."""
        with Folder.made(self._folder) as folder, folder.lock(f"{self._file}.lock") as acquired:
            yield acquired


def this_process() -> tuple[int, int | None]:
    """The id and the start of this process."""
    pid = os.getpid()
    return pid, start_ticks(pid)


def listen(host: str, port: int | None, earlier: Address | None) -> tuple[socket.socket, str]:
    """Open a socket and choose a token.

    Without a port, it is that of an earlier server with the same token, so that open pages find
    this one. If another program has that port now, it may have seen the token: then both are new.
    """
    if port is None and earlier is not None:
        again = _bound(host, earlier.port)
        if again is not None:
            return again, earlier.token
    if port is None:
        free = _bound(host, 0)
        if free is None:
            raise NightrookError(f"cannot listen on {host}: choose another address with --listen")
        return free, new_token()  # guards: seen-token
    named = _bound(host, port)
    if named is None:
        raise NightrookError(
            f"port {port} of {host} is in use or not permitted: choose another with --port, or "
            "leave --port out"
        )
    is_same = earlier is not None and earlier.port == port
    return named, earlier.token if earlier is not None and is_same else new_token()


def new_token() -> str:
    """A token of 256 random bits."""
    return token_urlsafe(_TOKEN_BYTES)


def _bound(host: str, port: int) -> socket.socket | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends small packets at once only if the protocol is named; else each takes 40 ms.
    server = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((host, port))
        server.listen(_BACKLOG)
    except (OSError, OverflowError):
        server.close()
        return None
    return server
