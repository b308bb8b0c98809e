"""The formats of `run.json`, `exit.json` and `verdict.json`."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Self, TypeVar

import msgspec
from msgspec import Meta

from nightrook.model.ending import Ending
from nightrook.model.errors import DamagedRunError, NewerRunError
from nightrook.model.events import Usage
from nightrook.model.facts import NOTHING_KNOWN, Facts
from nightrook.model.ledger import Source
from nightrook.model.snapshot import TokenCounts
from nightrook.model.status import Outcome
from nightrook.model.verdict import Verdict

if TYPE_CHECKING:
    from nightrook.model.fold import Beginning

FORMAT = 1
"""The version of the state files; a folder of a later one is not read."""


Moment = Annotated[float, Meta(ge=0, lt=1e11)]
"""Seconds since 1970, up to a year that calendars have."""

ExitCode = Annotated[int, Meta(ge=0, le=255)]


class RunInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a run and its processes: `run.json`."""

    format: int = FORMAT
    name: str = ""
    """Set by `create`, which tries this name first."""

    agent: str | None = None
    called: str | None = None
    """What the user calls the agent; None if by its own name."""

    via: str | None = None
    """The way in which the agent is run; None if it has only one, or it is unknown."""

    program: list[str] | None = None
    """The first words of the command, which call the agent; its arguments follow."""

    command: list[str]
    """As a person would type it, with the prompt."""

    argv: list[str] | None = None
    """What was started; None if it is `command`."""

    cwd: str
    worktree: str | None = None
    """The git worktree that was made for it, which `cwd` is in."""

    prompt: str | None = None
    model: str | None = None
    permission: str | None = None
    allow_denials: bool = False
    """Whether a run that finished although tools were denied counts as a success."""

    started_at: Moment
    resumed_from: str | None = None
    continues: bool = False
    """Whether it continues a session, of a run of ours or not."""

    earlier: Usage | None = None
    """What that session had used, by its agent's count; None if unknown."""

    earlier_usd: float | None = None
    """What it had cost, by the same count; None if unknown."""

    piped: bool = False
    """Whether its stream was piped to rook: its exit code is not known."""

    loop: str | None = None
    """The loop or batch that it is part of."""

    iteration: int | None = None
    """Which of the loop's runs, or of the batch's tasks, it is."""

    fleet: str | None = None
    """The server of the fleet that runs it; beats say whether it lives, not its processes."""

    machine: str | None = None
    """The worker of the fleet that runs it, once that is known."""

    runner_pid: int | None = None
    runner_ticks: int | None = None
    """When the runner started, in system ticks, to distinguish processes with the same pid."""

    recorder_pid: int | None = None
    recorder_ticks: int | None = None
    asks_at: str | None = None
    """The socket at which the runner takes decisions; None if the agent cannot ask."""

    nightrook_version: str | None = None
    rookery_version: str | msgspec.UnsetType = (
        msgspec.UNSET
    )  # the same key, before the project's rename

    @property
    def label(self) -> str | None:
        """What the lines of its agent begin with; None if no agent is known."""
        return self.agent and (self.called or self.agent)


class WrittenLog(msgspec.Struct, frozen=True, kw_only=True):
    """What a recorder wrote to one log."""

    size: int
    sha256: str


class ExitInfo(msgspec.Struct, frozen=True, kw_only=True):
    """How the agent's process ended: `exit.json`."""

    format: int = FORMAT
    started: bool
    pid: int | None = None
    exit_code: ExitCode | None = None
    signal: int | None = None
    stopped_for: str | None = None
    started_at: Moment | None = None
    ended_at: Moment
    lost_stdout: int | None = 0
    """Bytes that a full disk lost; None if the recorder died, and the count with it."""

    lost_stderr: int | None = 0
    log_limit: int | None = None
    """The `max_log_size` in bytes, if it was reached: then that is why the bytes were lost."""

    logs: dict[str, WrittenLog] = {}
    """What the recorder wrote to each log; empty if it died, or was of an earlier version."""

    left_behind: list[str] = []
    """The names of the processes that the agent left running when it exited, and rook ended."""

    survivors: int = 0
    """Processes of the agent that could not be ended."""

    complaint: str | None = None
    """Why the program could not be started."""

    missing_program: str | None = None
    """The program that is not installed."""

    @property
    def log_sizes(self) -> dict[str, int]:
        """How many bytes the recorder wrote to each log; empty if that is unknown."""
        return {log: written.size for log, written in self.logs.items()}


