"""One file of settings: every key and value in it checked, with its line."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from nightrook import agents
from nightrook.config.files import AGENTS, PROFILES, File
from nightrook.config.option import Option
from nightrook.config.settings import SETTINGS
from nightrook.model.errors import ConfigError
from nightrook.model.permissions import NOT_FOR_PROJECTS
from nightrook.model.text import cut

_LONGEST_SHOWN = 60
_AGENT_KEYS = ("speaks", "command")
_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A value for a setting, and where it comes from."""

    name: str
    value: Any
    raw: Any
    """Value as it was written."""

    place: str
    """The file and the line, or the variable."""

    profile: str | None = None
    of_project: bool = False
    loosens: bool = False
    """True if a project sets it and it allows or costs more than the value without it."""


class OwnAgent(msgspec.Struct, frozen=True, kw_only=True):
    """A command of the user's that writes the stream of an agent rook knows."""

    name: str
    speaks: str
    command: tuple[str, ...]
    place: str
    of_project: bool


class Source:
    """One file, checked: every key and value in it is valid, whether it applies or not."""

    def __init__(self, file: File, *, of_project: bool) -> None:
        self.file = file
        self.of_project = of_project
        self.values = dict(self._top_settings())
        self.profiles = {
            name: dict(self._settings(table, (PROFILES, name), SETTINGS, profile=name))
            for name, table in self._tables(PROFILES)
        }
        self.agents = {name: self._agent(name, table) for name, table in self._tables(AGENTS)}

    def _top_settings(self) -> Iterator[tuple[str, Found]]:
        """The settings that belong to no profile; `file` in a table [prices] is `prices_file`."""
        for name, value in self.file.table.items():
            if name in (PROFILES, AGENTS):
                continue
            if name in _GROUPS and isinstance(value, dict):
                known = [key.removeprefix(f"{name}_") for key in _GROUPS[name]]
                yield from self._settings(value, (name,), known, prefix=f"{name}_")
            else:
                known = [*SETTINGS, PROFILES, AGENTS]
                yield from self._settings({name: value}, (), known)

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
        prefix: str = "",
    ) -> Iterator[tuple[str, Found]]:
        for key, raw in table.items():
            path, name = (*above, key), prefix + key
            if name not in SETTINGS:
                raise self._wrong(path, f"{key!r} is not a setting{hint(key, known) or _HELP}")
            setting = SETTINGS[name]
            if setting.flag.only_users and (self.of_project or profile):
                raise self._wrong(path, f"{name} {_ONLY_USERS}")
            try:
                value = setting.read(raw)
            except ValueError:
                raise self._wrong(path, wrong_value(setting, raw)) from None
            # guards: project-no-permission-all
            if self.of_project and name == "permission" and value in NOT_FOR_PROJECTS:
                raise self._wrong(path, _PERMISSION_OF_PROJECT)
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
                problem = f"{key!r} is not a key of an agent{_agent_hint(key)}"
                raise self._wrong((*path, key), problem)
        for key in _AGENT_KEYS:
            if key not in table:
                raise self._wrong(path, f"agent {name!r} needs a {key!r}")
        speaks, command = table["speaks"], table["command"]
        if not agents.is_known(speaks):
            meant = hint(str(speaks), agents.names())
            said = f"speaks takes one of {', '.join(agents.names())}, not {shown(speaks)}{meant}"
            raise self._wrong((*path, "speaks"), said)
        if not _is_command(command):
            said = f'command takes a list of words such as ["/opt/wrapper"], not {shown(command)}'
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


def _agent_hint(key: str) -> str:
    if key in SETTINGS:
        return "; put settings before the first [table]"
    return hint(key, _AGENT_KEYS) or f"; its keys are {' and '.join(_AGENT_KEYS)}"


def _is_command(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(word, str) and "\0" not in word for word in value)
        and bool(value[0])
    )


def wrong_value(setting: Option, raw: Any) -> str:
    """Return the message about a wrong value, with the values that the setting takes."""
    meant = hint(str(raw), setting.choices)
    return f"{setting.name} takes {setting.takes_instead(raw)}, not {shown(raw)}{meant}"


def hint(word: str, known: Iterable[str]) -> str:
    """Name the known word that was probably meant; empty if there is none."""
    meant = near(word, known)
    return f"; did you mean {meant!r}?" if meant else ""


def shown(raw: Any) -> str:
    """A value as it is written in an error."""
    return cut(json.dumps(raw, ensure_ascii=False, default=str), _LONGEST_SHOWN)


def near(word: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known word that was probably meant."""
    spelled = word.lower().replace("-", "_")
    from difflib import get_close_matches  # only a typo needs it

    return next(iter(get_close_matches(spelled, list(known), n=1, cutoff=likeness)), None)


_GROUPS = {
    group: [name for name in SETTINGS if name.startswith(f"{group}_")]
    for group in ("archive", "fleet", "prices", "worker")
}
"""The tables that hold settings, with the names of those."""

_ONLY_USERS = "cannot be set by a project or a profile: set it at the top of your own settings"
_HELP = "; `rook config --help` lists them"
_PERMISSION_OF_PROJECT = (
    "a project's settings cannot grant all permissions: use --permission all, or set it in "
    "your own settings"
)
