"""A run that a test itself writes, as a recorder would: bytes, and when they came."""

import time
from pathlib import Path
from typing import Any

from nightrook.store.run_folder import RunFolder
from tests.conftest import SESSION
from tests.runs.folders import live
from tests.store.samples import append

LINES = SESSION.read_bytes().splitlines(keepends=True)


class Growing:
    """A run of this process that grows when the test says so."""

    def __init__(self, home: Path, **info: Any) -> None:
        self.folder: RunFolder = live(home, 0, loop=None, **info)
        self.size = 0
        append(self.folder, "stdout", b"")

    @property
    def name(self) -> str:
        return self.folder.name

    def write(self, data: bytes) -> None:
        """Append to the log of the agent."""
        append(self.folder, "stdout", data)
        line = f"{time.time():.6f} o {self.size} {len(data)}\n"
        self.size += len(data)
        append(self.folder, "arrivals", line.encode())
