"""`rook agents`: which agents there are, whether they are installed, and what each reports."""

import os
import sys
from collections.abc import Sequence

import click
import msgspec

from nightrook.cli.acp_registry import read_registry, section_of, toml_lines
from nightrook.cli.agent_table import (
    LEGEND,
    agent_details,
    agent_table,
    history_lines,
    stored_details,
    system_details,
)
from nightrook.cli.installed_agents import (
    UNASKED,
    InstalledAgent,
    StoredAgent,
    installed_agents,
    stored_agents,
)
from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.options.settings_files import surroundings
from nightrook.cli.terminal.output import put_json
from nightrook.config.command_options import AgentsOptions
from nightrook.config.load import load
from nightrook.display.console import columns, look_of
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe_line
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
    """Those with a version that was not checked, and those you named that have none."""
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
