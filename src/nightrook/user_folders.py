"""The user's folders: those that programs of the system have for data, settings and state.

The libraries that know these folders import more than most commands of rook do.
"""

import os
import pwd
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

_NAME = "nightrook"
# The project's name before its first release. Nothing is read from these folders and files.
_EARLIER_NAME = "rookery"
_EARLIER_SETTINGS = "rookery.toml"


def settings_folder() -> Path:
    """The folder of settings: `~/.config/nightrook` on Linux."""
    return folder("XDG_CONFIG_HOME", ".config", "Library/Application Support")


def data_folder() -> Path:
    """The folder of all runs: `~/.local/share/nightrook` on Linux."""
    return folder("XDG_DATA_HOME", ".local/share", "Library/Application Support")


def cache_folder() -> Path:
    """The folder of copies that can be made again: `~/.cache/nightrook` on Linux."""
    return folder("XDG_CACHE_HOME", ".cache", "Library/Caches")


def rename_commands() -> list[str]:
    """Return, once, the commands that move a checkout's history, settings and prices.

    Empty if there is nothing to move, if a folder has the new name already, and from the second
    call on: a file in the cache folder remembers the first.
    """
    new_folders = dict.fromkeys((data_folder(), settings_folder()))  # on macOS they are the same
    if any(new.exists() for new in new_folders):
        return []
    moved = [(old, new) for new in new_folders if _is_ours(old := new.with_name(_EARLIER_NAME))]
    printed = cache_folder() / "rename-printed"
    if not moved or printed.exists():
        return []
    try:
        printed.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        printed.touch(mode=0o600)
    except OSError:
        return []  # printed at every start, they would be in the way
    pairs = list(moved)
    for old, new in moved:
        if (old / _EARLIER_SETTINGS).exists():
            pairs.append((new / _EARLIER_SETTINGS, new / "rook.toml"))
    return [shlex.join(("mv", str(old), str(new))) for old, new in pairs]


def _is_ours(folder: Path) -> bool:
    """True if an earlier version of this project wrote a folder: other programs have that name."""
    return any((folder / name).exists() for name in ("runs", "trusted", _EARLIER_SETTINGS))


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
