"""`rook config`: the settings, and where each comes from."""

import json
import os
import sys
from typing import Any

import click
import msgspec

from nightrook.cli.options.defaults import current_config, profile_option
from nightrook.cli.options.parameters import takes
from nightrook.cli.options.settings_files import surroundings
from nightrook.cli.terminal.output import put_json
from nightrook.config.command_options import ListOptions
from nightrook.config.files import NAME
from nightrook.config.load import Config
from nightrook.config.option import Option
from nightrook.config.settings import SETTINGS
from nightrook.config.units import written, written_size
from nightrook.display.console import look_of
from nightrook.display.table import table
from nightrook.model.safe import safe_line

_EXAMPLES = """\b
Examples:
  rook config
  rook config --profile ci
  rook config --json | jq -r '.settings[] | select(.name == "max_cost").value'
"""


class _Config(click.Command):
    """Lists all settings in its help."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        with formatter.section("Settings"):
            formatter.write_dl(
                [
                    (setting.name, f"{setting.flag.help} Takes {setting.takes}.")
                    for setting in SETTINGS.values()
                ]
            )


class _Row(msgspec.Struct, kw_only=True):
    """A setting, its value and its source."""

    name: str
    value: Any
    source: str
    profile: str | None = None
    ignored: bool = False
    """True if it is ignored because the user does not trust the project's file."""

    instead: Any = None
    """The value that applies if it is ignored."""


@click.command("config", cls=_Config, epilog=_EXAMPLES)
@takes("config", ListOptions)
def command(options: ListOptions) -> None:
    """Show each setting, and the file and line that it comes from.

    A project's setting that needs `rook trust` is shown as ignored, with the value that applies.

    From the weakest to the strongest: your own rook.toml, the project's, the profile in each of
    them, the environment (ROOK_MAX_COST=2), the options of a command.
    """
    config = current_config()
    assert config is not None  # --profile has loaded it
    rows = [_row(config, name) for name in SETTINGS]
    if options.json:
        result = {
            "settings": rows,
            "agents": list(config.agents.values()),
            "ignored_agents": list(config.ignored_agents.values()),
            "profile": config.profile,
            "profiles": config.profiles,
            "files": [str(path) for path in config.files],
        }
        put_json(sys.stdout, msgspec.json.encode(result))
        return
    paint = look_of(sys.stdout, os.environ).paint()
    shown = [(row.name, _shown(row.value), _source(row)) for row in rows]
    click.echo("\n".join(table(("SETTING", "VALUE", "FROM"), shown, paint=paint)))
    if config.agents:
        click.echo()
        own_agents = [
            (own.name, own.speaks, _shown(own.command), _short(own.place))
            for own in config.agents.values()
        ]
        head = ("AGENT", "SPEAKS", "COMMAND", "FROM")
        click.echo("\n".join(table(head, own_agents, paint=paint)))
    click.echo()
    if config.profiles:
        click.echo(safe_line(f"Profiles: {', '.join(config.profiles)}"))
    _say_files(config)


command.params.append(profile_option())


def default(setting: Option) -> Any:
    """The value of a setting that has not been set, as one would write it."""
    value = setting.default
    if setting.is_size and value is not None:
        return written_size(value)
    return written(value) if setting.is_time and value is not None else value


def _row(config: Config, name: str) -> _Row:
    found, ignored = config.values.get(name), config.ignored.get(name)
    setting = SETTINGS[name]
    usual = _unsecret(setting, found.raw if found else default(setting))
    if ignored is not None:
        source, profile = ignored.place, ignored.profile
        return _Row(
            name=name,
            value=_unsecret(setting, ignored.raw),
            source=source,
            profile=profile,
            ignored=True,
            instead=usual,
        )
    if found is None:
        return _Row(name=name, value=usual, source="default")
    return _Row(name=name, value=usual, source=found.place, profile=found.profile)


def _unsecret(setting: Option, value: Any) -> Any:
    """A value to show: of one that may have secrets, only how it begins."""
    # guards: config-hides-secrets
    if not setting.flag.secret or not isinstance(value, (list, tuple)):
        return value
    return [f"{str(each).partition(':')[0]}:…" for each in value]


def _source(row: _Row) -> str:
    ignored = f" (ignored: not trusted; {_shown(row.instead)} applies)" if row.ignored else ""
    return _short(row.source) + (f" (profile {row.profile})" if row.profile else "") + ignored


def _say_files(config: Config) -> None:
    own = surroundings().user_file
    for path in config.files:
        click.echo(safe_line(f"Read: {_short(str(path))}"))
    if own not in config.files:
        click.echo(safe_line(f"Your own settings go in {_short(str(own))}"))
    if config.ignored or config.ignored_agents:
        click.echo("To use what the project's file loosens, review it with:  rook trust")
    if not set(config.files) - {own}:
        click.echo(f"A project's settings go in a {NAME} at its root")


def _shown(value: Any) -> str:
    return "-" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _short(place: str) -> str:
    home = os.path.expanduser("~")
    return "~" + place.removeprefix(home) if place.startswith(home + os.sep) else place
