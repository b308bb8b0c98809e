"""The run that another goes on with: its session, and who ran it in which way."""

from pathlib import Path

import msgspec

from rookery import agents
from rookery.model.errors import RookeryError
from rookery.model.events import Usage
from rookery.runs.heal import healed
from rookery.store import runs
from rookery.store.run_formats import RunInfo


class NoSessionError(RookeryError):
    """A run that cannot be gone on with, or not so."""


class Earlier(msgspec.Struct, frozen=True, kw_only=True):
    """A run that has a session to go on with; what its folder does not tell is None."""

    run: str
    session: str
    agent: str | None
    via: str | None
    program: tuple[str, ...] | None
    called: str | None
    """What the user calls the agent; None if by its own name."""

    stranger: str | None
    """A command that is not the agent's own, of which it is not known how to call it again."""

    total: Usage | None
    """What the session has used, as its agent counts."""

    def check(self, agent: str) -> None:
        """Refuse an agent that cannot know the session; its ways know each other's."""
        if self.agent not in (None, agent):
            raise NoSessionError(
                f"run {self.run!r} is a session of {self.agent}, not of {agent}: "
                f"go on with {self.agent} (leave out --agent), or start a new run"
            )

    def check_program(self) -> None:
        """Refuse to go on with another program than the one whose session it is."""
        if self.stranger is not None:
            raise NoSessionError(
                f"run {self.run!r} was run by {self.stranger}, and how to call that was not kept: "
                "say who shall go on with --agent NAME"
            )


def earlier_run(home: Path, name: str) -> Earlier:
    """The run of that name, judged; a NoSessionError if there is nothing to go on with."""
    folder = healed(runs.find(home, name))
    info, verdict = folder.info(), folder.verdict()
    if verdict is None or verdict.session is None:
        raise NoSessionError(f"run {name!r} has no session to go on with: start a new run")
    return Earlier(
        run=folder.name,
        session=verdict.session,
        agent=info.agent if info else None,
        via=info.via if info else None,
        program=tuple(info.program) if info and info.program else None,
        called=info.called if info else None,
        stranger=_stranger(info) if info else None,
        total=verdict.total,
    )


def _stranger(info: RunInfo) -> str | None:
    """The command of a folder that does not tell the words that call the agent."""
    if info.program or not info.command:
        return None
    known = agents.agent_for(info.command[0])
    return None if known is not None and known.name == info.agent else info.command[0]
