"""Where rook keeps what is the user's: in the folders that programs of the system have for it.

The libraries that know these folders import more than most commands of rook do.
"""

import os
import pwd
import sys
from collections.abc import Mapping
from pathlib import Path

_NAME = "nightrook"


def settings_folder() -> Path:
    """The folder of settings: `~/.config/nightrook` on Linux."""
    return folder("XDG_CONFIG_HOME", ".config", "Library/Application Support")


def data_folder() -> Path:
    """The folder of all runs: `~/.local/share/nightrook` on Linux."""
    return folder("XDG_DATA_HOME", ".local/share", "Library/Application Support")


def cache_folder() -> Path:
    """The folder of copies that can be made again: `~/.cache/nightrook` on Linux."""
    return folder("XDG_CACHE_HOME", ".cache", "Library/Caches")


def folder(
    variable: str,
    usual: str,
    on_mac: str,
    *,
    environ: Mapping[str, str] = os.environ,
    system: str = sys.platform,
) -> Path:
    """The folder of rook in the one that a variable names, or in one of the user's home.

    A variable that has no absolute path is passed over, as the XDG specification demands.
    """
    named = Path(environ.get(variable, ""))
    if named.is_absolute():
        return named / _NAME
    return _home(environ) / (on_mac if system == "darwin" else usual) / _NAME


def _home(environ: Mapping[str, str]) -> Path:
    """The user's home; `/` for a user without one, as in containers."""
    named = Path(environ.get("HOME", ""))
    if named.is_absolute():
        return named
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return Path("/")
