"""`rook agents`: the agents, their installed versions, and the facts that each reports."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import click
import msgspec

from nightrook import agents
from nightrook.adapter.agent import Agent, Capabilities, Support, Way
from nightrook.cli.acp_registry import read_registry, section_of, toml_lines
from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.options.settings_files import surroundings
from nightrook.cli.terminal.output import put_json
from nightrook.config.command_options import AgentsOptions
from nightrook.config.load import Config, load, untrusted_agent
from nightrook.config.source import OwnAgent
from nightrook.display import cells
from nightrook.display.console import Paint, columns, look_of
from nightrook.display.table import in_columns, table
from nightrook.model.errors import NightrookError, UnknownAgentError
from nightrook.model.safe import safe_line
from nightrook.process.programs import Installed, installed
from nightrook.process.systems.this_system import system

_EXAMPLES = """\b
Examples:
  rook agents
  rook agents codex
  rook agents --check || echo "look before you trust it"
  rook agents --json | jq -r 'select(.path) | .name'
  rook agents --registry registry.json vibe      a section for rook.toml
"""
_UNCHECKED = 1
UNASKED = "a command of this project; name it to ask it for its version"
_PATIENCE_S = 10.0


class InstalledAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent: its adapter, and its program on this machine."""

    name: str
    speaks: str
    """The known agent whose stream it writes: itself, unless it is one of the user's own."""

    command: tuple[str, ...]
    path: str | None
    version: str | None
    problem: str | None
    checked: bool | None
    """True if rook was tested with that version; None if the version is not known."""

    checked_versions: tuple[str, ...]
    evidence: str
    install: str | None
    capabilities: Capabilities
    ways: tuple[Way, ...]
    runs: bool = True
    """True for an agent that rook can run."""

    history: bool
    """True if `rook cost` counts the sessions that it keeps on disk."""


class StoredAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that rook cannot run, and whose sessions on disk it counts."""

    name: str
    runs: bool = False
    history: bool = True
    folders: tuple[str, ...]
    """The folders of its sessions, below the user's home."""

    notes: tuple[str, ...]
    """Notes on figures that it does not report."""


@click.command("agents", epilog=_EXAMPLES)
@takes("agents", AgentsOptions)
@argument("names", nargs=-1, metavar="[NAME]...", completes="histories")
def command(options: AgentsOptions, names: tuple[str, ...]) -> None:
    """List the agents: which version is installed, and what each of them reports.

    Below them, list those whose sessions on disk `rook cost` counts; some of these rook can't run.

    With a name, show everything that is known of that agent: where it is installed, how it can be
    run, and notes. On a Mac, also show what is weaker there than on Linux.

    A checked version is one that rook was tested with. Other versions usually work: messages
    that are new in them are recorded and counted, but may not be shown. With --check, an agent that
    you name and that is not installed counts as unchecked.
    """
    if options.registry is not None:
        _print_registry(options, options.registry, names)
        return
    stored = stored_agents(names)
    others = [name for name in names if name not in {agent.name for agent in stored}]
    known = installed_agents(load(surroundings()), others) if others or not names else []
    if options.json:
        for agent in (*known, *stored):
            put_json(sys.stdout, msgspec.json.encode(agent))
    else:
        _print(known, stored, details=bool(names))
    doubtful = _doubtful(known, named=bool(names)) if options.check else []
    for agent in known:
        if agent in doubtful or (agent.problem and not options.json and not names):
            click.echo(f"[rook] {agent.name}: {safe_line(_doubt(agent))}", err=True)
    if doubtful:
        raise click.exceptions.Exit(_UNCHECKED)


def _print(
    known: Sequence[InstalledAgent], stored: Sequence[StoredAgent], *, details: bool
) -> None:
    look = look_of(sys.stdout, os.environ)
    width, paint = columns(sys.stdout) if look.terminal else None, look.paint()
    if details:
        parts = [agent_details(each, width=width) for each in known]
        parts += [stored_details(each, width=width) for each in stored]
        if system.WEAKER:
            parts.append(system_details(system.WEAKER, width=width))
        click.echo("\n\n".join("\n".join(part) for part in parts))
    else:
        click.echo("\n".join(agent_table(known, width=width, paint=paint)))
        lines = [*history_lines(known, stored), *([LEGEND] if look.terminal else ())]
        for line in lines:
            click.echo(f"{paint('prefix', '[rook]')} {line}")