class VerdictInfo(msgspec.Struct, frozen=True, kw_only=True):
    """How the run ended: `verdict.json`."""

    format: int = FORMAT
    status: Outcome
    sentence: str
    exit_code: ExitCode
    ended_at: Moment
    cost_usd: float | None = None
    spent_usd: float | None = None
    cost_source: Source = "unknown"
    cost_at_least: bool = False
    """Whether the agent does not report all that it spent."""

    turns: int | None = None
    session: str | None = None
    model: str | None = None
    total: Usage | None = None
    """What the whole session has used, if its agent counts that; a resumed run starts there."""

    total_usd: float | None = None
    """What it has cost, by the same count."""

    tokens: TokenCounts | None = None
    """What this run has used; None if an earlier version saved it."""

    files: list[str] | None = None
    """The first files that the agent reported as changed; None if an earlier version saved it."""

    log_sizes: dict[str, int] = {}
    """How many bytes the recorder wrote to each log; empty if that is unknown."""

    saved_facts: dict[str, Any] = msgspec.field(default_factory=dict, name="facts")
    """The facts as one flat object; a verdict that an earlier version saved has none."""

    def __post_init__(self) -> None:
        if self.saved_facts:
            Facts.read(self.saved_facts)  # of another type, it is a damaged file

    @property
    def facts(self) -> Facts:
        """The facts that decided it."""
        return Facts.read(self.saved_facts) if self.saved_facts else NOTHING_KNOWN

    @property
    def tampered(self) -> str | None:
        """How its logs differ from what the recorder wrote."""
        return self.saved_facts.get("tampered")

    @property
    def verdict(self) -> Verdict:
        """The verdict alone; one saved by an earlier version has no facts."""
        return Verdict(
            status=self.status,
            sentence=self.sentence,
            exit_code=self.exit_code,
            facts=self.facts,
        )

    def ending(self, info: RunInfo | None) -> Ending[Outcome]:
        """The end of the run that `info` describes."""
        started = info.started_at if info else None
        return Ending.of_run(self.verdict, started_at=started, ended_at=self.ended_at)

    def with_tampered_logs(self, how: str) -> Self:
        """The same run, judged again because its logs are not what the recorder wrote."""
        facts = self.facts
        recorder = msgspec.structs.replace(facts.recorder, tampered=how)
        verdict = Verdict.of("incomplete", msgspec.structs.replace(facts, recorder=recorder))
        return msgspec.structs.replace(
            self,
            status=verdict.status,
            sentence=verdict.sentence,
            exit_code=verdict.exit_code,
            saved_facts=verdict.facts.flat(),
        )


_Info = TypeVar("_Info", RunInfo, ExitInfo, VerdictInfo)


def beginning_of(info: RunInfo | None) -> "Beginning":
    """What is known about a run before its agent has written anything."""
    from nightrook.model.fold import Beginning  # so that lists stay quick

    if info is None:
        return Beginning()
    cwd = None if info.piped else info.cwd  # the writer of a pipe may work anywhere
    if not info.continues:
        return Beginning(model=info.model, cwd=cwd)
    return Beginning(model=info.model, cwd=cwd, earlier=info.earlier, earlier_usd=info.earlier_usd)


def at_work(info: RunInfo, alive: Callable[[int, int | None], bool]) -> bool:
    """Whether the runner or the recorder of a run is alive."""
    known = ((info.runner_pid, info.runner_ticks), (info.recorder_pid, info.recorder_ticks))
    return any(pid is not None and alive(pid, ticks) for pid, ticks in known)


def dump(info: RunInfo | ExitInfo | VerdictInfo) -> bytes:
    """Encode a state file."""
    try:
        return msgspec.json.format(msgspec.json.encode(info), indent=2) + b"\n"
    except UnicodeEncodeError:  # an argument or a path that is not UTF-8
        return json.dumps(msgspec.to_builtins(info), indent=2).encode() + b"\n"


def parse(data: bytes, kind: type[_Info], path: str) -> _Info:
    """Decode a state file; the error names its path and quotes nothing of it."""
    try:
        info = msgspec.json.decode(data, type=kind)
    except (ValueError, RecursionError):
        return _parse_slowly(data, kind, path)
    _refuse_newer(info.format, path)
    return info


def _parse_slowly(data: bytes, kind: type[_Info], path: str) -> _Info:
    """Decode what msgspec rejects, such as surrogates for bytes that are not UTF-8."""
    try:
        fields = json.loads(data, parse_constant=_refuse)  # guards: json-numbers
    except (ValueError, RecursionError) as error:
        raise DamagedRunError(path, "is cut off or not JSON") from error
    version = fields.get("format") if isinstance(fields, dict) else None
    if isinstance(version, int):
        _refuse_newer(version, path)
    try:
        return msgspec.convert(fields, kind)
    except (ValueError, OverflowError) as error:  # its text may quote what an agent wrote
        raise DamagedRunError(path, "has unexpected contents") from error


def _refuse_newer(version: int, path: str) -> None:
    if version > FORMAT:  # guards: later-format-refused
        raise NewerRunError(path, f"has format {version}; this version reads format {FORMAT}")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
