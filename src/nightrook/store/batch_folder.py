"""Batch folders: the tasks, the terms, and a line for each task that is done."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Self

import msgspec
from msgspec import Meta

from nightrook.model.ending import Ending
from nightrook.model.errors import NightrookError
from nightrook.model.ledger import Source
from nightrook.model.text import suggested
from nightrook.store.files import explained
from nightrook.store.folders import BATCHES, NewLines, ProcessFolder

_MOST_JOBS = 10_000
_TASKS, _TERMS, _RESULTS = "tasks.jsonl", "batch.json", "results.jsonl"


class BatchTerms(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of a batch, on tasks at once and on their total cost: `batch.json`."""

    format: int = 1
    jobs: Annotated[int, Meta(ge=1, le=_MOST_JOBS)] = 2
    max_cost: float | None = None
    needs_cost: bool = False
    """True if a task is refused or stopped when its cost cannot be compared with `max_cost`."""


class BatchResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Result of one task: a line of `results.jsonl`."""

    id: str
    ok: bool
    status: str
    exit_code: int
    sentence: str = ""
    run: str | None = None
    loop: str | None = None
    spent_usd: float | None = None
    cost_source: Source = "unknown"
    duration_s: float
    answer: str | None = None

    @classmethod
    def of(cls, id: str, ending: Ending[str], **produced: Any) -> Self:
        """Return the result of a task that ended so; `produced` are the other fields."""
        return cls(
            id=id,
            ok=ending.ok,
            status=ending.status,
            exit_code=ending.exit_code or 0,
            sentence=ending.sentence,
            duration_s=ending.duration_s or 0.0,
            **produced,
        )


_encode = msgspec.json.Encoder().encode
_decode_terms = msgspec.json.Decoder(BatchTerms).decode
_decode_result = msgspec.json.Decoder(BatchResult).decode


class BatchBusyError(NightrookError):
    """Another process runs the batch."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"batch {name!r} is already running: watch it with  {suggested('attach', name)}"
        )


class BatchFolder(ProcessFolder):
    """The files of one batch."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "batch")

    @property
    def home(self) -> Path:
        """The home that also holds the runs and loops of this batch."""
        return self.path.parent.parent

    @property
    def tasks_path(self) -> Path:
        """The file of tasks, for messages."""
        return self.path / _TASKS

    @property
    def created_at(self) -> float:
        """Time of creation, in seconds since 1970; 0 if it is damaged."""
        try:
            return self.tasks_path.lstat().st_mtime
        except OSError:
            return 0.0

    def tasks(self) -> bytes:
        """Read the tasks, one JSON object a line."""
        return self._files.read(_TASKS) or b""

    def terms(self) -> BatchTerms:
        """Read the limits on tasks at once and on their total cost."""
        return self._files.load(_TERMS, _decode_terms) or BatchTerms()

    def update_terms(self, changes: Mapping[str, Any]) -> BatchTerms:
        """Change the terms that are named, keep the others, and return all of them."""
        terms = msgspec.structs.replace(self.terms(), **changes)
        self._files.replace(_TERMS, _encode(terms) + b"\n")
        return terms

    def results(self) -> list[BatchResult]:
        """Read the results so far; a line that a crash cut short is left out."""
        return list(self._files.lines(_RESULTS, _decode_result))

    def new_results(self) -> NewLines[BatchResult]:
        """A reader of the results from the first on, for a batch that is running."""
        return NewLines(self.path, _RESULTS, _decode_result)

    def add_result(self, result: BatchResult) -> None:
        """Append a result and sync it to disk."""
        fd = self._files.append(_RESULTS)
        try:
            with explained(self.path / _RESULTS):
                os.write(fd, _encode(result) + b"\n")
                os.fsync(fd)  # guards: task-synced
        finally:
            os.close(fd)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock this batch for running it; raise a BatchBusyError if another process runs it."""
        with self._files.lock() as acquired:
            if not acquired:
                raise BatchBusyError(self.name)
            yield


def create(home: str | PathLike[str], tasks: bytes) -> BatchFolder:
    """Make the folder of a new batch, under a new name."""
    return BatchFolder(BATCHES.create(home, {_TASKS: tasks}))


def find(home: str | PathLike[str], name: str) -> BatchFolder:
    """Find a batch by its name or the unique beginning of it, with or without `batch-`."""
    return BatchFolder(BATCHES.find(home, name))
