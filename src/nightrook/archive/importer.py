"""Brings the ledger up to date: finds and reads what agents have written since the last import."""

import fcntl
import gc
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from nightrook import agents
from nightrook.adapter.history import History
from nightrook.archive.file_reader import FileReader
from nightrook.archive.ledger.batch import Batch
from nightrook.archive.ledger.ledger import Ledger
from nightrook.archive.ledger.pricing import fingerprint
from nightrook.archive.ledger.sources import Source
from nightrook.archive.run_figures import read_runs
from nightrook.archive.session_files import (
    FoundFile,
    Search,
    history_names,
    named_files,
    storable_path,
)
from nightrook.model.errors import NightrookError
from nightrook.store.file_names import RUNS
from nightrook.store.files import Folder

LOCK = "ledger.lock"
_PATIENCE_S = 120.0  # with another process that imports
_POLL_S = 0.05
_MOST_LINES = 60_000  # in one transaction
_MOST_BYTES = 2_000_000_000

Progress = Callable[[int, int], None]
"""Called with the bytes that were read and those that there are to read."""


class BusyLedgerError(NightrookError):
    """Another process imports for a long time."""


class Problem(msgspec.Struct, frozen=True):
    """A file or folder that could not be read, and why."""

    path: str
    reason: str


class ImportReport(msgspec.Struct, kw_only=True):
    """Result of an import."""

    files: int = 0
    """Number of files."""

    read: int = 0
    """Number of files that had something new."""

    bytes: int = 0
    calls: int = 0
    """Number of new calls."""

    problems: list[Problem] = []


def bring_up_to_date(
    ledger_path: str | os.PathLike[str],
    homes: Sequence[Path],
    *,
    names: Sequence[str] | None = None,
    paths: Sequence[str | os.PathLike[str]] = (),
    progress: Progress | None = None,
) -> ImportReport:
    """Read what agents wrote since the last time into the ledger.

    `names` are the agents to look for; by default all. `paths` are files and folders that are read
    instead of the homes. What cannot be read is reported, and everything else is imported.
    """
    path = Path(ledger_path)
    with Ledger.open(path) as ledger:
        try:
            with locked(path):
                return import_into(ledger, homes, names=names, paths=paths, progress=progress)
        except BusyLedgerError as error:  # a report can do without what is new
            return ImportReport(problems=[Problem(str(path), str(error))])


