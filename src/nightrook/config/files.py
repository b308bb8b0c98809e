"""Finds and reads the files that hold settings."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISFIFO
from typing import Any, NamedTuple

from nightrook.model.errors import ConfigError

NAME = "rook.toml"
PROFILES, AGENTS = "profile", "agents"
"""The two keys of a file that hold tables instead of a setting."""

_LINE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_LARGEST = 1024 * 1024


class File(NamedTuple):
    """A file of settings, as it was read."""

    path: Path
    table: dict[str, Any]
    lines: dict[tuple[str, ...], int]
    """The line of each key."""

    data: bytes = b""
    """Content as it was read."""

    def tables(self, key: str) -> dict[str, Any]:
        """The tables below a key, by name; anything else is left out."""
        found = self.table.get(key)
        return found if isinstance(found, dict) else {}


class Surroundings(NamedTuple):
    """The places in which rook looks for settings."""

    cwd: Path
    home: Path
    user_folder: Path
    environment: Mapping[str, str]

    @property
    def trusted(self) -> Path:
        """The folder that lists the files that the user trusts."""
        return self.user_folder / "trusted"

    @property
    def user_file(self) -> Path:
        """Path of the user's own settings."""
        return self.user_folder / NAME

    def files(self) -> tuple[File | None, File | None]:
        """The user's file and the project's."""
        own = self.user_file
        project = project_file(self.cwd, self.home)
        if project is None or os.path.realpath(project) == os.path.realpath(own):
            return read(own), None
        return read(own), read(project)


def project_file(cwd: Path, home: Path) -> Path | None:
    """The settings of the project that a folder is in: the nearest file, going up.

    The way up ends at the root of a repository or at the user's home. Where neither is above, only
    the folder itself counts: a file in /tmp or / does not belong to a project.
    """
    above: list[Path] = []
    for folder in (cwd, *cwd.parents):
        above.append(folder)
        if folder == home or os.path.exists(folder / ".git"):  # noqa: PTH110
            break
    else:
        above = [cwd]
    # The methods of Path raise an error in folders that may not be read.
    files = (folder / NAME for folder in above)
    return next((file for file in files if os.path.isfile(file)), None)  # noqa: PTH113


def read(path: Path) -> File | None:
    """Read a file of settings; None if there is none."""
    try:
        with open(path, "rb", opener=_opened) as source:
            if S_ISFIFO(os.fstat(source.fileno()).st_mode):  # guards: settings-no-pipe
                raise ConfigError(str(path), "is a pipe, not a file")
            data = source.read(_LARGEST + 1) or b""
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read: {error.strerror}") from error
    return _parsed(path, data)


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # a pipe must not block


def _parsed(path: Path, data: bytes) -> File:
    import tomllib  # slow to import, and most people have no settings

    from nightrook.config.toml_lines import key_lines

    try:
        text = data.decode("utf-8-sig")
        if len(data) > _LARGEST:
            raise ConfigError(str(path), "is too large for settings")
        return File(path, tomllib.loads(text), key_lines(text), data)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}", "is not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = _LINE.search(message)
        line = int(found[1]) if found and found[1] else text.rstrip().count("\n") + 1
        reason = f"is not TOML: {_LINE.sub('', message)}"
        raise ConfigError(f"{path}:{line}", reason) from error
    except RecursionError as error:
        raise ConfigError(str(path), "is nested too deep") from error
    except ValueError as error:
        raise ConfigError(str(path), "has a number with too many digits") from error
