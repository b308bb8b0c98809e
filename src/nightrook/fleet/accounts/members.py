"""The members of a fleet and where its server listens: `members.json` in the fleet's folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from nightrook.fleet import subjects
from nightrook.model.errors import NightrookError
from nightrook.store.files import Folder

FILE = "members.json"

Role = Literal["boss", "viewer", "worker"]


class Worker(msgspec.Struct, frozen=True, kw_only=True):
    """A machine of the fleet: its public key, and which jobs it may pull."""

    key: str
    labels: tuple[str, ...]
    agents: tuple[str, ...]


class Members(msgspec.Struct, frozen=True, kw_only=True):
    """The members of a fleet, by their public keys; their seeds are elsewhere."""

    host: str
    """The address at which the server listens."""

    port: int
    address: str
    """The name or address that clients connect to."""

    tls: bool
    boss: str
    viewer: str
    workers: Mapping[str, Worker] = {}

    @property
    def url(self) -> str:
        """The address of the server, for clients."""
        return self._url(self.address)

    @property
    def local_url(self) -> str:
        """The address of the server, for clients on its machine."""
        return self._url("127.0.0.1" if self.host in ("0.0.0.0", "::", "localhost") else self.host)

    def _url(self, host: str) -> str:
        host = f"[{host}]" if ":" in host else host
        return f"{'tls' if self.tls else 'nats'}://{host}:{self.port}"

    def with_worker(self, name: str, worker: Worker) -> "Members":
        """Return the fleet with one more worker."""
        subjects.token(name)
        if name in self.workers:
            raise NightrookError(f"{name} is in the fleet already: rook fleet remove-worker {name}")
        return msgspec.structs.replace(self, workers={**self.workers, name: worker})

    def without_worker(self, name: str) -> "Members":
        """Return the fleet without that worker."""
        if name not in self.workers:
            known = ", ".join(sorted(self.workers)) or "none"
            raise NightrookError(f"there is no worker {name!r} in this fleet; workers: {known}")
        left = {each: worker for each, worker in self.workers.items() if each != name}
        return msgspec.structs.replace(self, workers=left)


def load(folder: Path) -> Members:
    """Read the members of the fleet in a folder."""
    opened = Folder.at(folder)
    if opened is None:
        raise NightrookError(f"{folder} does not exist: rook fleet init makes it")
    with opened:
        data = opened.read(FILE)
    if data is None:
        raise NightrookError(f"{folder} is not the folder of a fleet: rook fleet init makes one")
    try:
        return msgspec.json.decode(data, type=Members)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise NightrookError(f"{folder / FILE} is damaged: {error}") from error


def dump(fleet: Members) -> bytes:
    """The bytes of `members.json`."""
    return msgspec.json.format(msgspec.json.encode(fleet), indent=2) + b"\n"
