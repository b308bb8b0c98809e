"""Gives a command's options the defaults that settings say."""

from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from rookery import agents
from rookery.cli.options.settings_files import surroundings
from rookery.config.load import Config, load
from rookery.config.settings import SETTINGS
from rookery.model.errors import UnknownAgentError
from rookery.model.safe import safe_line

_CONFIG = "rookery.config"
_RIVALS = {"quiet": ("verbose", "as_json", "form"), "verbose": ("quiet",)}
"""Flags of a file that are not meant when one of these is given on the command line."""


def configured(command: click.Command) -> click.Command:
    """Let a command's options take their defaults from settings, and give it `--profile`.

    Every flag that is a setting can then be switched off too, as flags are stronger than files.
    """
    if not any(option.name == "profile" for option in command.params):
        for option in command.params:
            if isinstance(option, click.Option) and option.name in SETTINGS and option.is_bool_flag:
                _make_switchable(option)
        command.params.append(profile_option())
    return command


def profile_option() -> click.Option:
    """The option that chooses a profile; its callback loads the settings."""
    return click.Option(
        ["--profile"],
        metavar="NAME",
        help="Use the settings of [profile.NAME] in rookery.toml too.",
        is_eager=True,  # before any option asks for its default
        expose_value=False,
        callback=_apply,
    )


def settle(ctx: click.Context, flags: dict[str, bool], profile: str | None) -> dict[str, Any]:
    """Give flags as they are meant: those that were not given are as the settings say."""
    config = load(surroundings(), profile)
    meant = dict(flags)
    for name in flags.keys() & config.values.keys():
        if ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            meant[name] = config.values[name].value and not _has_rival(ctx, name)
    return meant


def current_config() -> Config | None:
    """The settings of the command that runs; None for one that takes none."""
    found: Config | None = click.get_current_context().meta.get(_CONFIG)
    return found


class Chosen(NamedTuple):
    """Who is to run: a known agent, and the user's own command that speaks like it, if any."""

    agent: str
    program: tuple[str, ...] | None = None
    called: str | None = None
    """The name that the user gave that command."""


def chosen_agent(name: str) -> Chosen:
    """Who a name stands for."""
    config = current_config()
    own = config.agents if config else {}
    if name in own:
        return Chosen(own[name].speaks, own[name].command, name)
    if not agents.is_known(name):
        raise UnknownAgentError(name, (*agents.names(), *sorted(own)))
    return Chosen(name)


def tell_what_a_project_allows() -> None:
    """Say which tools a project's file lets pass: whoever cloned it did not write it."""
    config, ctx = current_config(), click.get_current_context()
    found = config.values.get("allow") if config else None
    if found is None or not found.of_project or not found.value:
        return
    if ctx.get_parameter_source("allow") is not ParameterSource.COMMANDLINE:
        rules = ", ".join(found.value)
        click.echo(f"[rook] {safe_line(f'{found.place} allows: {rules}')}", err=True)


def _apply(ctx: click.Context, _: click.Parameter, profile: str | None) -> None:
    if ctx.resilient_parsing:
        return
    config = load(surroundings(), profile)
    ctx.meta[_CONFIG] = config
    ctx.default_map = {name: found.value for name, found in config.values.items()}


def _make_switchable(option: click.Option) -> None:
    if not option.secondary_opts:
        word = next(word for word in option.opts if word.startswith("--"))
        off = word.replace("--no-", "--") if word.startswith("--no-") else f"--no-{word[2:]}"
        option.secondary_opts.append(off)
    if option.name in _RIVALS and option.callback is None:
        option.callback = _yield_to_rival


def _yield_to_rival(ctx: click.Context, option: click.Parameter, value: Any) -> Any:
    """Take a file's flag back when a rival was given; those that were given are read first."""
    name = str(option.name)
    from_file = ctx.get_parameter_source(name) is ParameterSource.DEFAULT_MAP
    return False if from_file and _has_rival(ctx, name) else value


def _has_rival(ctx: click.Context, name: str) -> bool:
    """Whether a flag was given that this one of a file is not meant to go with."""
    return any(
        ctx.get_parameter_source(rival) is ParameterSource.COMMANDLINE and ctx.params[rival]
        for rival in _RIVALS.get(name, ())
    )
