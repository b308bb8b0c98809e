"""Run folders: what each keeps, how they are made, found and read."""

import json
import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn, TypeVar

import msgspec

from rookery.model.errors import (
    DamagedRunError,
    NewerRunError,
    RookeryError,
    RunFolderError,
    UnknownRunError,
)
from rookery.model.events import Usage
from rookery.model.fold import Beginning
from rookery.model.ledger import Source
from rookery.model.verdict import Facts, Outcome, Verdict
from rookery.store.files import Folder
from rookery.store.names import RUNS as _RUNS
from rookery.store.names import check_name, is_name, new_names, pick

FORMAT = 1
"""The version of the state files; a folder of a later one is not read."""

Stream = Literal["stdout", "stderr"]
Log = Literal["stdout", "stderr", "stdin", "arrivals"]

_NEW = "new"
"""Where a run is made before it has a name."""
_STALE_S = 3600.0
_INFO, _EXIT, _VERDICT = "run.json", "exit.json", "verdict.json"
_FILES: dict[Log, str] = {
    "stdout": "stdout.raw",
    "stderr": "stderr.raw",
    "stdin": "stdin.raw",
    "arrivals": "arrivals",
}
_STREAMS: dict[bytes, Stream] = {b"o": "stdout", b"e": "stderr"}
_ARRIVAL = re.compile(rb"(\d{1,15}\.\d{6}) ([oeOE]) (\d{1,19}) (\d{1,19})")
_LONGEST_ARRIVAL = 256
_CHUNK = 256 * 1024
_ROOM = ".room"
_ROOM_SIZE = 32 * 1024  # for the verdict and an answer of usual length
_PROC = "/proc"


class RunInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked, and who runs it: `run.json`."""

    format: int = FORMAT
    name: str = ""
    """Given by `create`."""

    agent: str | None = None
    called: str | None = None
    """What the user calls the agent; None if by its own name."""

    via: str | None = None
    """In which of its ways the agent is run; None if it has but one, or nobody kept that."""

    program: list[str] | None = None
    """The words of the command that call the agent, before those that it is given."""

    command: list[str]
    cwd: str
    prompt: str | None = None
    model: str | None = None
    permission: str | None = None
    allow_denials: bool = False
    """Whether a run that finished although tools were denied counts as a success."""

    started_at: float
    resumed_from: str | None = None
    continues: bool = False
    """Whether it goes on with a session, of a run of ours or not."""

    earlier: Usage | None = None
    """What that session had used, as its agent counts; None if nobody knows."""

    piped: bool = False
    """Whether somebody else started it and piped its stream to us: its exit code is not known."""

    loop: str | None = None
    """The loop or batch that it is part of."""

    iteration: int | None = None
    """Which of the loop's runs, or of the batch's tasks, it is."""

    runner_pid: int | None = None
    runner_ticks: int | None = None
    """When the runner was started, in the system's ticks: another process of that pid differs."""

    recorder_pid: int | None = None
    recorder_ticks: int | None = None
    rookery_version: str | None = None

    @property
    def label(self) -> str | None:
        """What the lines of its agent begin with; None if no agent is known."""
        return self.agent and (self.called or self.agent)


class ExitInfo(msgspec.Struct, frozen=True, kw_only=True):
    """How the agent's process ended: `exit.json`."""

    format: int = FORMAT
    started: bool
    pid: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    stopped_for: str | None = None
    started_at: float | None = None
    ended_at: float
    lost_stdout: int = 0
    """Bytes that a full disk lost."""

    lost_stderr: int = 0
    survivors: int = 0
    """Processes of the agent that could not be ended."""

    complaint: str | None = None
    """Why the program could not be started."""

    missing_program: str | None = None
    """The program that is not installed."""


class VerdictInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the run: `verdict.json`."""

    format: int = FORMAT
    status: Outcome
    sentence: str
    exit_code: int
    ended_at: float
    cost_usd: float | None = None
    spent_usd: float | None = None
    cost_source: Source = "unknown"
    turns: int | None = None
    session: str | None = None
    model: str | None = None
    total: Usage | None = None
    """What the whole session has used, where its agent counts so; a resumed run begins there."""

    facts: Facts = Facts()

    @property
    def verdict(self) -> Verdict:
        """The verdict alone; one saved by an earlier version has no facts."""
        return Verdict(
            status=self.status,
            sentence=self.sentence,
            exit_code=self.exit_code,
            facts=self.facts,
        )


class Arrival(NamedTuple):
    """Bytes of a log that came, or that a full disk lost there."""

    at: float
    stream: Stream
    offset: int
    length: int
    lost: int


_Info = TypeVar("_Info", RunInfo, ExitInfo, VerdictInfo)


@dataclass(frozen=True)
class RunFolder:
    """What one run keeps.

    Its files are read as they are now, also while the run goes on. Methods raise a RunFolderError
    for what cannot be read or written, and an UnknownRunError when the folder is gone.
    """

    path: Path

    def __post_init__(self) -> None:
        check_name(self.path.name)

    @property
    def name(self) -> str:
        """What the run is called."""
        return self.path.name

    def info(self) -> RunInfo | None:
        """What was asked; None if somebody took that away."""
        return self._load(_INFO, RunInfo)

    def exit(self) -> ExitInfo | None:
        """How the agent ended; None while it has not."""
        return self._load(_EXIT, ExitInfo)

    def verdict(self) -> VerdictInfo | None:
        """What became of the run; None while nobody has judged it."""
        return self._load(_VERDICT, VerdictInfo)

    def write_info(self, info: RunInfo) -> None:
        """Keep what was asked, in one step."""
        with self.opened() as folder:
            folder.replace(_INFO, _dump(info))

    def write_exit(self, info: ExitInfo, *, overwrite: bool = True) -> bool:
        """Save how the agent's process ended, in one step; False if it was saved before."""
        return self._write(_EXIT, info, overwrite=overwrite)

    def write_verdict(self, info: VerdictInfo, *, overwrite: bool = True) -> bool:
        """Save what became of the run, in one step; False if it was saved before."""
        return self._write(_VERDICT, info, overwrite=overwrite)

    def _write(self, name: str, info: "ExitInfo | VerdictInfo", *, overwrite: bool) -> bool:
        with self.opened() as folder:
            if not overwrite:
                return folder.create(name, _dump(info))
            folder.replace(name, _dump(info))
            return True

    def reserve(self) -> None:
        """Take the room for how it ends now, while there is some: a disk may get full."""
        with suppress(RunFolderError, OSError), self.opened() as folder:
            fd = folder.append(_ROOM)
            try:
                os.write(fd, bytes(_ROOM_SIZE))
            finally:
                os.close(fd)

    def release(self) -> None:
        """Give that room back, to those who write how it ended."""
        with suppress(RunFolderError), self.opened() as folder:
            folder.discard(_ROOM)

    def open_log(self, log: Log) -> int:
        """Open a log to append to, made if it is missing; the descriptor is the caller's."""
        with self.opened() as folder:
            return folder.append(_FILES[log])

    def read_at(self, log: Log, offset: int, size: int) -> bytes:
        """Read at most so many bytes of what a log has now; nothing at its end, never waiting."""
        with self.opened() as folder:
            return folder.read_at(_FILES[log], offset, size) or b""

    def size(self, log: Log) -> int:
        """How many bytes a log has now."""
        with self.opened() as folder:
            return folder.size(_FILES[log]) or 0

    def chunks(self, log: Log, offset: int = 0) -> Iterator[bytes]:
        """Read a log from a position to its present end."""
        while data := self.read_at(log, offset, _CHUNK):
            yield data
            offset += len(data)

    def arrivals(self) -> Iterator[Arrival]:
        """When which bytes came; a last line that is torn, or any that is damaged, is left out."""
        rest = b""
        for data in self.chunks("arrivals"):
            *lines, rest = (rest + data).split(b"\n")
            rest = rest[-_LONGEST_ARRIVAL:]
            yield from (arrival for arrival in map(_arrival, lines) if arrival is not None)

    @contextmanager
    def opened(self) -> Iterator[Folder]:
        """The folder itself, open: for those who keep more in it."""
        runs = self.path.parent
        folder = Folder.at(runs.parent, runs.name, self.name)
        if folder is None:
            raise UnknownRunError(self.name)
        with folder:
            yield folder

    def _load(self, name: str, kind: type[_Info]) -> _Info | None:
        with self.opened() as folder:
            data = folder.read(name)
        return None if data is None else _parse(data, kind, str(self.path / name))


def beginning_of(info: RunInfo | None) -> Beginning:
    """What is known of a run before its agent has written a word."""
    if info is None:
        return Beginning()
    cwd = None if info.piped else info.cwd  # whoever writes to a pipe may work anywhere
    if not info.continues:
        return Beginning(model=info.model, cwd=cwd)
    return Beginning(model=info.model, cwd=cwd, earlier=info.earlier)


