"""A network of its own for each machine of a fleet, which can be cut and mended: `ip netns`.

Every machine is a network namespace with one cable to the namespace of the server. A cut cable
loses packets without a word, as a real one does. It needs root; where namespaces cannot be made,
the tests that need them are skipped, and say so.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nightrook.fleet.nats_server import find_server

PORT = 4222
_START_S = 30.0


def missing() -> str | None:
    """Why no network can be made here; None if it can."""
    if shutil.which("ip") is None:
        return "iproute2 is not installed"
    if os.getuid() != 0:
        return "only root can make network namespaces"
    name = f"rook-{os.getpid()}-try"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode:
        return "this system does not allow network namespaces"
    _ip("netns", "del", name)
    return None


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@dataclass
class Network:
    """The namespaces of a server and of its machines."""

    prefix: str
    machines: list[str] = field(default_factory=list)

    @property
    def server(self) -> str:
        """The namespace of the server."""
        return f"{self.prefix}-s"

    def add(self, machine: str) -> str:
        """Add a machine; return the address at which it reaches the server."""
        self.machines.append(machine)
        number = len(self.machines)
        here, there = f"s{number}", "uplink"
        _ip("netns", "add", self.name(machine))
        _ip(*("link", "add", here, "netns", self.server, "type", "veth", "peer", "name", there),
            *("netns", self.name(machine)))  # fmt: skip
        for namespace, device, host in ((self.server, here, 1), (self.name(machine), there, 2)):
            _ip("-n", namespace, "addr", "add", f"10.77.{number}.{host}/24", "dev", device)
            _ip("-n", namespace, "link", "set", device, "up")
            _ip("-n", namespace, "link", "set", "lo", "up")
        return f"nats://10.77.{number}.1:{PORT}"

    def name(self, machine: str) -> str:
        """The namespace of a machine."""
        return f"{self.prefix}-{machine}"

    def cut(self, machine: str) -> None:
        """Lose everything between a machine and the server."""
        self._set(machine, "down")

    def mend(self, machine: str) -> None:
        """Let packets pass again."""
        self._set(machine, "up")

    def _set(self, machine: str, state: str) -> None:
        number = self.machines.index(machine) + 1
        _ip("-n", self.server, "link", "set", f"s{number}", state)

    def start(
        self, machine: str, command: Sequence[str], environment: Mapping[str, str], log: Path
    ) -> subprocess.Popen[bytes]:
        """Start a program on a machine; its output goes to a file."""
        inside = ["ip", "netns", "exec", self.name(machine), *command]
        with log.open("ab") as output:
            return subprocess.Popen(
                inside,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )


@contextmanager
def network(store: Path) -> Iterator[Network]:
    """A network with a server, on which anyone in it may do anything, while the block lasts."""
    made = Network(f"rook-{os.getpid()}")
    _ip("netns", "add", made.server)
    _ip("-n", made.server, "link", "set", "lo", "up")
    log = store / "server.log"
    command = [find_server(), "-a", "0.0.0.0", "-p", str(PORT), "-js", "-sd", str(store)]
    server = None
    try:
        with log.open("wb") as output:
            inside = ["ip", "netns", "exec", made.server, *command]
            server = subprocess.Popen(inside, stdout=output, stderr=output)
        _wait_for(log, "Server is ready")
        yield made
    finally:
        if server is not None:
            server.kill()
            server.wait()
        for name in (made.server, *map(made.name, made.machines)):
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _wait_for(log: Path, words: str) -> None:
    until = time.monotonic() + _START_S
    while words not in log.read_text(encoding="utf-8", errors="replace"):
        assert time.monotonic() < until, log.read_text(encoding="utf-8", errors="replace")
        time.sleep(0.02)
