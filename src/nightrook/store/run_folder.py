"""The folder of one run: how it is made, and how its files are read and written."""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TypeVar

import msgspec

from nightrook.model.ending import Ending
from nightrook.model.errors import RunFolderError, UnknownRunError
from nightrook.model.status import Outcome
from nightrook.model.verdict import Verdict
from nightrook.store.file_names import ARRIVALS, EXIT, INFO, LOGS, OUTPUT, ROOM, RUNS, VERDICT, Log
from nightrook.store.files import MISSING, Folder, wrong_size
from nightrook.store.folders import make_folder
from nightrook.store.logs import Arrival, read_arrivals
from nightrook.store.names import check_name, new_names
from nightrook.store.run_formats import ExitInfo, RunInfo, VerdictInfo, dump, parse

_CHUNK = 256 * 1024
_ROOM_SIZE = 32 * 1024  # for the verdict and an answer of usual length

_Info = TypeVar("_Info", RunInfo, ExitInfo, VerdictInfo)


@dataclass(frozen=True)
class RunFolder:
    """The files of one run.

    Its files are read as they are now, also during the run. Methods raise a RunFolderError
    for what cannot be read or written, and an UnknownRunError when the folder is gone.
    """

    path: Path

    def __post_init__(self) -> None:
        check_name(self.path.name)

    @property
    def name(self) -> str:
        """The run's name."""
        return self.path.name

    def info(self) -> RunInfo | None:
        """The run's options and processes; None if the file was removed."""
        return self._load(INFO, RunInfo)

    def exit(self) -> ExitInfo | None:
        """Return the exit of the agent; None while it runs."""
        return self._load(EXIT, ExitInfo)

    def verdict(self) -> VerdictInfo | None:
        """Return the verdict; None until the run is judged.

        A log that is not as long as what the recorder wrote makes it `incomplete`.
        """
        with self.opened() as folder:
            saved = load(folder, VERDICT, VerdictInfo)
            if saved is None or saved.tampered is not None:
                return saved
            how = _changed_size(folder, saved.log_sizes)
        return saved if how is None else saved.with_tampered_logs(how)  # guards: sizes-compared

    def ending(self, verdict: Verdict) -> Ending[Outcome]:
        """The end of the run, with a verdict that may not be saved, and the times of its files."""
        info, exit = self.info(), self.exit()
        return Ending.of_run(
            verdict,
            started_at=info.started_at if info else None,
            ended_at=exit.ended_at if exit else None,
        )

    def changed_size(self, sizes: Mapping[str, int]) -> str | None:
        """Return a message on the first log of the wrong size; None if all sizes are right."""
        with self.opened() as folder:
            return _changed_size(folder, sizes)

    def write_info(self, info: RunInfo) -> None:
        """Save the run's options and processes, in one step."""
        with self.opened() as folder:
            folder.replace(INFO, dump(info))

    def write_exit(self, info: ExitInfo, *, overwrite: bool = True) -> bool:
        """Save how the agent's process ended, in one step; False if it was saved before."""
        return self._write(EXIT, info, overwrite=overwrite)

    def write_verdict(self, info: VerdictInfo, *, overwrite: bool = True) -> bool:
        """Save how the run ended, in one step; False if it was saved before."""
        return self._write(VERDICT, info, overwrite=overwrite)

    def _write(self, name: str, info: ExitInfo | VerdictInfo, *, overwrite: bool) -> bool:
        with self.opened() as folder:
            if not overwrite:
                return folder.create(name, dump(info))
            folder.replace(name, dump(info))
            return True

    def reserve(self) -> None:
        """Reserve space for the verdict now: the disk may get full."""
        with suppress(RunFolderError, OSError), self.opened() as folder:
            fd = folder.append(ROOM)
            try:
                os.write(fd, bytes(_ROOM_SIZE))  # guards: verdict-space
            finally:
                os.close(fd)

    def release(self) -> None:
        """Free the reserved space, so that the verdict can be written."""
        with suppress(RunFolderError), self.opened() as folder:
            folder.discard(ROOM)

    def open_log(self, log: Log) -> int:
        """Open a log to append to, made if it is missing; the descriptor is the caller's."""
        with self.opened() as folder:
            return folder.append(LOGS[log])

    def write_output(self, text: str | None) -> bool:
        """Save the answer; False if there is none, or the agent wrote its own, which stays."""
        if text is None or not text.strip():
            return False
        with self.opened() as folder:
            # guards: written-answer-kept
            return folder.create(OUTPUT, text.encode("utf-8", "replace"))

    def read_output(self) -> str | None:
        """The answer that was saved; None if there is none."""
        with self.opened() as folder:
            data = folder.read(OUTPUT)
        return None if data is None else data.decode("utf-8", "replace")

    @property
    def has_output(self) -> bool:
        """True if an answer was saved."""
        with self.opened() as folder:
            return folder.size(OUTPUT) is not None

    def arrivals(self) -> Iterator[Arrival]:
        """Yield the arrival times of the bytes; damaged lines are left out."""
        return read_arrivals(_chunks(self.path / ARRIVALS))

    @contextmanager
    def opened(self) -> Iterator[Folder]:
        """The folder itself, open, for other files in it."""
        runs = self.path.parent
        folder = Folder.at(runs.parent, runs.name, self.name)
        if folder is None:
            raise UnknownRunError(self.name)
        with folder:
            yield folder

    def _load(self, name: str, kind: type[_Info]) -> _Info | None:
        with self.opened() as folder:
            return load(folder, name, kind)


def create_run(home: str | PathLike[str], info: RunInfo) -> RunFolder:
    """Make the folder of a new run, under a new name; home is made if it is missing.

    It gets its name when it has its `run.json`, so that every run folder has one.
    """

    def write(folder: Folder, name: str) -> None:
        folder.replace(INFO, dump(msgspec.structs.replace(info, name=name)))

    names = chain([info.name] if info.name else [], new_names())
    return RunFolder(make_folder(Path(os.path.abspath(home)), RUNS, names, write))


def _chunks(path: Path) -> Iterator[bytes]:
    """The bytes that a log has now."""
    from nightrook.store.logs import open_log  # so that lists stay quick

    log = open_log(path)
    if log is None:
        return
    offset = 0
    with closing(log):
        while data := log.read_at(_CHUNK, offset):
            yield data
            offset += len(data)


def load(folder: Folder, name: str, kind: type[_Info]) -> _Info | None:
    """Read a state file of a run's open folder; None if it does not exist."""
    data = folder.read(name)
    return None if data is None else parse(data, kind, str(folder.path / name))


def _changed_size(folder: Folder, sizes: Mapping[str, int]) -> str | None:
    for log, name in LOGS.items():
        size = sizes.get(log)
        if size is None or (how := wrong_size(folder, name, size)) is None:
            continue
        if how != MISSING or not _is_packed(folder.path / name, size):
            return f"{name} {how}, but the recorder wrote {size}"
    return None


def _is_packed(path: Path, size: int) -> bool:
    """True if a log is there in its packed form, and has this size."""
    from nightrook.store.logs import open_packed  # so that lists stay quick

    with suppress(RunFolderError):
        if (log := open_packed(path)) is not None:
            with closing(log):
                return log.size == size
    return False
