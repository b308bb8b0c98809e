"""Loads settings: the value of each that applies, and its source."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from nightrook import agents
from nightrook.config import trust
from nightrook.config.files import File, Surroundings
from nightrook.config.option import PREFIX, rows
from nightrook.config.options import LoopOptions
from nightrook.config.settings import SETTINGS
from nightrook.config.source import Found, OwnAgent, Source, hint, near, shown, wrong_value
from nightrook.model.errors import ConfigError

PROFILE_VARIABLE = PREFIX + "PROFILE"
_OTHER_VARIABLES = frozenset(
    PREFIX + name
    for name in (
        *("HOME", "PROFILE", "RUN", "RUN_DIR", "SCRIPT"),
        *("STATUS", "EXIT_CODE", "KIND", "NAME", "COST_USD", "ANSWER_FILE", "SENTENCE"),
        *("DURATION_S", "ENDED", "MESSAGE"),
    )
)
"""Variables of rook that are not settings."""

_SURELY_MEANT = 0.8  # less similar variables belong to other programs


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Settings that apply, and those of a project's file that would need trust."""

    values: dict[str, Found]
    agents: dict[str, OwnAgent]
    profile: str | None
    profiles: tuple[str, ...]
    files: tuple[Path, ...]
    """The files that were read, the weakest first."""

    ignored: dict[str, Found] = {}
    """Settings that would apply if the user trusted the project's file."""

    ignored_agents: dict[str, OwnAgent] = {}


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """Settings and agents of a project's file that need the user's trust."""

    file: File
    is_trusted: bool
    settings: tuple[Found, ...]
    agents: tuple[OwnAgent, ...]


def load(
    around: Surroundings, profile: str | None = None, usual: Mapping[str, Any] | None = None
) -> Config:
    """Load the settings that apply; a ConfigError names what is wrong, and the place.

    The weakest first: the user's file, the project's, the profile in each of them, the environment.
    What loosens in a project's file that the user does not trust is left out. `usual` are the
    defaults of the command, which say what loosens; those of `rook run` by default.
    """
    own, project = _sources(around)
    sources = [source for source in (own, project) if source is not None]
    chosen = profile or around.environment.get(PROFILE_VARIABLE) or None
    profiles = tuple(sorted({name for source in sources for name in source.profiles}))
    if chosen is not None and chosen not in profiles:
        raise ConfigError(
            "--profile" if profile else PROFILE_VARIABLE,
            f"there is no profile {chosen!r}{hint(chosen, profiles) or _listed(profiles)}",
        )
    before = _values_without(own, chosen, usual)
    layers = [_compared(source.values, before) for source in sources]
    layers += [_compared(source.profiles.get(chosen or "", {}), before) for source in sources]
    layers.append(dict(_from_environment(around.environment)))
    every = _merged(layers)
    # guards: own-agent-kept
    commands = {**(project.agents if project else {}), **(own.agents if own else {})}
    _check_agent(every.get("agent"), commands)
    trusted = project is None or not _needs_trust(every, commands) or _is_trusted(around, project)
    config = Config(  # guards: loosening-untrusted, project-command-untrusted
        values=every if trusted else _merged(map(_without_loosening, layers)),
        agents={name: each for name, each in commands.items() if trusted or not each.of_project},
        profile=chosen,
        profiles=profiles,
        files=tuple(source.file.path for source in sources),
        ignored={} if trusted else {k: found for k, found in every.items() if found.loosens},
        ignored_agents={} if trusted else {k: v for k, v in commands.items() if v.of_project},
    )
    agent = config.values.get("agent")
    if agent is not None and agent.value in config.ignored_agents:
        raise untrusted_agent(config.ignored_agents[agent.value])
    return config


def review(around: Surroundings) -> Review | None:
    """Return what needs trust in the project's file, with any profile; None without a file."""
    own, project = _sources(around)
    if project is None:
        return None
    settings = _loosening(project.values, _values_without(own, None, lowest_limits()))
    for name, table in project.profiles.items():
        settings += _loosening(table, _values_without(own, name, lowest_limits()))
    return Review(
        file=project.file,
        is_trusted=_is_trusted(around, project),
        settings=tuple(settings),
        agents=tuple(
            each for each in project.agents.values() if not own or each.name not in own.agents
        ),
    )


