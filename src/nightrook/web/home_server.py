"""Runs the one server of a home: finds it if it runs, or listens, keeps its address and serves."""

import ipaddress
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import msgspec

from nightrook.model.errors import NightrookError
from nightrook.runs.asking.attendance import attending
from nightrook.store.runtime_folder import runtime_folder
from nightrook.web.access.rules import Rules
from nightrook.web.address import Address, AddressBook, listen, this_process
from nightrook.web.app_state import AppState
from nightrook.web.uvicorn_server import make_server

LOCAL = "127.0.0.1"  # guards: loopback
_FIND_S = 5.0
_LOOK_S = 0.05


class ServeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options for listening and serving."""

    port: int | None = None
    host: str = LOCAL
    allow_hosts: tuple[str, ...] = ()
    read_only: bool = False
    cert: str | None = None
    key: str | None = None
    idle_s: float | None = None
    """Seconds it runs without a page before it ends; None means forever."""

    @property
    def scheme(self) -> str:
        """Scheme of its address in browsers."""
        return "https" if self.cert else "http"


def address_book(home: Path) -> AddressBook:
    """Return the store of the address of a home's server."""
    return AddressBook(runtime_folder(home), home)


def running_server(home: Path) -> Address | None:
    """The address of the server that runs for a home; None if there is none."""
    book = address_book(home)
    with book.lock() as acquired:
        if acquired:
            return None
    until = time.monotonic() + _FIND_S
    while time.monotonic() < until:
        address = book.read()
        if address is not None and address.is_alive:
            return address
        time.sleep(_LOOK_S)  # it is about to write its address
    raise NightrookError("another  rook web  is starting or ending: try again")


def serve(home: Path, options: ServeOptions, started: Callable[[Address], None]) -> bool:
    """Serve a home until the process is told to end; False if another server does so already."""
    _check_certificate(options)
    book = address_book(home)
    with book.lock() as acquired:
        if not acquired:
            return False
        listening, token = listen(options.host, options.port, book.read())
        with listening:
            address = _address(listening, token, options)
            book.write(address)
            rules = Rules(
                token=token,
                hosts=_hosts(address, options),
                proxies=frozenset(name.lower() for name in options.allow_hosts),
                scheme=options.scheme,
                read_only=options.read_only,
            )
            state = AppState(home, read_only=options.read_only)
            server = make_server(
                state, rules, cert=options.cert, key=options.key, idle_s=options.idle_s
            )
            with nullcontext() if options.read_only else attending(home):
                started(address)
                server.run(sockets=[listening])
    return True


def _check_certificate(options: ServeOptions) -> None:
    if options.cert is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(options.cert, options.key)
    except OSError as error:
        raise NightrookError(
            "--cert and --key are not a certificate and its private key: name two PEM files that "
            "belong together"
        ) from error


def _address(listening: socket.socket, token: str, options: ServeOptions) -> Address:
    pid, ticks = this_process()
    return Address(
        host=_reachable(options.host),
        port=listening.getsockname()[1],
        token=token,
        scheme=options.scheme,
        read_only=options.read_only,
        pid=pid,
        ticks=ticks,
    )


def _reachable(host: str) -> str:
    """The name by which this machine is reached, for an address that means all of its own."""
    try:
        everything = ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return host
    return socket.getfqdn() if everything else host


def _hosts(address: Address, options: ServeOptions) -> frozenset[str]:
    """Return the host names by which browsers may call the server."""
    own = {address.host, *((LOCAL, "localhost") if _is_local(options.host) else ())}
    names = {f"[{name}]" if ":" in name else name for name in own}
    listed = {f"{name}:{address.port}" for name in names} | set(options.allow_hosts)
    return frozenset(name.lower() for name in listed)


def _is_local(host: str) -> bool:
    """True if a server that listens there is reached by the names of this machine itself."""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return found.is_loopback or found.is_unspecified