def create(home: str | PathLike[str], info: RunInfo) -> RunFolder:
    """Make the folder of a new run, under a new name; home is made if it is missing.

    It gets its name when it has its `run.json`, so that there is no run of which nothing is known.
    The runner is the calling process, unless the info names another.
    """
    path = _absolute(home)
    if info.runner_pid is None:
        pid = os.getpid()
        info = msgspec.structs.replace(info, runner_pid=pid, runner_ticks=start_ticks(pid))
    with Folder.made(path) as above, above.own(_RUNS) as others, above.own(_NEW) as makers:
        makers.sweep(_STALE_S)  # what those left who were killed while they made a run
        unnamed = os.urandom(8).hex()
        try:
            with makers.own(unnamed) as folder:
                for name in new_names():
                    folder.replace(_INFO, _dump(msgspec.structs.replace(info, name=name)))
                    if makers.move(unnamed, others, name):
                        return RunFolder(path / _RUNS / name)
        except RunFolderError:
            makers.remove(unnamed)
            raise
    raise AssertionError("there is always another name")


def find(home: str | PathLike[str], name: str) -> RunFolder:
    """The run of that name, or the only one whose name begins so.

    A BadRunNameError, AmbiguousRunError or UnknownRunError says why there is none.
    """
    check_name(name)
    path = _absolute(home)
    exact = Folder.at(path, _RUNS, name)
    if exact is None:
        return RunFolder(path / _RUNS / pick(name, _names(path)))
    with exact:
        return RunFolder(exact.path)


def runs(home: str | PathLike[str]) -> list[RunFolder]:
    """All runs, the newest first; those that do not tell when they began come last."""
    path = _absolute(home)
    folders = [RunFolder(path / _RUNS / name) for name in _names(path)]
    return sorted(folders, key=lambda folder: (-_started(folder), folder.name))


def last(home: str | PathLike[str]) -> RunFolder | None:
    """The run that was begun last; None if there is none."""
    return next(iter(runs(home)), None)


def is_alive(pid: int, ticks: int | None) -> bool:
    """Tell whether a process lives, and is the one that was started at those ticks."""
    if pid <= 0:
        return False
    if os.path.exists(f"{_PROC}/self/stat"):
        found = _stat(pid)
        return found is not None and found[0] not in "ZX" and ticks in (None, found[1])
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True  # it lives, but is not ours
    return True


def at_work(info: RunInfo, alive: Callable[[int, int | None], bool]) -> bool:
    """Tell whether the runner or the recorder of a run lives."""
    known = ((info.runner_pid, info.runner_ticks), (info.recorder_pid, info.recorder_ticks))
    return any(pid is not None and alive(pid, ticks) for pid, ticks in known)


def start_ticks(pid: int) -> int | None:
    """When a process was started, in the system's ticks; None if the system does not tell."""
    found = _stat(pid)
    return None if found is None else found[1]


def _stat(pid: int) -> tuple[str, int] | None:
    """The state and the start time of a process."""
    try:
        stat = Path(f"{_PROC}/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = stat[stat.rfind(b")") + 2 :].split()  # the name before may hold blanks and brackets
    return (fields[0].decode(), int(fields[19])) if len(fields) > 19 else None


def _absolute(home: str | PathLike[str]) -> Path:
    return Path(os.path.abspath(home))


def _names(home: Path) -> list[str]:
    """The names of all runs."""
    folder = Folder.at(home, _RUNS)
    if folder is None:
        return []
    with folder:
        return [name for name in folder.folders() if is_name(name)]


def _started(folder: RunFolder) -> float:
    try:
        info = folder.info()
    except RookeryError:
        return -math.inf
    return -math.inf if info is None else info.started_at


def _arrival(line: bytes) -> Arrival | None:
    found = _ARRIVAL.fullmatch(line)
    if found is None:
        return None
    at, letter, offset, count = found.groups()
    lost = letter.isupper()
    length = int(count)
    stream = _STREAMS[letter.lower()]
    return Arrival(float(at), stream, int(offset), 0 if lost else length, length if lost else 0)


def _dump(info: RunInfo | ExitInfo | VerdictInfo) -> bytes:
    try:
        return msgspec.json.format(msgspec.json.encode(info), indent=2) + b"\n"
    except UnicodeEncodeError:  # an argument or a path that is not UTF-8
        return json.dumps(msgspec.to_builtins(info), indent=2).encode() + b"\n"


def _parse(data: bytes, kind: type[_Info], path: str) -> _Info:
    # Not msgspec's own decoder: it refuses what stands for bytes that are not UTF-8.
    try:
        fields = json.loads(data, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise DamagedRunError(path, "is torn, or no JSON") from error
    version = fields.get("format") if isinstance(fields, dict) else None
    if isinstance(version, int) and version > FORMAT:
        raise NewerRunError(path, f"has format {version}, and we know {FORMAT}")
    try:
        return msgspec.convert(fields, kind)
    except (ValueError, OverflowError) as error:  # its text may quote what an agent wrote
        raise DamagedRunError(path, "does not say what it should") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")
