"""The earlier run whose session a new run resumes."""

import os
from pathlib import Path

import msgspec

from nightrook import agents
from nightrook.model.errors import BadRunNameError, NightrookError, UnknownRunError
from nightrook.model.events import Usage
from nightrook.runs.crash_recovery import recovered
from nightrook.store.list import NewestFirst, find_run
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import RunInfo

LAST = "last"
"""Name of the newest run in a folder that can be resumed; new runs never have this name."""


class NoSessionError(NightrookError):
    """A run that cannot be resumed, or not this way."""


class EarlierRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run with a session to resume; what its folder does not contain is None."""

    run: str | None
    """Name of the run; None if rook did not record it, and only its agent knows the session."""

    session: str
    agent: str | None
    via: str | None = None
    program: tuple[str, ...] | None = None
    called: str | None = None
    """Name of the agent in the user's settings; None if it goes by its own name."""

    foreign_command: str | None = None
    """The command that ran, if it is not the agent's own and how to call it was not recorded."""

    worktree: str | None = None
    """Folder that it worked in, if that is in its own git worktree and still exists."""

    total: Usage | None = None
    """Usage of the session, as its agent counts it."""

    total_usd: float | None = None
    """Cost of the session, by the same count."""

    def check_agent(self, agent: str) -> None:
        """Refuse another agent than the one whose session it is."""
        if self.agent not in (None, agent):
            raise NoSessionError(
                f"run {self.run!r} is a session of {self.agent}, not of {agent}: "
                f"continue with {self.agent} (leave out --agent), or start a new run"
            )

    def check_session(self) -> None:
        """Refuse a session id, which an agent wrote, that would be an option of its command."""
        if self.session.startswith("-"):
            raise NoSessionError(
                f"run {self.run!r} has the session id {self.session!r}, which would be an option "
                "of the agent: start a new run"
            )

    def check_program(self) -> None:
        """Refuse a run of which it is unknown how to call its program."""
        if self.foreign_command is not None:
            raise NoSessionError(
                f"run {self.run!r} ran {self.foreign_command}, and how to call it was not "
                "recorded: name the agent with --agent NAME"
            )


def earlier_run(home: Path, name: str, *, cwd: str = ".") -> EarlierRun:
    """Return the run that a name, LAST or an agent's session id stands for, judged.

    A NoSessionError says that it has no session to resume.
    """
    folder = _last_in(home, os.path.abspath(cwd)) if name == LAST else _find(home, name)
    info, verdict = folder.info(), folder.verdict()
    if verdict is None or verdict.session is None:
        raise NoSessionError(f"run {name!r} has no session to resume: start a new run")
    return EarlierRun(
        run=folder.name,
        session=verdict.session,
        agent=info.agent if info else None,
        via=info.via if info else None,
        program=tuple(info.program) if info and info.program else None,
        called=info.called if info else None,
        foreign_command=_foreign_command(info) if info else None,
        worktree=_worktree(info) if info else None,
        total=verdict.total,
        total_usd=verdict.total_usd,
    )


def _find(home: Path, name: str) -> RunFolder:
    """The run of that name, or the newest one that has the session of that id."""
    try:
        return recovered(find_run(home, name))
    except (BadRunNameError, UnknownRunError):
        found = (run.folder for run in NewestFirst(home) if _session(run.folder) == name)
        if (folder := next(found, None)) is None:
            raise
        return folder


def _last_in(home: Path, cwd: str) -> RunFolder:
    """The newest run in a folder that has a session to resume."""
    for folder, info, _ in NewestFirst(home):
        if info is not None and info.cwd == cwd and _session(recovered(folder)) is not None:
            return folder
    raise NoSessionError(
        f"no run in {cwd} has a session to resume: name a run (rook runs lists them), or start "
        "a new one"
    )


def _session(folder: RunFolder) -> str | None:
    """The session of a run; None if it has none, is not over or cannot be read."""
    try:
        verdict = folder.verdict()
    except NightrookError:
        return None
    return verdict.session if verdict else None


def _worktree(info: RunInfo) -> str | None:
    return info.cwd if info.worktree is not None and Path(info.cwd).is_dir() else None


def _foreign_command(info: RunInfo) -> str | None:
    """The command of a folder that does not say which of its words call the agent."""
    if info.program or not info.command:
        return None
    known = agents.agent_for(info.command[0])
    return None if known is not None and known.name == info.agent else info.command[0]
