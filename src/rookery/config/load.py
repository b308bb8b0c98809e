"""Loads settings: which value of each applies, and where it comes from."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from rookery import agents
from rookery.config.files import AGENTS, PROFILES, File, Surroundings
from rookery.config.option import PREFIX, Option
from rookery.config.settings import SETTINGS
from rookery.model.errors import ConfigError
from rookery.model.text import cut

PROFILE_VARIABLE = PREFIX + "PROFILE"
_OTHER_VARIABLES = frozenset(
    PREFIX + name for name in ("HOME", "PROFILE", "RUN", "RUN_DIR", "SCRIPT")
)
"""Variables of rook that are not settings."""

_LONGEST_SHOWN = 60
_SURELY_MEANT = 0.8  # less similar variables belong to other programs
_AGENT_KEYS = ("speaks", "command")
_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A value for a setting, and where it comes from."""

    name: str
    value: Any
    raw: Any
    """As it was written."""

    place: str
    """The file and the line, or the variable."""

    profile: str | None = None
    of_project: bool = False


class OwnAgent(msgspec.Struct, frozen=True, kw_only=True):
    """A command of the user's that writes the stream of an agent rook knows."""

    name: str
    speaks: str
    command: tuple[str, ...]
    place: str
    of_project: bool


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """All settings that apply."""

    values: dict[str, Found]
    agents: dict[str, OwnAgent]
    profile: str | None
    profiles: tuple[str, ...]
    files: tuple[Path, ...]
    """The files that were read, the weakest first."""


def load(around: Surroundings, profile: str | None = None) -> Config:
    """Load the settings that apply; a ConfigError names what is wrong, and the place.

    The weakest first: the user's file, the project's, the profile in each of them, the environment.
    """
    own, project = around.files()
    sources = [
        _Source(file, of_project=file is project) for file in (own, project) if file is not None
    ]
    chosen = profile or around.environment.get(PROFILE_VARIABLE) or None
    profiles = tuple(sorted({name for source in sources for name in source.profiles}))
    if chosen is not None and chosen not in profiles:
        raise ConfigError(
            "--profile" if profile else PROFILE_VARIABLE,
            f"there is no profile {chosen!r}{_hint(chosen, profiles) or _listed(profiles)}",
        )
    values: dict[str, Found] = {}
    for source in sources:
        values.update(source.values)
    for source in sources:
        values.update(source.profiles.get(chosen or "", {}))
    values.update(_from_environment(around.environment))
    commands: dict[str, OwnAgent] = {}
    for source in reversed(sources):  # a project cannot replace an agent of the user's
        commands.update(source.agents)
    config = Config(
        values=values,
        agents=commands,
        profile=chosen,
        profiles=profiles,
        files=tuple(source.file.path for source in sources),
    )
    _check_agent(config)
    return config