def _print_registry(options: AgentsOptions, path: str, names: Sequence[str]) -> None:
    """Print the entries of a registry, or those of these names, as sections for rook.toml."""
    if options.check:
        raise click.UsageError("--registry and --check can't be combined")
    entries, wrong = read_registry(path)
    sections = [section_of(entry) for entry in entries if not names or entry.id in names]
    missing = [name for name in names if name not in {section.id for section in sections}]
    if missing:
        listed = ", ".join(entry.id for entry in entries)
        raise NightrookError(f"{path} has no agent {missing[0]!r}; it has: {listed}")
    for number, section in enumerate(sections):
        if options.json:
            put_json(sys.stdout, msgspec.json.encode(section))
        else:
            lines = [*([""] if number else []), *toml_lines(section)]
            click.echo("\n".join(lines))
    if wrong:
        click.echo(f"[rook] WARNING: {wrong} of its entries could not be read", err=True)


def _doubtful(known: Sequence[InstalledAgent], *, named: bool) -> list[InstalledAgent]:
    """The agents with an unchecked version, and those named by the user without one."""
    return [
        agent
        for agent in known
        if not agent.checked and (named or (agent.path and agent.problem != UNASKED))
    ]


def _doubt(agent: InstalledAgent) -> str:
    if agent.path is None:
        return "is not installed"
    if agent.version is None:
        return agent.problem or "does not report its version"
    checked = ", ".join(agent.checked_versions)
    return f"{agent.version} is not one of the checked versions ({checked})"


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


LEGEND = "- not installed · docs: not tried yet · ~ reported in part · details: rook agents NAME"
REPORTED = {
    "cost": ("COST", "cost"),
    "usage": ("TOKENS", "tokens"),
    "deltas": ("TEXT", "text while it is written"),
    "thinking": ("THINK", "thinking"),
    "denials": ("DENY", "denied calls"),
    "subagents": ("SUBS", "work of subagents"),
    "exit_codes": ("EXIT", "exit codes of commands"),
    "calls": ("CALLS", "calls while they run"),
    "end_event": ("END", "end of a turn"),
    "resume": ("RESUME", "sessions to resume"),
}
"""The heading and the meaning of each capability; a narrow terminal shows only the first ones."""

NATIVE = "native"
"""Shown for an agent that is run only by its own stream."""

_VERSION, _CHECKED, _REPORTS = range(1, 4)
_MARKS: dict[Support, str] = {"yes": "yes", "partly": "~", "no": "no"}
_STYLES = {"~": "note", "no": "bad"}
_FEWEST = 2
_UNCUT = 10_000
_BULLET = "- "


def agent_table(known: Sequence[InstalledAgent], *, width: int | None, paint: Paint) -> list[str]:
    """Lay out one row for each agent; without a width, as wide as needed."""
    shown = len(REPORTED)
    rows = [_row(agent, shown) for agent in known]
    while width and shown > _FEWEST and _needed(rows, shown) > width:
        shown -= 1
        rows = [_row(agent, shown) for agent in known]

    def painted(row: int, column: int, text: str) -> str:
        if column == _REPORTS:
            return re.sub(r"\S+", lambda mark: paint(_STYLES.get(mark[0], "text"), mark[0]), text)
        unsure = column in (_VERSION, _CHECKED) and known[row].path and not known[row].checked
        return paint("bad" if unsure else "text", text)

    return table(_head(shown), rows, width=width, paint=paint, cell=painted)


