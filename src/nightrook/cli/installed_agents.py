"""What is known of each agent, in general and on this machine."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import click
import msgspec

from nightrook import agents
from nightrook.adapter.agent import Agent, Capabilities, Way
from nightrook.config.load import Config, untrusted_agent
from nightrook.config.source import OwnAgent
from nightrook.model.errors import NightrookError, UnknownAgentError
from nightrook.model.safe import safe_line
from nightrook.process.programs import Installed, installed

UNASKED = "a command of this project; name it to ask it for its version"
_PATIENCE_S = 10.0


class InstalledAgent(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an agent, in general and on this machine."""

    name: str
    speaks: str
    """The known agent whose stream it writes: itself, unless it is one of the user's own."""

    command: tuple[str, ...]
    path: str | None
    version: str | None
    problem: str | None
    checked: bool | None
    """Whether rook was tested with that version; None if the version is not known."""

    checked_versions: tuple[str, ...]
    evidence: str
    install: str | None
    capabilities: Capabilities
    ways: tuple[Way, ...]
    runs: bool = True
    """Whether rook can run it."""

    history: bool
    """Whether `rook cost` counts the sessions that it keeps on disk."""


class StoredAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that rook cannot run, and whose sessions on disk it counts."""

    name: str
    runs: bool = False
    history: bool = True
    folders: tuple[str, ...]
    """Where its sessions are, below the user's home."""

    notes: tuple[str, ...]
    """What it does not report."""


def stored_agents(names: Sequence[str] = ()) -> list[StoredAgent]:
    """Describe those of these names, or all, of which only the sessions on disk are read."""
    only = [name for name in agents.history_names() if not agents.is_known(name)]
    known = [agents.history(name) for name in only if not names or name in names]
    return [
        StoredAgent(
            name=history.agent,
            folders=tuple(dict.fromkeys(f"~/{place.home}" for place in history.places)),
            notes=history.notes,
        )
        for history in known
    ]


def installed_agents(
    config: Config, names: Sequence[str] = (), *, patience_s: float = _PATIENCE_S
) -> list[InstalledAgent]:
    """Describe the agents of these names, or all, and ask all programs for their versions at once.

    One that has not answered after `patience_s` is described without its version.
    """
    own = {**config.agents, **config.ignored_agents}
    known = (*agents.names(), *sorted(own))
    for name in names:
        if name in config.ignored_agents:
            raise untrusted_agent(own[name])
        if name not in known:
            raise UnknownAgentError(name, dict.fromkeys((*known, *agents.history_names())))
    wanted = names or [name for name in known if _can_be_loaded(name, own.get(name))]

    def described(name: str) -> InstalledAgent:
        return _described(name, own.get(name), named=bool(names), patience_s=patience_s)

    with ThreadPoolExecutor(len(wanted)) as pool:  # guards: versions-at-once
        return list(pool.map(described, wanted))


def _can_be_loaded(name: str, own: OwnAgent | None) -> bool:
    """Report an agent whose package is broken, and list the others."""
    try:
        agents.agent(own.speaks if own else name)
    except NightrookError as error:
        click.echo(f"[rook] {safe_line(str(error))}", err=True)
        return False
    return True


def _described(
    name: str, own: OwnAgent | None, *, named: bool, patience_s: float
) -> InstalledAgent:
    agent = agents.agent(own.speaks if own else name)
    if own and own.of_project and not named:
        command, found = own.command, Installed(path=own.command[0], problem=UNASKED)
    else:
        command, found = _program(agent, own, patience_s)
    return InstalledAgent(
        name=name,
        speaks=agent.name,
        command=command,
        path=found.path,
        version=found.version,
        problem=found.problem,
        checked=found.version in agent.checked_versions if found.version else None,
        checked_versions=agent.checked_versions,
        evidence=agent.evidence,
        install=None if own else agent.install,
        capabilities=agent.capabilities,
        ways=agent.ways,
        history=agent.name in agents.history_names(),
    )


def _program(
    agent: Agent, own: OwnAgent | None, patience_s: float
) -> tuple[tuple[str, ...], Installed]:
    """The first of the agent's programs that is installed."""
    commands = [own.command] if own else [(program,) for program in agent.programs]
    for command in commands:
        found = installed(command, keeps_variable=agent.keeps_variable, patience_s=patience_s)
        if found.path is not None:
            return command, found
    return commands[0] if commands else (), Installed(path=None)
