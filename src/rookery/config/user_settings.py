"""Settings that hold for every caller, the library included: only the user can make them."""

import os
from pathlib import Path

from rookery.config.files import NAME, read, user_folder
from rookery.config.settings import SETTINGS
from rookery.config.source import Source


def prices_file() -> Path | None:
    """The setting `prices_file`; None if it is not set. A ConfigError if the settings are wrong."""
    return next(iter(_paths("prices_file")), None)


def archive_roots() -> list[Path]:
    """The setting `archive_roots`. A ConfigError if the settings are wrong."""
    return _paths("archive_roots")


def _paths(name: str) -> list[Path]:
    """The paths of a setting, relative to the file that has it; of a variable, to this folder."""
    setting = SETTINGS[name]
    text = os.environ.get(setting.variable, "")
    if text.strip():
        return _absolute(setting.read_variable(text), Path.cwd())
    file = read(user_folder() / NAME)
    found = Source(file, of_project=False).values.get(name) if file else None
    return _absolute(found.value, user_folder()) if found else []


def _absolute(value: str | tuple[str, ...], folder: Path) -> list[Path]:
    words = (value,) if isinstance(value, str) else value
    return [folder / Path(word).expanduser() for word in words]
