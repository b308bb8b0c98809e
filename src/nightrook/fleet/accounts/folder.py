"""The folder of a fleet: made, and changed when a worker is added or removed."""

import ipaddress
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from nightrook.fleet import subjects
from nightrook.fleet.accounts import members
from nightrook.fleet.accounts.certificates import Certificates, new_certificates
from nightrook.fleet.accounts.credentials import Credentials, Key, new_key, read_credentials
from nightrook.fleet.accounts.members import Members, Role, Worker
from nightrook.fleet.accounts.reload import introduce, reload_server
from nightrook.fleet.accounts.server_file import SERVER_FILE, server_file
from nightrook.model.errors import NightrookError
from nightrook.store.files import Folder

CREDENTIALS = "credentials"
_TLS = "tls"
_CA = "ca.pem"
_LOCK = "lock"
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.:-]{0,252}[A-Za-z0-9])?|::1?")
_RESERVED = ("boss", "viewer")


class Listening(NamedTuple):
    """The address at which the server listens, and the one that clients connect to."""

    host: str
    port: int
    address: str

    @property
    def is_local(self) -> bool:
        """True if only this machine can connect."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def create(path: Path, listening: Listening) -> Members:
    """Make the folder of a new fleet: keys, certificates if others can connect, server's file."""
    _check(listening)
    path = path.absolute()
    boss, viewer = new_key(), new_key()
    fleet = Members(
        host=listening.host,
        port=listening.port,
        address=listening.address,
        tls=not listening.is_local,
        boss=boss.public,
        viewer=viewer.public,
    )
    made = _new_certificates(listening) if fleet.tls else None
    ca = None if made is None else made.ca
    with Folder.made(path) as folder:
        if not folder.create(members.FILE, members.dump(fleet)):
            raise NightrookError(f"{path} has a fleet already: use another folder")
        if made is not None:
            _save_certificates(folder, made)
        _save_credentials(folder, _credentials(fleet, "boss", "boss", boss, ca=ca))
        _save_credentials(folder, _credentials(fleet, "viewer", "viewer", viewer, ca=ca))
        folder.replace(SERVER_FILE, server_file(fleet, path).encode())
    return fleet


def add_worker(
    path: Path, name: str, *, labels: tuple[str, ...], agents: tuple[str, ...]
) -> tuple[Path, bool]:
    """Add a worker; return its file of credentials, and whether the server knows it already."""
    path = path.absolute()
    if name in _RESERVED:
        raise NightrookError(f"a worker cannot be named {name}: choose another name")
    for each in (*labels, *agents):
        subjects.token(each)
    key = new_key()
    worker = Worker(key=key.public, labels=labels, agents=agents)
    with _changing(path) as folder:
        fleet = members.load(path).with_worker(name, worker)
        ca = _saved_ca(path) if fleet.tls else None
        credentials = _credentials(fleet, "worker", name, key, ca=ca, worker=worker)
        _save_credentials(folder, credentials)
        _save(folder, fleet)
    boss = path / CREDENTIALS / "boss.json"
    is_known = boss.exists() and introduce(path, read_credentials(str(boss)), credentials)
    return path / CREDENTIALS / _file_name(credentials), is_known


def remove_worker(path: Path, name: str) -> bool:
    """Remove a worker; return whether the server has ended its connections already."""
    path = path.absolute()
    with _changing(path) as folder:
        _save(folder, members.load(path).without_worker(name))
        with folder.own(CREDENTIALS) as kept:
            kept.discard(f"worker-{name}.json")
    return reload_server(path)


@contextmanager
def _changing(path: Path) -> Iterator[Folder]:
    """Open the folder for a change; a second change at the same time is refused."""
    members.load(path)  # so that no folder is made where there is no fleet
    with Folder.made(path) as folder, folder.lock(_LOCK) as is_ours:
        if not is_ours:
            raise NightrookError(f"another rook fleet command changes {path}: try again")
        yield folder


def _save(folder: Folder, fleet: Members) -> None:
    """The server's file first: a fleet that has a worker whom the server refuses would be worse."""
    folder.replace(SERVER_FILE, server_file(fleet, folder.path).encode())
    folder.replace(members.FILE, members.dump(fleet))


def _new_certificates(listening: Listening) -> Certificates:
    reached = (listening.address, listening.host, "localhost", "127.0.0.1")
    return new_certificates([name for name in dict.fromkeys(reached) if not _is_any(name)])


def _save_certificates(folder: Folder, made: Certificates) -> None:
    with folder.own(_TLS) as tls:
        tls.replace(_CA, made.ca)
        tls.replace("server.pem", made.server)
        tls.replace("server.key", made.key)


def _saved_ca(path: Path) -> bytes | None:
    tls = Folder.at(path, _TLS)
    if tls is None:
        raise NightrookError(f"{path / _TLS} is missing: make the fleet again")
    with tls:
        return tls.read(_CA)


def _credentials(
    fleet: Members,
    role: Role,
    name: str,
    key: Key,
    *,
    ca: bytes | None,
    worker: Worker | None = None,
) -> Credentials:
    return Credentials(
        server=fleet.url,
        role=role,
        name=name,
        seed=key.seed,
        ca=None if ca is None else ca.decode("ascii"),
        labels=() if worker is None else worker.labels,
        agents=() if worker is None else worker.agents,
    )


def _save_credentials(folder: Folder, credentials: Credentials) -> None:
    with folder.own(CREDENTIALS) as kept:
        kept.replace(_file_name(credentials), credentials.dump())


def _file_name(credentials: Credentials) -> str:
    if credentials.role == "worker":
        return f"worker-{credentials.name}.json"
    return f"{credentials.role}.json"


def _check(listening: Listening) -> None:
    for host in (listening.host, listening.address):
        if _HOST.fullmatch(host) is None:
            raise NightrookError(f"{host[:80]!r} is not a host: use a name or an address")
    if _is_any(listening.address):
        raise NightrookError(f"clients cannot connect to {listening.address}: add --address HOST")


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
