"""`rook agents`: which agents there are, whether they are installed, and what each reports."""

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import click
import msgspec

from rookery import agents
from rookery.adapter.agent import Agent, Capabilities, Way
from rookery.cli.live.output import put_json
from rookery.cli.options.parameters import argument, takes
from rookery.cli.options.settings_files import surroundings
from rookery.cli.tables import print_table
from rookery.config.command_options import AgentsOptions
from rookery.config.load import load, untrusted_agent
from rookery.config.source import OwnAgent
from rookery.model.errors import RookeryError, UnknownAgentError
from rookery.model.safe import safe_line
from rookery.process.programs import Installed, installed
from rookery.process.systems.this_system import system

_EXAMPLES = """\b
Examples:
  rook agents
  rook agents codex
  rook agents --check || echo "look before you trust it"
  rook agents --json | jq -r 'select(.path) | .name'
"""
_UNCHECKED = 1
_UNASKED = "a command of this project; name it to ask it for its version"


class _Row(msgspec.Struct, frozen=True, kw_only=True):
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

    @property
    def own(self) -> bool:
        return self.name != self.speaks


@click.command("agents", epilog=_EXAMPLES)
@takes("agents", AgentsOptions)
@argument("names", nargs=-1, metavar="[NAME]...", completes="agents")
def command(options: AgentsOptions, names: tuple[str, ...]) -> None:
    """List the agents: where they are installed, which version, and what each of them reports.

    A checked version is one that rook was tested with. Other versions usually work: messages
    that are new in them are recorded and counted, but may not be shown. With --check, an agent that
    you name and that is not installed counts as unchecked.
    """
    rows = _rows(names)
    if options.json:
        for row in rows:
            put_json(sys.stdout, msgspec.json.encode(row))
    else:
        _print(rows)
        for weakness in system.WEAKER:
            click.echo(f"[rook] weaker here than on Linux: {weakness}", err=True)
    if options.check:
        doubtful = [
            row
            for row in rows
            if not row.checked and (names or (row.path and row.problem != _UNASKED))
        ]
        for row in doubtful:
            click.echo(f"[rook] {row.name}: {safe_line(_doubt(row))}", err=True)
        if doubtful:
            raise click.exceptions.Exit(_UNCHECKED)


def _rows(names: Sequence[str]) -> list[_Row]:
    config = load(surroundings())
    own = {**config.agents, **config.ignored_agents}
    known = (*agents.names(), *sorted(own))
    for name in names:
        if name in config.ignored_agents:
            raise untrusted_agent(own[name])
        if name not in known:
            raise UnknownAgentError(name, known)
    wanted = names or [name for name in known if _can_be_loaded(name, own.get(name))]
    with ThreadPoolExecutor(len(wanted)) as pool:  # each may take its time to answer
        return list(pool.map(lambda name: _row(name, own.get(name), named=bool(names)), wanted))


def _can_be_loaded(name: str, own: OwnAgent | None) -> bool:
    """Report an agent whose package is broken, and list the others."""
    try:
        agents.agent(own.speaks if own else name)
    except RookeryError as error:
        click.echo(f"[rook] {safe_line(str(error))}", err=True)
        return False
    return True


def _row(name: str, own: OwnAgent | None, *, named: bool) -> _Row:
    agent = agents.agent(own.speaks if own else name)
    if own and own.of_project and not named:
        command, found = own.command, Installed(path=own.command[0], problem=_UNASKED)
    else:
        command, found = _found(agent, own)
    return _Row(
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
    )


def _found(agent: Agent, own: OwnAgent | None) -> tuple[tuple[str, ...], Installed]:
    commands = [own.command] if own else [(program,) for program in agent.programs]
    for command in commands:
        found = installed(command, keeps_variable=agent.keeps_variable)
        if found.path is not None:
            return command, found
    return commands[0], Installed(path=None)


def _print(rows: Sequence[_Row]) -> None:
    print_table(
        [
            ("AGENT", "VERSION", "CHECKED", "KNOWN FROM", "INSTALLED"),
            *(
                (row.name, row.version or "-", _checked(row), row.evidence, _where(row))
                for row in rows
            ),
        ]
    )
    known = {row.speaks: row.capabilities for row in rows}
    reported = [name for name in Capabilities.__struct_fields__ if name != "notes"]
    click.echo()
    print_table(
        [
            ("REPORTS", *known),
            *(
                (name.replace("_", " "), *(getattr(c, name) for c in known.values()))
                for name in reported
            ),
        ]
    )
    notes = [f"{name}: {note}" for name, reports in known.items() for note in reports.notes]
    ways = {row.speaks: row.ways for row in rows}
    notes += [
        f"{name} --via {way.name}: {note}"
        for name, offered in ways.items()
        for way in offered
        for note in way.notes
    ]
    if notes:
        click.echo("\n" + "\n".join(notes))


def _checked(row: _Row) -> str:
    if row.checked:
        return "yes"
    newest = max(row.checked_versions, key=_order, default="none")
    return f"no ({newest})" if row.version else newest


def _order(version: str) -> list[tuple[bool, int, str]]:
    """A key that puts 2.0.76 before 2.0.128."""
    return [
        (part.isdigit(), int(part) if part.isdigit() else 0, part) for part in version.split(".")
    ]


def _where(row: _Row) -> str:
    if row.path is None:
        return f"no: {row.install}" if row.install else f"no: {row.command[0]} is missing"
    return f"{row.path}: {row.problem}" if row.problem else row.path


def _doubt(row: _Row) -> str:
    if row.path is None:
        return "is not installed"
    if row.version is None:
        return row.problem or "does not report its version"
    return f"{row.version} is not one of the checked versions ({', '.join(row.checked_versions)})"