def untrusted_agent(own: OwnAgent) -> ConfigError:
    """The error for an agent whose command the user has not trusted."""
    return ConfigError(
        own.place,
        f"agent {own.name!r} is a command of this project: review the file and run `rook trust`, "
        "or define the agent in your own settings",
    )


def _sources(around: Surroundings) -> tuple[Source | None, Source | None]:
    own, project = around.files()
    return (
        Source(own, of_project=False) if own else None,
        Source(project, of_project=True) if project else None,
    )


def _is_trusted(around: Surroundings, project: Source) -> bool:
    return trust.is_trusted(around.trusted, project.file)


def _needs_trust(values: Mapping[str, Found], commands: Mapping[str, OwnAgent]) -> bool:
    return any(found.loosens for found in values.values()) or any(
        own.of_project for own in commands.values()
    )


def _values_without(
    own: Source | None, profile: str | None, usual: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The values that apply without a project's file."""
    values = {name: setting.default for name, setting in SETTINGS.items()} | dict(usual or {})
    if own is not None:
        found = {**own.values, **own.profiles.get(profile or "", {})}
        values.update({name: each.value for name, each in found.items()})
    return values


def lowest_limits() -> dict[str, Any]:
    """The lowest default that a command has for each limit: loops have their own."""
    loop = {row.name: row.default for row in rows(LoopOptions)}
    return {
        name: loop[name]
        for name, setting in SETTINGS.items()
        if setting.flag.loosens == "higher" and setting.default is None and name in loop
    }


def _compared(values: Mapping[str, Found], before: Mapping[str, Any]) -> dict[str, Found]:
    """The values of a file, each with whether it loosens."""
    return {
        name: replace(found, loosens=_is_loosening(found, before)) for name, found in values.items()
    }


def _loosening(values: Mapping[str, Found], before: Mapping[str, Any]) -> list[Found]:
    return [found for found in _compared(values, before).values() if found.loosens]


def _is_loosening(found: Found, before: Mapping[str, Any]) -> bool:
    return found.of_project and trust.loosens(SETTINGS[found.name], found.value, before[found.name])


def _without_loosening(layer: Mapping[str, Found]) -> dict[str, Found]:
    return {name: found for name, found in layer.items() if not found.loosens}


def _merged(layers: Iterable[Mapping[str, Found]]) -> dict[str, Found]:
    values: dict[str, Found] = {}
    for layer in layers:
        values.update(layer)
    return values


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Found]]:
    variables = {setting.variable: setting for setting in SETTINGS.values()}
    for variable in sorted(environment):
        text = environment[variable]
        if not variable.startswith(PREFIX) or variable in _OTHER_VARIABLES or not text.strip():
            continue
        if variable not in variables:
            meant = near(variable.removeprefix(PREFIX), SETTINGS, likeness=_SURELY_MEANT)
            if meant is not None:
                raise ConfigError(
                    variable, f"is not a setting; did you mean {SETTINGS[meant].variable}?"
                )
            continue
        setting = variables[variable]
        try:
            value = setting.read_variable(text)
        except ValueError:
            raise ConfigError(variable, wrong_value(setting, text)) from None
        raw = text if setting.is_time else value
        yield setting.name, Found(name=setting.name, value=value, raw=raw, place=variable)


def _check_agent(found: Found | None, commands: Mapping[str, OwnAgent]) -> None:
    """Check that the chosen agent exists."""
    if found is None or agents.is_known(found.value) or found.value in commands:
        return
    known = (*agents.names(), *sorted(commands))
    meant = hint(found.value, known) or _listed(known)
    raise ConfigError(found.place, f"no agent named {shown(found.raw)}{meant}")


def _listed(known: Iterable[str]) -> str:
    names = ", ".join(known)
    return f"; known: {names}" if names else "; there are none yet"