def _near(word: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known word that was probably meant."""
    spelled = word.lower().replace("-", "_")
    from difflib import get_close_matches  # only a typo needs it

    return next(iter(get_close_matches(spelled, list(known), n=1, cutoff=likeness)), None)


class _Source:
    """One file, checked: every key and value in it is valid, whether it applies or not."""

    def __init__(self, file: File, *, of_project: bool) -> None:
        self.file = file
        self.of_project = of_project
        top = {k: v for k, v in file.table.items() if k not in (PROFILES, AGENTS)}
        self.values = dict(self._settings(top, (), (*SETTINGS, PROFILES, AGENTS)))
        self.profiles = {
            name: dict(self._settings(table, (PROFILES, name), SETTINGS, profile=name))
            for name, table in self._tables(PROFILES)
        }
        self.agents = {name: self._agent(name, table) for name, table in self._tables(AGENTS)}

    def _tables(self, key: str) -> Iterator[tuple[str, dict[str, Any]]]:
        tables = self.file.table.get(key, {})
        if not isinstance(tables, dict):
            raise self._wrong((key,), f"{key} holds tables: write [{key}.NAME]")
        for name, table in tables.items():
            if not isinstance(table, dict):
                problem = f"{name!r} is not a table: put it in a [{key}.NAME]"
                raise self._wrong((key, name), problem)
            if not _NAME.fullmatch(name):
                problem = "a name has letters, digits, '.', '_' and '-'"
                raise self._wrong((key, name), f"{name!r} cannot be a name: {problem}")
            yield name, table

    def _settings(
        self,
        table: Mapping[str, Any],
        above: tuple[str, ...],
        known: Iterable[str],
        profile: str | None = None,
    ) -> Iterator[tuple[str, Found]]:
        for name, raw in table.items():
            path = (*above, name)
            if name not in SETTINGS:
                raise self._wrong(path, f"{name!r} is not a setting{_hint(name, known) or _HELP}")
            setting = SETTINGS[name]
            try:
                value = setting.read(raw)
            except ValueError:
                raise self._wrong(path, _wrong_value(setting, raw)) from None
            if self.of_project and (name, value) == ("permission", "all"):
                raise self._wrong(path, _NOT_FOR_PROJECTS)
            yield (
                name,
                Found(
                    name=name,
                    value=value,
                    raw=raw,
                    place=self._place(path),
                    profile=profile,
                    of_project=self.of_project,
                ),
            )

    def _agent(self, name: str, table: Mapping[str, Any]) -> OwnAgent:
        path = (AGENTS, name)
        if agents.is_known(name):
            raise self._wrong(path, f"rook has an agent {name!r} already: choose another name")
        for key in table:
            if key not in _AGENT_KEYS:
                hint = _hint(key, _AGENT_KEYS) or f"; its keys are {' and '.join(_AGENT_KEYS)}"
                hint = "; put settings before the first [table]" if key in SETTINGS else hint
                raise self._wrong((*path, key), f"{key!r} is not a key of an agent{hint}")
        for key in _AGENT_KEYS:
            if key not in table:
                raise self._wrong(path, f"agent {name!r} needs a {key!r}")
        speaks, command = table["speaks"], table["command"]
        if not agents.is_known(speaks):
            hint = _hint(str(speaks), agents.names())
            said = f"speaks takes one of {', '.join(agents.names())}, not {_shown(speaks)}{hint}"
            raise self._wrong((*path, "speaks"), said)
        if not _is_command(command):
            said = f'command takes a list of words such as ["/opt/wrapper"], not {_shown(command)}'
            raise self._wrong((*path, "command"), said)
        return OwnAgent(
            name=name,
            speaks=speaks,
            command=(self._program(command[0]), *command[1:]),
            place=self._place(path),
            of_project=self.of_project,
        )

    def _program(self, word: str) -> str:
        """Paths are relative to the folder of the file; a word without a slash is found on PATH."""
        if "/" not in word:
            return word
        return str(self.file.path.parent / Path(word).expanduser())

    def _place(self, path: tuple[str, ...]) -> str:
        return f"{self.file.path}:{self.file.lines[path]}"

    def _wrong(self, path: tuple[str, ...], reason: str) -> ConfigError:
        return ConfigError(self._place(path), reason)


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Found]]:
    variables = {setting.variable: setting for setting in SETTINGS.values()}
    for variable in sorted(environment):
        text = environment[variable]
        if not variable.startswith(PREFIX) or variable in _OTHER_VARIABLES or not text.strip():
            continue
        if variable not in variables:
            meant = _near(variable.removeprefix(PREFIX), SETTINGS, likeness=_SURELY_MEANT)
            if meant is not None:
                raise ConfigError(
                    variable, f"is not a setting; did you mean {SETTINGS[meant].variable}?"
                )
            continue
        setting = variables[variable]
        try:
            value = setting.read_variable(text)
        except ValueError:
            raise ConfigError(variable, _wrong_value(setting, text)) from None
        raw = text if setting.is_time else value
        yield setting.name, Found(name=setting.name, value=value, raw=raw, place=variable)


def _check_agent(config: Config) -> None:
    """Check that the chosen agent exists, and that this file may choose it."""
    found = config.values.get("agent")
    if found is None or agents.is_known(found.value):
        return
    own = config.agents.get(found.value)
    known = (*agents.names(), *sorted(config.agents))
    if own is None:
        hint = _hint(found.value, known) or _listed(known)
        raise ConfigError(found.place, f"no agent named {_shown(found.raw)}{hint}")
    if own.of_project and found.of_project:
        raise ConfigError(
            found.place,
            f"agent {found.value!r} is a command of this project, which cannot choose it for you: "
            f"use --agent {found.value}, or choose it in your own settings",
        )


def _is_command(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(word, str) and "\0" not in word for word in value)
        and bool(value[0])
    )


def _wrong_value(setting: Option, raw: Any) -> str:
    hint = _hint(str(raw), setting.choices)
    return f"{setting.name} takes {setting.takes}, not {_shown(raw)}{hint}"


def _hint(word: str, known: Iterable[str]) -> str:
    meant = _near(word, known)
    return f"; did you mean {meant!r}?" if meant else ""


def _listed(known: Iterable[str]) -> str:
    names = ", ".join(known)
    return f"; known: {names}" if names else "; there are none yet"


def _shown(raw: Any) -> str:
    return cut(json.dumps(raw, ensure_ascii=False, default=str), _LONGEST_SHOWN)


_HELP = "; `rook config --help` lists them"
_NOT_FOR_PROJECTS = (
    "a project's settings cannot grant all permissions: use --permission all, or set it in "
    "your own settings"
)