def import_into(
    ledger: Ledger,
    homes: Sequence[Path],
    *,
    names: Sequence[str] | None = None,
    paths: Sequence[str | os.PathLike[str]] = (),
    runs_home: Path | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import into an open ledger, whose lock the caller holds.

    `runs_home` is the home of the runs of rook; by default the folder of the ledger.
    """
    histories, problems = _histories(names)
    work = _Import(ledger, histories, progress)
    work.report.problems += problems
    with _without_collections():
        if paths:
            work.import_paths(paths, named=names is not None)
        else:
            work.import_homes(homes, runs_home or ledger.path.parent)
    ledger.reprice(fingerprint())
    return work.report


@contextmanager
def _without_collections() -> Iterator[None]:
    """Keep the garbage collector from searching all calls of a batch repeatedly for cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _histories(names: Sequence[str] | None) -> tuple[list[History], list[Problem]]:
    """The histories of some agents; of all agents without those that cannot be loaded."""
    if names is not None:
        return [agents.history(name) for name in names], []
    histories: list[History] = []
    problems: list[Problem] = []
    for name in history_names():
        try:
            histories.append(agents.history(name))
        except Exception as error:  # another package can raise anything
            problems.append(Problem(name, f"its history can't be loaded: {error!r}"))
    return histories, problems


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock the import; raise a BusyLedgerError if another process holds the lock for too long."""
    with Folder.made(path.parent) as folder:
        fd = folder.append(LOCK)
    try:
        if not _lock(fd):
            raise BusyLedgerError(
                "another process is importing; what it has not read yet is missing"
            )
        yield
    finally:
        os.close(fd)


def _lock(fd: int) -> bool:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False  # guards: one-importer
            time.sleep(_POLL_S)
        else:
            return True


class _Import:
    """One import, in batches."""

    def __init__(
        self, ledger: Ledger, histories: Sequence[History], progress: Progress | None
    ) -> None:
        self.report = ImportReport()
        self._ledger = ledger
        self._histories = histories
        self._progress = progress
        self._batch = Batch()
        self._unwritten = 0
        self._total = 0

    def import_homes(self, homes: Sequence[Path], runs_home: Path) -> None:
        """Import all that is new in some homes, and the runs of rook."""
        known = self._ledger.stamps()
        search = Search(self._histories, known)
        found = list(search.homes(homes, os.environ))
        self.report.files = len(search.unchanged)
        self._import(found)
        self._note_folders(search)
        paths = search.unchanged.union(storable_path(file.path) for file in found)
        if not known.keys() <= paths or self._ledger.has_unreadable():
            self._note_missing(paths, search)
        self._import_runs(runs_home)
        self._flush()

    def import_paths(self, paths: Iterable[str | os.PathLike[str]], *, named: bool) -> None:
        """Import files and folders that a person named."""
        search = Search(self._histories)
        others = _histories(None)[0] if named else None
        found = list(named_files(search, self._histories, paths, others=others))
        known = self._ledger.stamps()
        self._import([file for file in found if known.get(storable_path(file.path)) != file.stamp])
        self.report.files = len(found)
        self._note_folders(search)
        self._flush()

    def _import(self, changed: Sequence[FoundFile]) -> None:
        self.report.files += len(changed)
        self._total = sum(file.stamp.size for file in changed)
        if not changed:
            return
        sources = self._ledger.sources()
        readers: dict[str, FileReader] = {}
        for file in sorted(changed, key=lambda file: file.stamp.mtime_ns, reverse=True):
            path = storable_path(file.path)
            agent = file.history.agent
            source = sources.get(path)
            if source is None or source.agent != agent:
                rewritten = source is not None and source.position > 0
                source = Source(agent=agent, path=path, kind=file.kind, rewritten=rewritten)
            if agent not in readers:
                readers[agent] = FileReader(file.history)
            self._read(readers[agent], file, source)

    def _import_runs(self, home: Path) -> None:
        """Import the figures that runs of rook report."""
        query = "SELECT name, stamp FROM runs"
        known: dict[str, str] = dict(self._ledger.connection.execute(query).fetchall())
        reading = read_runs(home, known)
        for figures in reading.runs:
            self._batch.add_run(figures)
        folder = str(home / RUNS)
        self.report.problems += (Problem(folder, reason) for reason in reading.problems)

    def _read(self, reader: FileReader, file: FoundFile, source: Source) -> None:
        for part in reader.read(file, source):
            self._batch.add(source, part.findings)
            self._unwritten += part.size
            self.report.bytes += part.size
            if self._batch.size > _MOST_LINES or self._unwritten > _MOST_BYTES:
                reader.save(source)
                self._flush()
            if self._progress is not None:
                self._progress(self.report.bytes, self._total)
        self.report.read += 1
        if source.problem is not None:
            self.report.problems.append(Problem(source.path, source.problem))

    def _flush(self) -> None:
        if self._batch.sources or self._batch.runs:
            self.report.calls += self._ledger.write(self._batch)
        self._batch, self._unwritten = Batch(), 0

    def _note_folders(self, search: Search) -> None:
        """Record the folders, and the files a person named, that could not be read."""
        sources = self._ledger.sources() if search.problems else {}
        for path, (agent, reason) in search.problems.items():
            source = sources.get(path) or Source(agent=agent, path=path)
            source.state, source.problem = "unreadable", reason
            self._batch.add(source, ())
            self.report.problems.append(Problem(path, reason))

    def _note_missing(self, found: set[str], search: Search) -> None:
        """Record which files are gone; their calls stay counted."""
        searched = {history.agent for history in self._histories}
        query = "SELECT path, agent, state FROM sources WHERE state != 'gone'"
        missing = [
            path
            for path, agent, state in self._ledger.connection.execute(query)
            if path not in found
            and path not in search.problems
            and (agent in searched or not agent)
            if state == "unreadable" or is_gone(path)
        ]
        sources = self._ledger.sources() if missing else {}
        for path in missing:
            sources[path].state, sources[path].problem = "gone", None
            self._batch.add(sources[path], ())


def is_gone(path: str) -> bool:
    """True if a file no longer exists; one in a folder that cannot be read may still exist."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
