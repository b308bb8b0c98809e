"""The journal of a worker: each attempt that it took, on disk, so that a restart can report it."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from nightrook.fleet.messages import Job
from nightrook.model.errors import NightrookError
from nightrook.store.files import Folder
from nightrook.store.list import newest_first
from nightrook.store.run_folder import RunFolder

_FOLDER = "outbox"
_SUFFIX = ".json"

Stage = Literal["taken", "started", "reported"]
"""The job was taken, its agent may have been started, or all of it is on the server."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt on this worker."""

    job: Job
    stage: Stage = "taken"
    folder: str | None = None
    """The name of its run here."""

    positions: dict[str, int] = {}
    """The position in each log that the server has confirmed."""

    @property
    def file(self) -> str:
        """The name of its file."""
        return f"{self.job.run}.{self.job.attempt}{_SUFFIX}"

    @property
    def is_reported(self) -> bool:
        """True if the server has confirmed all of it."""
        return self.stage == "reported"


class Journal:
    """The entries in a worker's home."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def save(self, entry: Entry) -> None:
        """Store an entry, in one step."""
        with Folder.made(self.home) as home, home.own(_FOLDER) as folder:
            folder.replace(entry.file, msgspec.json.encode(entry))

    def saved_at(self, entry: Entry) -> float:
        """The time at which an entry was last saved, in seconds since 1970."""
        return (self.home / _FOLDER / entry.file).stat().st_mtime

    def forget(self, entry: Entry) -> None:
        """Remove an entry."""
        (self.home / _FOLDER / entry.file).unlink(missing_ok=True)

    def entries(self) -> Iterator[Entry]:
        """The entries of this process and of earlier ones."""
        with Folder.made(self.home) as home, home.own(_FOLDER) as folder:
            for name in sorted(path.name for path in folder.path.iterdir()):
                if name.endswith(_SUFFIX) and not name.startswith("."):
                    with suppress(msgspec.DecodeError, UnicodeDecodeError, NightrookError):
                        yield msgspec.json.decode(folder.read(name) or b"", type=Entry)

    def run_folder(self, entry: Entry) -> RunFolder | None:
        """The folder of an entry's run; None if its agent was never started."""
        for folder in newest_first(self.home):
            with suppress(NightrookError):
                info = folder.info()
                if info is not None and (info.loop, info.iteration) == (
                    entry.job.run,
                    entry.job.attempt,
                ):
                    return folder
        return None
