"""Gives options the defaults that the user's settings contain."""

import json
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from nightrook import agents
from nightrook.cli.options.settings_files import surroundings
from nightrook.config.load import Config, load, lowest_limits, untrusted_agent
from nightrook.config.settings import SETTINGS
from nightrook.model.errors import UnknownAgentError
from nightrook.model.safe import safe_line

_CONFIG = "nightrook.config"


class _ProfileOption(click.Option):
    completes = "profiles"


def profile_option(usual: Mapping[str, Any] | None = None) -> click.Option:
    """The option that chooses a profile; its callback loads the settings.

    `usual` are the defaults of limits, if the command has no options for them.
    """
    return _ProfileOption(
        ["--profile"],
        metavar="NAME",
        help="Also use the settings of [profile.NAME] in rook.toml.",
        is_eager=True,  # before any option asks for its default
        expose_value=False,
        callback=partial(_load_settings, usual or {}),
    )


def profile(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--profile` to a command whose own options are not settings."""
    params: list[click.Parameter] = getattr(function, "__click_params__", [])
    option = profile_option(lowest_limits())
    function.__click_params__ = [*params, option]  # type: ignore[attr-defined]
    return function


def with_settings(
    ctx: click.Context, flags: Mapping[str, bool], profile: str | None
) -> dict[str, Any]:
    """Return the flags; those that were not given have the values of the settings."""
    config = load(surroundings(), profile)
    ctx.meta[_CONFIG] = config
    values: dict[str, Any] = dict(flags)
    for name in flags.keys() & config.values.keys():
        if ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            values[name] = config.values[name].value and not _is_contradicted(ctx, name)
    if not values.get("quiet"):
        print_project_settings(flags)
    return values


def current_config() -> Config | None:
    """The settings of the running command; None if it takes no settings."""
    config: Config | None = click.get_current_context().meta.get(_CONFIG)
    return config


class ResolvedAgent(NamedTuple):
    """The agent that a name stands for, and the user's own command for it, if any."""

    agent: str
    program: tuple[str, ...] | None = None
    called: str | None = None
    """The name that the user gave that command."""


def resolve_agent(name: str) -> ResolvedAgent:
    """Find the agent that a name stands for."""
    config = current_config()
    own = config.agents if config else {}
    if config and name in config.ignored_agents:
        raise untrusted_agent(config.ignored_agents[name])
    if name in own:
        return ResolvedAgent(own[name].speaks, own[name].command, name)
    if not agents.is_known(name):
        raise UnknownAgentError(name, (*agents.names(), *sorted(own)))
    return ResolvedAgent(name)


def print_project_settings(names: Collection[str] | None = None) -> None:
    """Print the settings a project's file loosens, or would: a user who cloned it did not write it.

    `names` are the settings that the command uses; by default those that it has options for.
    """
    config, ctx = current_config(), click.get_current_context()
    if config is None:
        return
    used = {str(param.name) for param in ctx.command.params} if names is None else set(names)
    used = {
        name for name in used if ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE
    }
    for name, found in config.values.items():
        if found.loosens and name in used:
            _say(f"{found.place} sets {name} = {shown_value(found.raw)} (you trusted this file)")
    ignored = [found for name, found in config.ignored.items() if name in used]
    for found in ignored:
        _say(f"{found.place}: {found.name} = {shown_value(found.raw)} is ignored: not trusted")
    if ignored:
        _say("to use what the project's file loosens, review it with:  rook trust")


def shown_value(value: Any) -> str:
    """A value on one line, as one would write it."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _say(line: str) -> None:
    click.echo(f"[rook] {safe_line(line)}", err=True)


def yield_to_others(ctx: click.Context, option: click.Parameter, value: Any) -> Any:
    """Turn a setting off if an option was given that contradicts it.

    Options that were given are read first, so they are known here.
    """
    name = str(option.name)
    from_file = ctx.get_parameter_source(name) is ParameterSource.DEFAULT_MAP
    return False if from_file and _is_contradicted(ctx, name) else value


def _is_contradicted(ctx: click.Context, setting: str) -> bool:
    """True if an option was given that turns this setting off."""
    return any(
        ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE and ctx.params[name]
        for name in SETTINGS[setting].flag.yields_to
    )


def _load_settings(
    usual: Mapping[str, Any], ctx: click.Context, _: click.Parameter, profile: str | None
) -> None:
    if ctx.resilient_parsing:
        return
    options = (row for param in ctx.command.params if (row := getattr(param, "row", None)))
    defaults = {row.name: row.default for row in options if row.flag.setting}
    config = load(surroundings(), profile, {**usual, **defaults})  # guards: limits-compared
    ctx.meta[_CONFIG] = config
    ctx.default_map = {name: found.value for name, found in config.values.items()}