def agent_details(agent: InstalledAgent, *, width: int | None) -> Iterator[str]:
    """All facts on one agent; its notes are wrapped to the width."""
    facts = [
        ("agent", agent.name if agent.name == agent.speaks else f"{agent.name} ({agent.speaks})"),
        ("version", agent.version or "-"),
        ("checked", _checked(agent)),
        ("known from", agent.evidence),
        ("installed", _place(agent)),
        *(("runs via", _way(way)) for way in agent.ways),
        ("history", "its sessions on disk are counted" if agent.history else "not read"),
    ]
    reported = [
        (meaning, getattr(agent.capabilities, name)) for name, (_, meaning) in REPORTED.items()
    ]
    yield from in_columns([*facts, ("", ""), ("REPORTS", ""), *reported])
    notes = [
        *agent.capabilities.notes,
        *(f"--via {way.name}: {note}" for way in agent.ways for note in way.notes),
    ]
    if notes:
        yield ""
    yield from _list(notes, width=width)


def system_details(weaknesses: Sequence[str], *, width: int | None) -> Iterator[str]:
    """The guarantees that are weaker on this system, wrapped to the width."""
    yield "WEAKER HERE THAN ON LINUX"
    yield from _list(weaknesses, width=width)


def _list(notes: Sequence[str], *, width: int | None) -> Iterator[str]:
    for note in notes:
        first, *others = cells.wrap(safe_line(note), (width or _UNCUT) - len(_BULLET))
        yield _BULLET + first
        yield from (" " * len(_BULLET) + line for line in others)


def stored_details(agent: StoredAgent, *, width: int | None) -> Iterator[str]:
    """All facts on an agent of which only the sessions on disk are read."""
    folders = " ".join(agent.folders)
    yield from in_columns(
        [
            ("agent", safe_line(agent.name)),
            ("runs via", "nothing: rook can't run it"),
            ("history", f"its sessions on disk are counted: {safe_line(folders)}"),
        ]
    )
    if agent.notes:
        yield ""
    yield from _list(agent.notes, width=width)


def history_lines(known: Sequence[InstalledAgent], stored: Sequence[StoredAgent]) -> Iterator[str]:
    """Yield of which agents the sessions on disk are counted, and which of them cannot be run."""
    both = ", ".join(agent.name for agent in known if agent.history)
    only = ", ".join(agent.name for agent in stored)
    yield f"sessions on disk that rook cost counts: {safe_line(both) or 'none'}"
    if only:
        yield f"history only, rook can't run these: {safe_line(only)}"


def _head(shown: int) -> list[str]:
    headings = [heading for heading, _ in REPORTED.values()]
    return ["AGENT", "VERSION", "CHECKED", " ".join(headings[:shown]), "VIA"]


def _row(agent: InstalledAgent, shown: int) -> list[str]:
    marks = [
        _MARKS[getattr(agent.capabilities, name)].ljust(len(heading))
        for name, (heading, _) in REPORTED.items()
    ]
    ways = " ".join(way.name for way in agent.ways) or NATIVE
    version = agent.version or ("-" if agent.path is None else "?")
    return [agent.name, version, _checked(agent), " ".join(marks[:shown]), ways]


def _needed(rows: Sequence[Sequence[str]], shown: int) -> int:
    """The width of the table."""
    return max(map(cells.width, table(_head(shown), rows)))


def _checked(agent: InstalledAgent) -> str:
    if agent.checked:
        return "yes"
    if not agent.command:
        return "-"
    usual = "docs" if agent.evidence == "documentation" else "none"
    newest = max(agent.checked_versions, key=_order, default=usual)
    return f"no ({newest})" if agent.version else newest


def _order(version: str) -> list[tuple[bool, int, str]]:
    """A key that puts 2.0.76 before 2.0.128."""
    return [
        (part.isdigit(), int(part) if part.isdigit() else 0, part) for part in version.split(".")
    ]


def _place(agent: InstalledAgent) -> str:
    if not agent.command:
        return "the command after --, or an agent of your settings"
    if agent.path is None:
        return f"no: {agent.install}" if agent.install else f"no: {agent.command[0]} is missing"
    return f"{agent.path}: {agent.problem}" if agent.problem else agent.path


def _way(way: Way) -> str:
    return f"{way.name} (it can ask for approval)" if way.asks else way.name
