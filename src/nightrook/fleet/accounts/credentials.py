"""Credentials with which a member connects, read once from a file or a descriptor.

Agents must not get it: the file is for its owner alone, what was read from is closed, and nothing
of it is ever in an environment.
"""

import os
import stat
from contextlib import suppress
from typing import NamedTuple

import msgspec

from nightrook.config.user_settings import fleet_credentials
from nightrook.fleet.accounts.members import Role
from nightrook.fleet.connection import Address, FleetError
from nightrook.fleet.subjects import machine_name
from nightrook.model.errors import NightrookError
from nightrook.process.systems.this_system import system

STDIN = "-"
_DESCRIPTOR = "fd:"
_LARGEST = 64 * 1024
_CHUNK = 16 * 1024
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_SEED_BYTES = 32


class CredentialsError(NightrookError):
    """Credentials cannot be read, or must not be read because others can read them too."""


class Credentials(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One member's way to the server."""

    server: str
    role: Role
    name: str
    seed: str
    ca: str | None = None
    """The certificate that signed the server's, as PEM; None without TLS."""

    labels: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    """The jobs that a worker may pull; the server enforces it."""

    def __repr__(self) -> str:
        """Leave out the seed."""
        return f"Credentials({self.role} {self.name} at {self.server})"

    def dump(self) -> bytes:
        """The bytes of the file."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    def address(self) -> Address:
        """The server, and the member that connects to it."""
        return Address(url=self.server, user=self.name, seed=self.seed, authority=self.ca)


def read_credentials(source: str) -> Credentials:
    """Read credentials from a file, from `fd:N`, or from standard input if it is `-`.

    From then on, other processes of this user cannot read the memory of this one.
    """
    system.hide_memory()  # guards: worker-memory-hidden
    if source == STDIN:
        data = _from_stdin()
    elif source.startswith(_DESCRIPTOR):
        data = _from_descriptor(source)
    else:
        data = _from_file(source)
    try:
        return msgspec.json.decode(data, type=Credentials)
    except (msgspec.DecodeError, msgspec.ValidationError):  # what it says may quote the seed
        raise CredentialsError(
            f"{source} has no credentials: rook fleet init and add-worker make them"
        ) from None


def chosen_fleet(named: str | None) -> tuple[Address, Credentials | None]:
    """The server and who connects; credentials are None where the server has no accounts."""
    source = named or fleet_credentials()
    if source is None:
        raise FleetError(
            "there is no fleet: use --credentials FILE, or set fleet_credentials; "
            "rook fleet init makes a fleet, and rook fleet demo one to try"
        )
    if "://" in source:
        return Address(url=source, user=machine_name()), None
    credentials = read_credentials(source)
    return credentials.address(), credentials


def _from_stdin() -> bytes:
    """Read the descriptor to its end; processes started later find it empty."""
    data = _read(0, "standard input")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return data


def _from_descriptor(source: str) -> bytes:
    number = source.removeprefix(_DESCRIPTOR)
    if not (number.isascii() and number.isdecimal()) or int(number) <= 2:
        raise CredentialsError(f"{source} is not a descriptor: use fd:3 and above")
    try:
        return _read(int(number), source)
    finally:
        with suppress(OSError):  # it was not open, and _read says so
            os.close(int(number))


def _from_file(path: str) -> bytes:
    try:
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        raise CredentialsError(f"{path} cannot be opened: {_reason(error)}") from error
    try:
        mode = os.fstat(opened).st_mode
        if stat.S_ISREG(mode) and mode & _OTHERS:  # guards: private-credentials
            raise CredentialsError(f"others can read {path}: chmod 600 {path}")
        return _read(opened, path)
    finally:
        os.close(opened)


def _read(descriptor: int, source: str) -> bytes:
    data = b""
    try:
        while len(data) <= _LARGEST and (more := os.read(descriptor, _CHUNK)):
            data += more
    except OSError as error:
        raise CredentialsError(f"{source} cannot be read: {_reason(error)}") from error
    if len(data) > _LARGEST:
        raise CredentialsError(f"{source} is too large for credentials")
    return data


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


class Key(NamedTuple):
    """A new key."""

    seed: str
    public: str

    def __repr__(self) -> str:
        """Leave out the seed."""
        return f"Key(public={self.public!r})"


def new_key() -> Key:
    """Make a key from 32 random bytes."""
    check_installed()
    import nkeys

    seed = nkeys.encode_seed(os.urandom(_SEED_BYTES), nkeys.PREFIX_BYTE_USER)
    pair = nkeys.from_seed(bytearray(seed))
    return Key(seed.decode("ascii"), pair.public_key.decode("ascii"))


def check_installed() -> None:
    """Refuse to go on without the packages of the extra `fleet`."""
    from importlib.util import find_spec

    if any(find_spec(name) is None for name in ("nats", "nkeys")):
        raise NightrookError("a fleet needs more packages: pip install 'nightrook[fleet]'")
