"""The earlier run whose session a new run resumes."""

from pathlib import Path

import msgspec

from rookery import agents
from rookery.model.errors import RookeryError
from rookery.model.events import Usage
from rookery.runs.heal import healed
from rookery.store import runs
from rookery.store.run_formats import RunInfo


class NoSessionError(RookeryError):
    """A run that cannot be resumed, or not this way."""


class EarlierRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run with a session to resume; what its folder does not contain is None."""

    run: str
    session: str
    agent: str | None
    via: str | None
    program: tuple[str, ...] | None
    called: str | None
    """What the user calls the agent; None if by its own name."""

    foreign_command: str | None
    """The command that ran, if it is not the agent's own and how to call it was not recorded."""

    worktree: str | None = None
    """The folder that it worked in, if that is in a git worktree of its own and still exists."""

    total: Usage | None
    """What the session has used, as its agent counts it."""

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


def earlier_run(home: Path, name: str) -> EarlierRun:
    """Return the run of that name, judged; a NoSessionError if it has no session to resume."""
    folder = healed(runs.find(home, name))
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
    )


def _worktree(info: RunInfo) -> str | None:
    return info.cwd if info.worktree is not None and Path(info.cwd).is_dir() else None


def _foreign_command(info: RunInfo) -> str | None:
    """The command of a folder that does not say which of its words call the agent."""
    if info.program or not info.command:
        return None
    known = agents.agent_for(info.command[0])
    return None if known is not None and known.name == info.agent else info.command[0]
