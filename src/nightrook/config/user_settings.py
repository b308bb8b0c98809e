"""Settings that hold for every caller, the library included: only the user can make them."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from nightrook.config.files import NAME, read
from nightrook.config.option import variable
from nightrook.user_folders import settings_folder

if TYPE_CHECKING:
    from nightrook.config.settings import Keep

_WORKER = "worker_"


def prices_file() -> Path | None:
    """The setting `prices_file`; None if it is not set. A ConfigError if the settings are wrong."""
    return next(iter(_paths("prices_file")), None)


def archive_roots() -> list[Path]:
    """The setting `archive_roots`. A ConfigError if the settings are wrong."""
    return _paths("archive_roots")


def archive_keep() -> "Keep":
    """The setting `archive_keep`. A ConfigError if the settings are wrong."""
    from nightrook.config.settings import Keep, UserOptions  # as in `_value`

    found = _value("archive_keep")
    return UserOptions().archive_keep if found is None else msgspec.convert(found[0], Keep)


def fleet_credentials() -> str | None:
    """The setting `fleet_credentials`: a path or an address; None if it is not set."""
    found = _value("fleet_credentials")
    if found is None or "://" in found[0]:
        return None if found is None else str(found[0])
    return str(_absolute(*found)[0])


def worker_settings() -> dict[str, Any]:
    """The settings of a worker, by their names without `worker_`; those that are not set too."""
    from nightrook.config.settings import SETTINGS  # as in `_value`

    names = (name for name in SETTINGS if name.startswith(_WORKER))
    return {
        name.removeprefix(_WORKER): SETTINGS[name].default if found is None else found[0]
        for name in names
        for found in [_value(name)]
    }


def _paths(name: str) -> list[Path]:
    """The paths of a setting, relative to the file that has it; of a variable, to this folder."""
    found = _value(name)
    return _absolute(*found) if found is not None else []


def _value(name: str) -> tuple[Any, Path] | None:
    """The value of a setting, and the folder that paths in it are relative to."""
    text = os.environ.get(variable(name), "")
    file = None if text.strip() else read(settings_folder() / NAME)
    if file is None and not text.strip():
        return None
    from nightrook.config.settings import SETTINGS  # slow to import, and most people set nothing
    from nightrook.config.source import Source

    if file is None:
        return SETTINGS[name].read_variable(text), Path.cwd()
    found = Source(file, of_project=False).values.get(name)
    return (found.value, settings_folder()) if found else None


def _absolute(value: str | tuple[str, ...], folder: Path) -> list[Path]:
    words = (value,) if isinstance(value, str) else value
    return [folder / Path(word).expanduser() for word in words]
