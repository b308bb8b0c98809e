"""`rook trust`: lets a project's file loosen settings, as long as its content stays the same."""

import os
import sys
from pathlib import Path

import click

from nightrook.cli.options.defaults import shown_value
from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.options.settings_files import surroundings
from nightrook.config import trust
from nightrook.config.command_options import TrustOptions
from nightrook.config.files import NAME, Surroundings
from nightrook.config.load import Review, review
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe_line
from nightrook.model.text import count

_EXAMPLES = """\b
Examples:
  rook trust                     show what the file loosens, and ask
  rook trust --yes               trust it without a question, as in CI
  rook trust --list              list the files that you trust
  rook trust --revoke ~/project  stop trusting a project's file
"""
_NOT_TRUSTED = 1


@click.command("trust", epilog=_EXAMPLES)
@takes("trust", TrustOptions)
@argument("folder", required=False, type=click.Path(file_okay=False), metavar="[FOLDER]")
def command(options: TrustOptions, folder: str | None) -> None:
    """Let a project's rook.toml loosen settings and define agents.

    Without trust, a project's file can only tighten: rook ignores rules that allow tools, higher
    limits, another agent or model, commands and anything else that allows more, costs more or
    shows less. Trust is for the content of the file: when it changes, run rook trust again. Agents
    that rook runs cannot use this command.

    Exit codes: 0 trusted, or nothing needs trust; 1 you answered no; 2 there is nothing to trust,
    or no terminal to ask on.
    """
    around = surroundings()
    if folder is not None:
        around = around._replace(cwd=Path(os.path.realpath(folder)))
    if options.list:
        _list(around)
    elif options.revoke:
        _revoke(around)
    else:
        _trust(around, yes=options.yes)


def _trust(around: Surroundings, *, yes: bool) -> None:
    """Show what the project's file loosens, and trust it if the user agrees."""
    if around.environment.get("ROOK_RUN_DIR"):  # guards: agent-no-trust
        raise NightrookError("an agent cannot trust a file for you: run rook trust yourself")
    found = review(around)
    if found is None:
        raise NightrookError(f"there is no {NAME} of a project in {around.cwd} or above it")
    path = found.file.path
    if not found.settings and not found.agents:
        click.echo(safe_line(f"Nothing in {path} needs trust: it only tightens."))
        return
    click.echo("\n".join(map(safe_line, _lines(found))))  # guards: trust-text-safe
    if found.is_trusted:
        click.echo("You trust this content already.")
        return
    # guards: trust-needs-yes
    if not yes and not _is_confirmed(count(len(found.settings) + len(found.agents), "line")):
        click.echo("Not trusted: rook ignores these lines.")
        raise click.exceptions.Exit(_NOT_TRUSTED)
    trust.add(around.trusted, found.file)
    click.echo(safe_line(f"Trusted until it changes: {path}"))


def _lines(found: Review) -> list[str]:
    """The settings that need trust, each with its line in the file."""
    lines = [f"{found.file.path} loosens:"]
    for each in found.settings:
        profile = f"[profile.{each.profile}] " if each.profile else ""
        setting = f"{profile}{each.name} = {shown_value(each.raw)}"
        lines.append(f"  line {each.place.rpartition(':')[2]}: {setting}")
    for own in found.agents:
        table = f"[agents.{own.name}] runs {shown_value(own.command)}"
        lines.append(f"  line {own.place.rpartition(':')[2]}: {table}")
    return lines


def _is_confirmed(lines: str) -> bool:
    if not all(file and file.isatty() for file in (sys.stdin, sys.stdout)):
        raise NightrookError("there is no terminal to ask on: read the file, then use --yes")
    return click.confirm(f"Trust the file as it is now, with {lines} that loosen settings?")


def _revoke(around: Surroundings) -> None:
    """Stop trusting the project's file; it need not exist any more."""
    known = {Path(os.path.realpath(around.cwd / NAME))}
    if (found := review(around)) is not None:
        known.add(found.file.path)
    if not sum(trust.revoke(around.trusted, path) for path in known):
        raise NightrookError(f"no {NAME} in {around.cwd} or above it is trusted")
    click.echo("No longer trusted: rook ignores what the project's file loosens.")


def _list(around: Surroundings) -> None:
    for path in trust.paths(around.trusted):
        click.echo(safe_line(str(path)))
