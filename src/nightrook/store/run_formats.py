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
    """Name of the agent in the user's settings; None if it goes by its own name."""

    via: str | None = None
    """The way in which the agent is run; None if it has only one, or it is unknown."""

    program: list[str] | None = None
    """The first words of the command, which call the agent; its arguments follow."""

    command: list[str]
    """Command as a person would type it, with the prompt."""

    argv: list[str] | None = None
    """Command line that was started; None if it is `command`."""

    cwd: str
    worktree: str | None = None
    """The git worktree that was made for it, which `cwd` is in."""

    prompt: str | None = None
    model: str | None = None
    permission: str | None = None
    allow_denials: bool = False
    """True if a run that finished although tools were denied counts as a success."""

    started_at: Moment
    resumed_from: str | None = None
    continues: bool = False
    """True if it continues a session, of a run of ours or not."""

    earlier: Usage | None = None
    """Usage of that session before, by its agent's count; None if unknown."""

    earlier_usd: float | None = None
    """Cost of that session before, by the same count; None if unknown."""

    piped: bool = False
    """True if its stream was piped to rook: its exit code is not known."""

    loop: str | None = None
    """The loop or batch that it is part of."""

    iteration: int | None = None
    """Number among the loop's runs, or the batch's tasks."""

    fleet: str | None = None
    """The server of the fleet that runs it; beats say whether it lives, not its processes."""

    machine: str | None = None
    """The worker of the fleet that runs it, once that is known."""

    runner_pid: int | None = None
    runner_ticks: int | None = None
    """Start of the runner in system ticks, to distinguish processes with the same pid."""

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
        """Prefix of its agent's lines; None if no agent is known."""
        return self.agent and (self.called or self.agent)


class WrittenLog(msgspec.Struct, frozen=True, kw_only=True):
    """Size and hash of a log as the recorder wrote it."""

    size: int
    sha256: str


class ExitInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Exit of the agent's process: `exit.json`."""

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
    """Logs as the recorder wrote them; empty if it died, or was of an earlier version."""

    left_behind: list[str] = []
    """The names of the processes that the agent left running when it exited, and rook ended."""

    survivors: int = 0
    """Processes of the agent that could not be ended."""

    complaint: str | None = None
    """Reason why the program could not be started."""

    missing_program: str | None = None
    """The program that is not installed."""

    @property
    def log_sizes(self) -> dict[str, int]:
        """Bytes the recorder wrote to each log; empty if that is unknown."""
        return {log: written.size for log, written in self.logs.items()}


class VerdictInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Verdict on the run: `verdict.json`."""

    format: int = FORMAT
    status: Outcome
    sentence: str
    exit_code: ExitCode
    ended_at: Moment
    cost_usd: float | None = None
    spent_usd: float | None = None
    cost_source: Source = "unknown"
    cost_at_least: bool = False
    """True if the agent does not report all that it spent."""

    turns: int | None = None
    session: str | None = None
    model: str | None = None
    total: Usage | None = None
    """Usage of the whole session, if its agent counts that; a resumed run starts there."""

    total_usd: float | None = None
    """Cost of the whole session, by the same count."""

    tokens: TokenCounts | None = None
    """Tokens of this run; None if an earlier version saved it."""

    files: list[str] | None = None
    """The first files that the agent reported as changed; None if an earlier version saved it."""

    log_sizes: dict[str, int] = {}
    """Bytes the recorder wrote to each log; empty if that is unknown."""

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
        """Difference between its logs and what the recorder wrote."""
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
    """Return the facts about a run that are known before its agent has written anything."""
    from nightrook.model.fold import Beginning  # so that lists stay quick

    if info is None:
        return Beginning()
    cwd = None if info.piped else info.cwd  # the writer of a pipe may work anywhere
    if not info.continues:
        return Beginning(model=info.model, cwd=cwd)
    return Beginning(model=info.model, cwd=cwd, earlier=info.earlier, earlier_usd=info.earlier_usd)


def at_work(info: RunInfo, alive: Callable[[int, int | None], bool]) -> bool:
    """True if the runner or the recorder of a run is alive."""
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
