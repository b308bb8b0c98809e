"""`rook config`: which settings apply, and where each comes from."""

import json
import os
from typing import Any

import click
import msgspec

from rookery.cli.commands.run import run_
from rookery.cli.options.defaults import configured, current_config, profile_option
from rookery.cli.options.settings_files import surroundings
from rookery.cli.tables import print_table
from rookery.config.files import NAME
from rookery.config.load import Config
from rookery.config.settings import SETTINGS
from rookery.model.safe import safe_line

_EXAMPLES = """\b
Examples:
  rook config
  rook config --profile ci
  rook config --json | jq -r '.settings[] | select(.name == "max_cost").value'
"""


class _Config(click.Command):
    """Lists the settings that there are in its help."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        with formatter.section("Settings"):
            formatter.write_dl(
                [
                    (setting.name, f"{setting.description} Takes {setting.takes}.")
                    for setting in SETTINGS.values()
                ]
            )


class _Row(msgspec.Struct, kw_only=True):
    """A setting, its value and who says so."""

    name: str
    value: Any
    source: str
    profile: str | None = None


@click.command("config", cls=_Config, epilog=_EXAMPLES)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(as_json: bool) -> None:
    """Show each setting that applies, and the file and line that it comes from.

    From the weakest to the strongest: your own rookery.toml, the project's, the profile in each of
    them, the environment (ROOKERY_MAX_COST=2), the flags of a command.
    """
    config = current_config()
    assert config is not None  # --profile has loaded it
    rows = [_row(config, name) for name in SETTINGS]
    if as_json:
        told = {
            "settings": rows,
            "agents": list(config.agents.values()),
            "profile": config.profile,
            "profiles": config.profiles,
            "files": [str(path) for path in config.files],
        }
        click.echo(msgspec.json.encode(told))
        return
    print_table(
        [
            ("SETTING", "VALUE", "FROM"),
            *((row.name, _shown(row.value), _source(row)) for row in rows),
        ]
    )
    if config.agents:
        click.echo()
        print_table(
            [
                ("AGENT", "SPEAKS", "COMMAND", "FROM"),
                *(
                    (own.name, own.speaks, _shown(own.command), _short(own.place))
                    for own in config.agents.values()
                ),
            ]
        )
    click.echo()
    if config.profiles:
        click.echo(safe_line(f"Profiles: {', '.join(config.profiles)}"))
    _say_files(config)


command.params.append(profile_option())


def defaults() -> dict[str, Any]:
    """What each setting is when nobody says anything: the defaults of the options themselves."""
    info = configured(run_).to_info_dict(click.Context(run_))
    return {option["name"]: option["default"] for option in info["params"]}


def _row(config: Config, name: str) -> _Row:
    found = config.values.get(name)
    if found is None:
        return _Row(name=name, value=defaults()[name], source="default")
    return _Row(name=name, value=found.raw, source=found.place, profile=found.profile)


def _source(row: _Row) -> str:
    return _short(row.source) + (f" (profile {row.profile})" if row.profile else "")


def _say_files(config: Config) -> None:
    own = surroundings().user_file
    for path in config.files:
        click.echo(safe_line(f"Read: {_short(str(path))}"))
    if own not in config.files:
        click.echo(safe_line(f"Your own settings would be in {_short(str(own))}"))
    if not set(config.files) - {own}:
        click.echo(f"A project's would be in a {NAME} at its root")


def _shown(value: Any) -> str:
    return "-" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _short(place: str) -> str:
    home = os.path.expanduser("~")
    return "~" + place.removeprefix(home) if place.startswith(home + os.sep) else place
